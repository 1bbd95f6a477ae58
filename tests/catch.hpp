// The one place that knows which Catch2 is installed: 2 (Debian 12) or 3 (Ubuntu 24.04).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <string>

#include <catch2/catch.hpp>
// Catch2 3 renamed this matcher; tests use the new name.
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

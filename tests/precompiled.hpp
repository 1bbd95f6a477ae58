// What most tests include and is slow to parse. Tests include what they use all the same.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "catch.hpp"

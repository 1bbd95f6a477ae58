#pragma once

#include <filesystem>
#include <string>

namespace headcount {

// Downloads a package of the distribution with apt-get and unpacks it below `folder`, as an
// ordinary user: nothing is installed. When the system's package lists lack it, lists are fetched
// into `folder` first. Returns the root of the unpacked tree. Throws Error (no_input) saying which
// step failed and how.
std::filesystem::path unpack_debian_package(const std::string& package,
                                            const std::filesystem::path& folder);

// What apt knows of the packages that its lists name, installed or not: paragraphs of fields, as
// `apt-cache dumpavail` prints them. When the system has no lists they are fetched into `folder`.
// Throws Error (no_input) saying which step failed and how.
std::string available_packages(const std::filesystem::path& folder);

}  // namespace headcount

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spec/grid.hpp"

namespace headcount {

// What a run set out to do, in sweep.json of its folder: enough to tell how far it is without the
// spec.
struct Manifest {
  static constexpr std::int64_t kSchema = 1;
  static constexpr const char* kName = "sweep.json";

  struct Trial {
    std::string id, slug;
    Point values;            // of the axes
    std::int64_t steps = 0;  // of training
    double work = 0;         // estimated: seconds, or operations where nothing is calibrated
    bool operator==(const Trial&) const = default;
  };
  std::string experiment;
  std::string spec;  // path
  std::vector<Trial> trials;
  bool operator==(const Manifest&) const = default;
};

// Throws Error: no_input where the folder has none, bad_data where it is broken.
Manifest read_manifest(const std::filesystem::path& folder);

// Whole or not at all; left alone where it is the same already. Throws Error (cannot_create, io).
void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);

// What a user should know before `next` takes the place of what the folder holds: trials came or
// went, or the manifest is broken. Nothing where there is nothing to say.
std::optional<std::string> what_changed(const std::filesystem::path& folder, const Manifest& next);

}  // namespace headcount

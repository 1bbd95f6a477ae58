#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace headcount {

// The files of one trial in the folder of its experiment.
struct TrialFiles {
  std::filesystem::path result;   // <trial>.h5
  std::filesystem::path curve;    // <trial>.jsonl
  std::filesystem::path log;      // <trial>.log: what it wrote to standard output and error
  std::filesystem::path lock;     // <trial>.lock: while it runs
  std::filesystem::path failure;  // <trial>.failed.json: why it failed the last time

  TrialFiles(const std::filesystem::path& folder, const std::string& id);
};

// Why a trial failed, as <trial>.failed.json keeps it.
struct Failure {
  std::string trial, reason;
  ExitCode code = ExitCode::internal;
};

// Throws Error (cannot_create, io) where it cannot be written.
void write_failure(const std::filesystem::path& path, const Failure& failure);

// Nothing where there is none; one that cannot be read says so in its reason.
std::optional<Failure> read_failure(const std::filesystem::path& path);

// Tells one writing of a file from another, without a clock; "" where there is no file.
std::string file_stamp(const std::filesystem::path& path);

// The number of the last training step that a curve tells of; 0 for none. Reads its end only.
std::int64_t last_step(const std::filesystem::path& curve);

}  // namespace headcount

#include "run/trial_files.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/file.hpp"
#include "base/json.hpp"

namespace headcount {
namespace fs = std::filesystem;

TrialFiles::TrialFiles(const fs::path& folder, const std::string& id)
    : result(folder / (id + ".h5")),
      curve(folder / (id + ".jsonl")),
      log(folder / (id + ".log")),
      lock(folder / (id + ".lock")),
      failure(folder / (id + ".failed.json")) {}

void write_failure(const fs::path& path, const Failure& failure) {
  publish_text(path, to_text({{"trial", failure.trial},
                              {"reason", failure.reason},
                              {"code", static_cast<int>(failure.code)}},
                             2) +
                         "\n");
}

std::optional<Failure> read_failure(const fs::path& path) {
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  if (!fs::exists(path)) return std::nullopt;
  Failure failure{"", fmt::format("{} says no reason", path.string()), ExitCode::internal};
  try {
    const auto json = parse_json(read_file(path, kLongest));
    failure.trial = json.at("trial").get<std::string>();
    failure.code = static_cast<ExitCode>(json.at("code").get<int>());
    failure.reason = json.at("reason").get<std::string>();
  } catch (const std::exception&) {  // a broken note is a failure all the same
  }
  return failure;
}

std::string file_stamp(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}:{}.{:09}:{}", found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
                     found.st_size);
}

std::int64_t last_step(const fs::path& curve) {
  constexpr std::streamoff kTail = 1 << 16;
  std::ifstream file(curve, std::ios::binary | std::ios::ate);
  if (!file) return 0;
  file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - kTail));
  std::int64_t last = 0;
  for (std::string line; std::getline(file, line);) {
    const auto event = parse_json(line);
    if (!event.is_object()) continue;  // torn at either end
    const auto step = event.find("step");
    if (step != event.end() && step->is_number_integer()) last = step->get<std::int64_t>();
  }
  return last;
}

}  // namespace headcount

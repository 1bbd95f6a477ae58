#include "task/debian_package.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "task/process.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> apt_get(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{
      "apt-get", "-q", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20",
      // The unprivileged user that root's apt would download as may not enter our folder.
      "-o", "APT::Sandbox::User=root"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

[[noreturn]] void fail(const std::string& step, const ProcessResult& result) {
  throw Error(ExitCode::no_input, fmt::format("{} failed with status {}:\n{}", step, result.status,
                                              trim(result.output)));
}

// Options that keep lists and cache below `folder`.
std::vector<std::string> own_folders(const fs::path& folder) {
  const fs::path lists = folder / "lists", cache = folder / "cache";
  fs::create_directories(lists / "partial");
  fs::create_directories(cache / "archives/partial");
  return {"-o", "Dir::State::Lists=" + lists.string(), "-o", "Dir::Cache=" + cache.string()};
}

std::vector<std::string> joined(std::vector<std::string> arguments,
                                const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

ProcessResult update_own_lists(const fs::path& folder) {
  return run_process(apt_get(joined({"update"}, own_folders(folder))), folder);
}

void download(const std::string& package, const fs::path& folder) {
  if (run_process(apt_get({"download", package}), folder).ok()) return;
  const ProcessResult update = update_own_lists(folder);
  const ProcessResult again =
      run_process(apt_get(joined({"download", package}, own_folders(folder))), folder);
  // An update without network ends well, with warnings: they tell what the download cannot.
  if (!again.ok())
    fail("apt-get update and download " + package, {again.status, update.output + again.output});
}

fs::path downloaded_file(const std::string& package, const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".deb") return entry.path();
  throw Error(ExitCode::no_input, fmt::format("apt-get download {} left no package file", package));
}

// Packages installed here play no part, so that equal lists give equal text.
ProcessResult dump_available(const std::vector<std::string>& options, const fs::path& folder,
                             const fs::path& file) {
  return run_process(
      joined({"apt-cache", "-o", "Dir::State::status=/dev/null", "dumpavail"}, options), folder,
      file);
}

}  // namespace

fs::path unpack_debian_package(const std::string& package, const fs::path& folder) {
  download(package, folder);
  const fs::path file = downloaded_file(package, folder), tree = folder / "tree";
  const ProcessResult unpacked =
      run_process({"dpkg-deb", "-x", file.string(), tree.string()}, folder);
  if (!unpacked.ok()) fail("dpkg-deb -x " + file.filename().string(), unpacked);
  return tree;
}

std::string available_packages(const fs::path& folder) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const fs::path file = folder / "available";
  if (dump_available({}, folder, file).ok() && fs::file_size(file) > 0)
    return read_file(file, kMost);
  const ProcessResult update = update_own_lists(folder);
  const ProcessResult again = dump_available(own_folders(folder), folder, file);
  if (!again.ok() || fs::file_size(file) == 0)
    fail("apt-get update and apt-cache dumpavail", {again.status, update.output + again.output});
  return read_file(file, kMost);
}

}  // namespace headcount

#include "task/debian_package.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
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

void download(const std::string& package, const fs::path& folder) {
  if (run_process(apt_get({"download", package}), folder).ok()) return;
  const fs::path lists = folder / "lists", cache = folder / "cache";
  fs::create_directories(lists / "partial");
  fs::create_directories(cache / "archives/partial");
  const auto with_own_folders = [&](std::vector<std::string> arguments) {
    for (const auto& option :
         {"Dir::State::Lists=" + lists.string(), "Dir::Cache=" + cache.string()})
      arguments.insert(arguments.end(), {"-o", option});
    return apt_get(arguments);
  };
  const ProcessResult update = run_process(with_own_folders({"update"}), folder);
  const ProcessResult again = run_process(with_own_folders({"download", package}), folder);
  // An update without network ends well, with warnings: they tell what the download cannot.
  if (!again.ok())
    fail("apt-get update and download " + package, {again.status, update.output + again.output});
}

fs::path downloaded_file(const std::string& package, const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".deb") return entry.path();
  throw Error(ExitCode::no_input, fmt::format("apt-get download {} left no package file", package));
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

}  // namespace headcount

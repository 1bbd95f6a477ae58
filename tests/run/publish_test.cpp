#include "run/publish.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

void check_opens_everywhere(const std::filesystem::path& path) {
  const auto log = path.parent_path() / "log";
  const auto command = fmt::format(
      "env -u LD_PRELOAD /usr/bin/python3 {}/tests/store/open_everywhere.py --any {} > {} 2>&1",
      HEADCOUNT_SOURCE_DIR, path.string(), log.string());
  const int status = std::system(command.c_str());
  const auto said = read_file(log);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) {
    WARN("open_everywhere.py " << said);
    return;
  }
  INFO(said);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("h5py, xarray, netCDF4 and ncdump read the file of a trial alike") {
  const TemporaryFolder folder;
  check_opens_everywhere(run_one(folder.path()));
}

TEST_CASE("also one with masked heads, and one without any") {
  const TemporaryFolder folder;
  check_opens_everywhere(run_one(folder.path(), {"mask.heads=decoder_self:0:*", "mask.kind=mean"}));
  check_opens_everywhere(run_one(folder.path(), {"model.heads=(0 2)", "train.steps=0"}));
}

}  // namespace
}  // namespace headcount

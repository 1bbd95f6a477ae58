#include "run/trained_files.hpp"

#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

TEST_CASE("finished trials are found by the model they trained, here and beside") {
  const TemporaryFolder folder;
  const auto here = folder.path() / "here", beside = folder.path() / "beside";
  const auto mine = run_one(here), other = run_one(beside, {"seed=2"});
  const auto model_of = [](const fs::path& path) {
    return ResultFile(path).attribute_text("/", "model_id");
  };
  write_text(here / "broken.h5", "no HDF5");

  TrainedFiles alone;
  alone.search(here, false);
  CHECK(alone.find(model_of(mine)) == mine);
  CHECK_FALSE(alone.find(model_of(other)));
  CHECK_FALSE(alone.find("nobody's"));

  TrainedFiles both;
  both.search(here, true);
  CHECK(both.find(model_of(mine)) == mine);
  CHECK(fs::equivalent(both.find(model_of(other)).value(), other));

  fs::remove(beside / "sweep.json");  // a folder of something else
  TrainedFiles ours;
  ours.search(here, true);
  CHECK_FALSE(ours.find(model_of(other)));
  ours.add(model_of(other), other);
  ours.add(model_of(other), mine);
  CHECK(ours.find(model_of(other)) == other);  // the first stays
}

}  // namespace
}  // namespace headcount

#include "run/manifest.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "run/trial_files.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

Manifest sample() {
  return {"heads",
          "specs/heads.ini",
          {{"heads-1-aa", "heads-1", {{"model.heads", "1"}, {"seed", "2"}}, 100, 1.5e9},
           {"heads-2-bb", "heads-2", {{"model.heads", "2"}, {"seed", "2"}}, 100, 1e18}}};
}

ExitCode code_of(const std::filesystem::path& folder) {
  try {
    read_manifest(folder);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::success;
}

TEST_CASE("a manifest is read as it was written, and written once") {
  const TemporaryFolder folder;
  CHECK(code_of(folder.path()) == ExitCode::no_input);
  write_manifest(folder.path(), sample());
  CHECK(read_manifest(folder.path()) == sample());
  const auto stamp = file_stamp(folder.path() / "sweep.json");
  write_manifest(folder.path(), sample());
  CHECK(file_stamp(folder.path() / "sweep.json") == stamp);
  auto more = sample();
  more.trials.front().id = "heads-1-cc";
  write_manifest(folder.path(), more);
  CHECK(read_manifest(folder.path()) == more);
}

TEST_CASE("a broken manifest is told with its name") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "sweep.json";
  write_manifest(folder.path(), sample());
  const auto text = read_file(path);
  const auto with = [&](const std::string& what, const std::string& other) {
    auto changed = text;
    changed.replace(changed.find(what), what.size(), other);
    return changed;
  };
  SECTION("cut off") {
    write_text(path, text.substr(0, text.size() / 2));
    CHECK_THROWS_WITH(read_manifest(folder.path()), ContainsSubstring("no JSON"));
  }
  SECTION("empty") { write_text(path, ""); }
  SECTION("of another schema") { write_text(path, with("\"schema\": 1", "\"schema\": 2")); }
  SECTION("of another kind") { write_text(path, with("\"steps\": 100", "\"steps\": \"100\"")); }
  SECTION("a trial outside the folder") { write_text(path, with("heads-1-aa", "../heads-1")); }
  SECTION("a trial without a name") { write_text(path, with("heads-1-aa", "")); }
  CHECK(code_of(folder.path()) == ExitCode::bad_data);
  CHECK_THROWS_WITH(read_manifest(folder.path()), ContainsSubstring("sweep.json is broken"));
  CHECK_THAT(what_changed(folder.path(), sample()).value(), ContainsSubstring("is broken"));
  write_manifest(folder.path(), sample());
  CHECK(read_manifest(folder.path()) == sample());
}

TEST_CASE("a changed spec is told by the trials that came and went") {
  const TemporaryFolder folder;
  CHECK_FALSE(what_changed(folder.path(), sample()));
  write_manifest(folder.path(), sample());
  CHECK_FALSE(what_changed(folder.path(), sample()));
  auto next = sample();
  next.trials[1].id = "heads-4-cc";
  next.trials.push_back({"heads-8-dd", "heads-8", {}, 1, 1});
  CHECK_THAT(what_changed(folder.path(), next).value(),
             ContainsSubstring("2 trials are new, 1 are no longer asked for"));
}

}  // namespace
}  // namespace headcount

#include "analysis/load.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "store/writer.hpp"

namespace headcount {
namespace {

void write_score(ResultWriter& writer, const std::string& split, double nll) {
  const std::string group = "/evaluation/" + split;
  writer.scalar(group, "nll", nll,
                {.long_name = "negative log-likelihood",
                 .units = "nat/target",
                 .definition = "mean over targets"});
  writer.scalar(group, "note", std::string("text"), {.long_name = "no metric", .units = "1"});
  writer.dimension(group, "example", std::size_t{2});
  writer.variable(group, "example_nll", {"example"}, std::vector<double>{nll, nll},
                  {.long_name = "sum over targets", .units = "nat"});
}

void write_trial(const std::filesystem::path& folder, int heads, int seed, double nll,
                 const std::vector<std::string>& splits = {"validation", "test"},
                 const std::map<std::string, std::string>& more = {}) {
  std::vector<std::string> keys{"model.heads", "seed"},
      values{fmt::format("{}", heads), fmt::format("{}", seed)};
  for (const auto& [key, value] : more) {
    keys.push_back(key);
    values.push_back(value);
  }
  const std::string id = fmt::format("heads-{}_seed-{}", heads, seed);
  publish_result(folder / (id + ".h5"), [&](ResultWriter& writer) {
    writer.attribute("/", "trial_id", id);
    writer.dimension("/spec", "entry", keys.size());
    writer.variable("/spec", "key", {"entry"}, keys, {.long_name = "key", .units = "1"});
    writer.variable("/spec", "value", {"entry"}, values, {.long_name = "value", .units = "1"});
    for (const auto& split : splits) write_score(writer, split, split == "test" ? nll : nll + 10);
  });
}

TEST_CASE("trials are loaded with their settings and the scores of the test split") {
  const TemporaryFolder folder;
  write_trial(folder.path(), 8, 1, 1.5);
  write_trial(folder.path(), 1, 1, 2.0, {"validation"});
  const auto loaded = load_trials(folder.path());
  REQUIRE(loaded.trials.size() == 2);
  CHECK(loaded.excluded.empty());

  const TrialRow& one = loaded.trials[0];
  CHECK(one.id == "heads-1_seed-1");
  CHECK(one.settings.at("model.heads") == "1");
  CHECK(one.metrics.at("nll").split == "validation");

  const TrialRow& eight = loaded.trials[1];
  CHECK(eight.metrics.size() == 1);  // no text, nothing per example
  CHECK(eight.metrics.at("nll").value == 1.5);
  CHECK(eight.metrics.at("nll").split == "test");
  CHECK(eight.metrics.at("nll").definition == "mean over targets");
  CHECK(eight.metrics.at("nll").unit == "nat/target");

  CHECK(load_trials(folder.path(), "validation").trials[1].metrics.at("nll").value == 11.5);
  CHECK_THROWS_WITH(
      compare_folder(folder.path(), {.by = {"model.heads"}, .metrics = {"nll"}, .baseline = {}}),
      ContainsSubstring("its split is"));
}

TEST_CASE("files that cannot be used are named, and the rest is compared") {
  const TemporaryFolder folder;
  for (const int seed : {1, 2}) {
    write_trial(folder.path(), 1, seed, 2.0 + seed);
    write_trial(folder.path(), 8, seed, 1.0 + seed);
  }
  write_trial(folder.path(), 4, 1, 1.0, {"train"});
  std::ofstream(folder / "aborted.h5") << "not HDF5";
  std::ofstream(folder / "running.jsonl") << "{}\n";
  std::ofstream(folder / "diverged.jsonl") << "{}\n";
  std::ofstream(folder / "diverged.failed.json") << R"({"reason": "the loss of step 7 is nan"})";
  std::ofstream(folder / "mute.failed.json") << "[";
  std::filesystem::create_directory(folder / "folder.failed.json");
  std::ofstream(folder / "heads-1_seed-1.jsonl") << "{}\n";
  std::string altered = read_file(folder / "heads-8_seed-2.h5");
  const auto at = altered.find("heads-8_seed-2");
  REQUIRE(at != std::string::npos);
  altered.replace(at, 7, "heads-9");
  std::ofstream(folder / "altered.h5", std::ios::binary) << altered;

  const auto result =
      compare_folder(folder.path(), {.by = {"model.heads"}, .metrics = {"nll"}, .baseline = "8"});
  REQUIRE(result.metrics[0].groups.size() == 2);
  CHECK(result.metrics[0].groups[0].difference->difference.mean == 1);
  CHECK(result.metrics[0].groups[0].difference->difference.n == 2);
  const auto reason = [&](const std::string& trial) {
    for (const auto& excluded : result.excluded)
      if (excluded.trial == trial) return excluded.reason;
    return std::string("(counted)");
  };
  CHECK(result.excluded.size() == 7);
  CHECK_THAT(reason("altered.h5"), ContainsSubstring("was altered"));
  CHECK_THAT(reason("aborted.h5"), ContainsSubstring("aborted.h5"));
  CHECK_THAT(reason("heads-4_seed-1.h5"), ContainsSubstring("neither a test nor a validation"));
  CHECK_THAT(reason("running"), ContainsSubstring("no trial file"));
  CHECK(reason("diverged") == "failed: the loss of step 7 is nan");
  CHECK_THAT(reason("mute"), ContainsSubstring("says no reason"));
  CHECK_THAT(reason("folder"), ContainsSubstring("says no reason"));

  CHECK_THAT(load_trials(folder.path(), "held-out").excluded.at(2).reason,
             ContainsSubstring("has no split 'held-out' (it has: validation, test)"));
}

TEST_CASE("files of one model that were measured or pruned otherwise count once") {
  const TemporaryFolder folder;
  for (const int seed : {1, 2}) {
    write_trial(folder.path(), 1, seed, 2.0 + seed);
    write_trial(folder.path(), 8, seed, 1.0 + seed);
  }
  write_trial(folder.path(), 8, 2, 3.0, {"test"}, {{"measure.measures", "entropy"}});
  const auto path = folder / "heads-8_seed-2.h5";
  std::filesystem::rename(path, folder / "heads-8_seed-2-entropy.h5");
  write_trial(folder.path(), 8, 2, 3.0, {"test"}, {{"measure.measures", ""}});
  const auto by_heads =
      compare_folder(folder.path(), {.by = {"model.heads"}, .metrics = {"nll"}, .baseline = "1"});
  CHECK(by_heads.metrics[0].groups[1].summary.n == 2);
  REQUIRE(by_heads.excluded.size() == 1);
  CHECK_THAT(by_heads.excluded[0].reason, ContainsSubstring("measured or pruned otherwise"));
}

TEST_CASE("a folder without one usable trial is an error with the first reason") {
  const TemporaryFolder folder;
  std::ofstream(folder / "aborted.h5") << "not HDF5";
  CHECK_THROWS_WITH(
      compare_folder(folder.path(), {.by = {"model.heads"}, .metrics = {"nll"}, .baseline = {}}),
      ContainsSubstring("none of the 1 trials") && ContainsSubstring("not an HDF5 file"));
}

TEST_CASE("a folder that is missing or empty is told") {
  const TemporaryFolder folder;
  const auto code_of = [](const std::filesystem::path& path) {
    try {
      load_trials(path);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::success;
  };
  CHECK(code_of(folder / "missing") == ExitCode::no_input);
  CHECK(code_of(folder.path()) == ExitCode::no_input);
}

}  // namespace
}  // namespace headcount

#include "run/extension.hpp"

#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"
#include "store/reader.hpp"
#include "store/same.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> whole_files(const fs::path& path) {
  std::vector<std::string> problems;
  auto files = trial_files(path, problems);
  CHECK(problems.empty());
  return files;
}

std::vector<TrialOutcome> run_extended(const fs::path& folder, const Extension& extension) {
  auto options = quiet_into(folder);
  options.trained = extension.trained;
  return run_sweep(extension.experiment, options);
}

TEST_CASE("finished trials are measured further, as if their spec had asked for it") {
  const TemporaryFolder folder, fresh;
  const std::vector<std::string> before{"seed=1, 2", "measure.measures=entropy"},
      after{"seed=1, 2", "measure.measures=entropy, distance, importance.ablation"};
  run(tiny(before), folder.path());
  const auto manifest = read_file(folder.path() / "sweep.json");
  const auto extension =
      extend(whole_files(folder.path()), "measure.measures", "distance, importance.ablation", {});
  const auto outcomes = run_extended(folder.path(), extension);
  const auto expected = run(tiny(after), fresh.path());
  REQUIRE(outcomes.size() == 2);
  CHECK(files(folder.path(), ".h5").size() == 4);  // beside the old ones
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(outcomes[i].status == TrialOutcome::Status::done);
    CHECK(outcomes[i].trial_id == expected[i].trial_id);
    CHECK(same(outcomes[i].path, expected[i].path).empty());
    CHECK_FALSE(validate(outcomes[i].path));
  }
  CHECK(read_file(folder.path() / "sweep.json") == manifest);

  // Again: nothing is left to do, and the old and the new file of a trial make one.
  const auto again =
      extend(whole_files(folder.path()), "measure.measures", "distance, importance.ablation", {});
  CHECK(again.experiment.trials.size() == 2);
  for (const auto& outcome : run_extended(folder.path(), again))
    CHECK(outcome.status == TrialOutcome::Status::skipped);
}

TEST_CASE("a model measured and pruned again and again has one richest file") {
  const TemporaryFolder folder, fresh;
  run(tiny({"seed=1, 2", "measure.measures=entropy", "prune.methods="}), folder.path());
  const auto more = [&](const char* key, const char* names) {
    run_extended(folder.path(), extend(whole_files(folder.path()), key, names, {}));
    return files(folder.path(), ".h5").size();
  };
  CHECK(more("measure.measures", "distance") == 4);
  CHECK(more("measure.measures", "confidence") == 6);
  CHECK(more("measure.measures", "confidence,distance") == 6);
  CHECK(more("prune.methods", "random") == 8);
  CHECK(more("measure.measures", "distance,entropy") == 8);
  const auto all = run(
      tiny({"seed=1, 2", "measure.measures=entropy, confidence, distance", "prune.methods=random"}),
      fresh.path());
  for (const auto& outcome : all)
    CHECK(same(outcome.path, folder.path() / outcome.path.filename()).empty());
}

TEST_CASE("a file that is no whole result is left out of a folder, and told") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path());
  write_text(folder.path() / "junk.h5", "junk");
  std::vector<std::string> problems;
  CHECK(trial_files(folder.path(), problems) == std::vector{path});
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0], ContainsSubstring("junk.h5"));
}

TEST_CASE("finished trials are pruned further, with settings of their own") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path(), {"prune.methods="});
  CHECK_FALSE(ResultFile(path).exists("/pruning"));
  const auto extension =
      extend({path}, "prune.methods", "random", {"prune.orders=3", "prune.step=0.5"});
  const ResultFile pruned(run_extended(folder.path(), extension).at(0).path);
  CHECK(pruned.shape("/pruning/random/nll") == std::vector<std::size_t>{3, 3});
  CHECK(pruned.read<double>("/training/loss") == ResultFile(path).read<double>("/training/loss"));
}

TEST_CASE("a trial of another build is measured on, and the file says which build trained") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path(), {"measure.measures="});
  // Provenance is not content: the file stays valid.
  auto bytes = read_file(path);
  const auto commit = ResultFile(path).read_text("/provenance/commit");
  std::string other = commit;
  other[0] = other[0] == 'x' ? 'y' : 'x';
  for (auto place = bytes.find(commit); place != std::string::npos;
       place = bytes.find(commit, place + 1))
    bytes.replace(place, commit.size(), other);
  write_text(path, bytes);
  REQUIRE_FALSE(validate(path));
  REQUIRE(ResultFile(path).read_text("/provenance/commit") == other);
  const auto extension = extend({path}, "measure.measures", "entropy", {});
  const ResultFile measured(run_extended(folder.path(), extension).at(0).path);
  CHECK(measured.read_text("/provenance/trained_commit") == other);
  CHECK(measured.read_text("/provenance/commit") == commit);
  CHECK(measured.read_text("/provenance/trained_in") + ".h5" == path.filename());
}

TEST_CASE("measures taken on the way cannot be taken anew without training: told, not trained") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path());
  const auto extension = extend({path}, "measure.measures", "", {"measure.examples=5"});
  const auto outcome = run_extended(folder.path(), extension).at(0);
  CHECK(outcome.status == TrialOutcome::Status::failed);
  CHECK_THAT(outcome.reason, ContainsSubstring("records another training"));
}

TEST_CASE("what cannot be extended is told") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path());
  CHECK_THROWS_WITH(extend({path}, "measure.measures", "entrpy", {}),
                    ContainsSubstring("entrpy") && ContainsSubstring("did you mean") &&
                        ContainsSubstring("--measures ") && !ContainsSubstring("--set"));
  CHECK_THROWS_WITH(extend({path}, "prune.methods", "random", {"prune.orders=many"}),
                    ContainsSubstring("--orders many") && !ContainsSubstring("--set"));
  CHECK_THROWS_WITH(extend({path}, "measure.measures", "entropy", {"measure.examples=1, 2"}),
                    ContainsSubstring("2 trials of one"));
  CHECK_THROWS_WITH(extend({folder.path() / "no.h5"}, "measure.measures", "entropy", {}),
                    ContainsSubstring("no.h5"));
  write_text(folder.path() / "junk.h5", "junk");
  CHECK_THROWS_WITH(extend({folder.path() / "junk.h5"}, "measure.measures", "entropy", {}),
                    ContainsSubstring("junk.h5"));
  const TemporaryFolder empty;
  CHECK_THROWS_WITH(whole_files(empty.path()), ContainsSubstring("no whole trial file"));
  CHECK(whole_files(path) == std::vector{path});
}

}  // namespace
}  // namespace headcount

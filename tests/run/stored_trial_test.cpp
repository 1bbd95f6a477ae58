#include "run/stored_trial.hpp"

#include "catch.hpp"
#include "evaluate/evaluator.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

TEST_CASE("a stored trial evaluates to the same bits as when it was trained") {
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{},
        {"model.positions=learned", "model.tied-output=no", "model.norm=post",
         "attention.mask=none", "seed=4"}}) {
    const TemporaryFolder folder;
    const auto path = run_one(folder.path(), sets);
    const StoredTrial trial(path);
    CHECK(trial.settings() == tiny_settings(sets));
    const auto treatment = HeadTreatment<float>::intact(trial.model().heads());
    for (const int threads : {1, 3}) {
      ThreadTeam team(threads);
      const Evaluator<float> test(trial.model(), trial.parameters(), trial.task(), SplitName::test,
                                  0, team);
      const auto found = test.run(treatment);
      const auto expected = ResultFile(path).read<double>("/evaluation/test/example_nll");
      REQUIRE(found.size() == expected.size());
      for (std::size_t x = 0; x < found.size(); ++x) CHECK(found[x].nll == expected[x]);
    }
  }
}

struct Refusal {
  ExitCode code = ExitCode::success;
  std::string message;
};

Refusal refusal(const std::filesystem::path& path) {
  try {
    const StoredTrial trial(path);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

TEST_CASE("a trial whose data changed or went missing is refused with the reason") {
  const TemporaryFolder folder;
  const auto text = folder.path() / "text.txt";
  std::string words;
  for (int i = 0; i < 300; ++i) words += i % 3 == 0 ? "ab " : i % 7 == 0 ? "ba " : "c d ";
  write_text(text, words);
  const auto path = run_one(
      folder.path(), {"task.data=file:" + text.string(), "task.block=8", "prune.methods=random"});
  CHECK(refusal(path).message.empty());

  write_text(text, words + "ab");
  const auto changed = refusal(path);
  CHECK(changed.code == ExitCode::bad_data);
  CHECK_THAT(changed.message, ContainsSubstring("was made from other data"));
  CHECK_THAT(changed.message, ContainsSubstring("text.txt"));

  std::filesystem::remove(text);
  const auto missing = refusal(path);
  CHECK(missing.code == ExitCode::no_input);
  CHECK_THAT(missing.message, ContainsSubstring("text.txt"));
}

TEST_CASE("a file that is missing or no whole result is refused") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trial.h5";
  CHECK(refusal(path).code == ExitCode::no_input);
  write_text(path, "not HDF5");
  CHECK(refusal(path).code == ExitCode::bad_data);
  CHECK_THAT(refusal(path).message, ContainsSubstring("trial.h5"));
}

}  // namespace
}  // namespace headcount

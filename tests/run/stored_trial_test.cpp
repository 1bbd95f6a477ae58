#include "run/stored_trial.hpp"

#include <hdf5/serial/hdf5.h>  // to make files that the writer never would

#include "catch.hpp"
#include "evaluate/evaluator.hpp"
#include "sample.hpp"
#include "store/content.hpp"

namespace headcount {
namespace {

TEST_CASE("a stored trial evaluates to the same bits as when it was trained") {
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{},
        {"model.positions=learned", "model.tied-output=no", "model.norm=post",
         "attention.mask=none", "seed=4"},
        {"model.positions=relative", "model.relative-distance=2"},
        {"model.positions=relative-bias", "attention.mask=none"},
        {"model.positions=rotary"},
        {"model.init=admin", "model.norm=post", "model.residual=scaled-stream"},
        {"model.init=rezero", "model.norm=(none pre)", "model.norm-kind=rms",
         "model.residual=scaled-sublayer", "model.feed-forward=(0 auto)"}}) {
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

// Gives a file the content hash that its content has.
void seal(const std::filesystem::path& path) {
  const auto hash = store::content_sha256(store::OpenFile(path).tree);
  const char* const text = hash.c_str();
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "content_sha256", H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  REQUIRE(H5Awrite(attribute, type, &text) >= 0);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
}

// Puts zeros of another shape in place of a dataset.
void reshape(const std::filesystem::path& path, const std::string& dataset,
             const std::vector<hsize_t>& shape) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(H5Ldelete(file, dataset.c_str(), H5P_DEFAULT) >= 0);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t made = H5Dcreate2(file, dataset.c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT);
  const std::vector<float> zeros(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  REQUIRE(H5Dwrite(made, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()) >= 0);
  H5Dclose(made);
  H5Sclose(space);
  H5Fclose(file);
}

TEST_CASE("values of another shape than the spec asks for are refused under the right hash too") {
  const TemporaryFolder folder;
  const auto whole = run_one(folder.path());
  const StoredTrial trial(whole);
  const auto take = [&](const std::filesystem::path& path) {
    return read_training(path, trial.settings(), trial.task().data_hash(), trial.model());
  };
  CHECK(take(whole).record.steps.size() == 6);
  const auto altered = folder.path() / "altered.h5";
  for (const auto& [dataset, shape] : std::vector<std::pair<std::string, std::vector<hsize_t>>>{
           {"/training/learning_rate", {1}},
           {"/training/gradient_norm", {6, 1}},
           {"/training/layer_gradient_norm", {6, 1}},
           {"/training/layer_activation_variance", {12}},
           {"/training/layer_attention_entropy", {6}},
           {"/training/validation_nll", {1}},
           {"/heads_over_training/decoder_self/entropy", {2, 1, 1}},
           {"/model/decoder.1.self.w_q", {1, 1}}}) {
    std::filesystem::copy_file(whole, altered, std::filesystem::copy_options::overwrite_existing);
    reshape(altered, dataset, shape);
    seal(altered);
    REQUIRE_FALSE(validate(altered));
    try {
      take(altered);
      FAIL(dataset);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::bad_data);
      CHECK_THAT(error.what(), ContainsSubstring(dataset + " has not the shape"));
    }
  }
}

}  // namespace
}  // namespace headcount

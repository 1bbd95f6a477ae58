// Writes the seeds that are no plain text into folders below the given one:
//   build/release/tests/fuzz/fuzz_seeds tests/fuzz/seeds
#include <cstdio>
#include <fstream>

#include "base/file.hpp"
#include "fuzz.hpp"
#include "run/array_file.hpp"
#include "run/checkpoint.hpp"
#include "run/sample.hpp"
#include "small_model.hpp"
#include "store/writer.hpp"
#include "task/r_bytes.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

// Something in every part of it.
UnfinishedTrial state_of(const Model<float>& model, bool trained) {
  UnfinishedTrial state;
  state.started = "2026-11-30T07:00:00Z";
  state.stages = {{"train", 1.5, 2.5}};
  for (const std::int64_t step : {1, 2}) {
    auto& report = state.training.steps.emplace_back();
    report.step = step;
    report.loss = 3.0 - static_cast<double>(step);
    report.learning_rate = 0.1;
    report.gradient_norm = 0.5;
    report.layer_gradient_norm = {0.3, 0.4};
    report.tokens = 59 + step;
  }
  for (const auto& series : layer_series()) state.training.steps[0].*series.values = {1.0, 2.0};
  const auto& entropy = measures().at("entropy");
  state.training.validations = {
      {2,
       1.25,
       {{entropy.about, entropy.unit, SplitName::validation, 12,
         HeadMap<double>(model.heads(), 0.7), HeadMap<double>(model.heads(), 0.1)}}}};
  state.training.tokens_per_second = 1234.5;
  state.trained = trained;
  state.parameters = model.initial_parameters("xavier-uniform", 1);
  if (trained) {
    state.training.parameters_step = 2;
    state.passes.add({"run test 12 abc", {1.0, 2.0}});
    state.passes.add({"gradients validation 1 def", {}});
  } else {
    state.best_nll = 1.25;
    state.best_step = 2;
    state.best = model.initial_parameters("xavier-uniform", 2);
  }
  return state;
}

// Without the hash, and "build":0 in place of the build's identity (checkpoint_fuzz.cpp).
std::string checkpoint(bool trained) {
  const TemporaryFolder folder;
  const Model<float> model(fuzz::small_config());
  const auto state = state_of(model, trained);
  const AdamW<float>::Moments moments{model.initial_parameters("xavier-uniform", 3),
                                      model.initial_parameters("xavier-uniform", 4)};
  save_checkpoint(folder.path() / "trial.h5", "trial", state, trained ? nullptr : &moments);
  auto bytes = read_file(folder.path() / "trial.checkpoint");
  const ArrayReader file(bytes, "trial.checkpoint");
  const auto build = "\"build\":" + file.meta().at("build").dump();
  const std::string blank = "\"build\":0";
  const std::size_t size_at = bytes.find('\n') + 1;
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + size_at, sizeof size);
  size -= build.size() - blank.size();
  std::memcpy(bytes.data() + size_at, &size, sizeof size);
  bytes.replace(bytes.find(build), build.size(), blank);
  return bytes.substr(0, bytes.size() - array_file_hash("").size());
}

std::string trial(const std::function<void(ResultWriter&)>& fill) {
  const TemporaryFolder folder;
  publish_result(folder.path() / "trial.h5", fill);
  return read_file(folder.path() / "trial.h5");
}

// Few objects, so that reading them all takes little time, of every kind: small and dense groups,
// texts, flags, compressed chunks.
void write_little(ResultWriter& writer) {
  const VariableInfo info{.long_name = "x", .units = "1"};
  writer.attribute("/", "experiment", std::string("little"));
  writer.scalar("/spec", "resolved", tiny_settings().to_text(), info);
  writer.dimension("/training", "step", std::vector<std::int64_t>{1, 2}, info);
  writer.dimension("/training", "layer", std::size_t{3});
  writer.variable("/training", "loss", {"step"}, std::vector<float>{2, 1}, info);
  VariableInfo chunked = info;
  chunked.chunk_axes = 1;
  chunked.gzip = 1;
  writer.variable("/training", "norm", {"step", "layer"}, std::vector<double>(6, 0.5), chunked);
  writer.variable("/training", "name", {"layer"},
                  std::vector<std::string>{"a", "", "gr\u00f6\u00dfer"}, info);
  VariableInfo flags = info;
  flags.flag_meanings = {"never", "present"};
  writer.variable("/heads/cross", "head_state", {}, std::vector<std::uint8_t>{1}, flags);
  for (int i = 0; i < 9; ++i)  // HDF5 keeps more than 8 links in another way
    writer.scalar("/timing", "stage_" + std::to_string(i), 0.25 * i, info);
}

void write_all(const fs::path& seeds) {
  write(seeds / "checkpoint/training", checkpoint(false));
  write(seeds / "checkpoint/trained", checkpoint(true));
  write(seeds / "trial/little.h5", trial(write_little));
  const auto vector = r_bytes::character_vector({"Emma",
                                                 "gr\xc3\xb6\xc3\x9f"
                                                 "er",
                                                 ""});
  const auto second = r_bytes::character_vector({"x"}, 2);
  using namespace std::string_literals;
  write(seeds / "text/r-file", "\0"s + r_bytes::record(vector) + r_bytes::record(second));
  write(seeds / "text/r-object", "\1"s + vector);
  write(seeds / "text/r-object-version-2", "\1"s + second);
}

}  // namespace
}  // namespace headcount

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 64;
  }
  headcount::write_all(arguments[1]);
  return 0;
}

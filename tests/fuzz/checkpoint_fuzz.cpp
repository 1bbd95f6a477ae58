// Checkpoints of a small model. An input is a checkpoint without the hash at its end, which is put
// there; and where its header says "build":0 it gets this build's identity, so that seeds outlive
// the build that made them.
#include <cstring>

#include "base/file.hpp"
#include "fuzz.hpp"
#include "run/array_file.hpp"
#include "run/checkpoint.hpp"
#include "small_model.hpp"
#include "task/process.hpp"

namespace headcount {
namespace {

constexpr std::string_view kMagic = "headcount arrays 1\n";
constexpr std::string_view kBuild = "\"build\":0";

// As a checkpoint of this program has it.
std::string build_identity(const Model<float>& model) {
  const TemporaryFolder folder;
  UnfinishedTrial state;
  state.trained = true;
  state.parameters = model.initial_parameters("xavier-uniform", 1);
  save_checkpoint(folder.path() / "trial.h5", "trial", state, nullptr);
  const ArrayReader file(read_file(folder.path() / "trial.checkpoint"), "own checkpoint");
  return "\"build\":" + file.meta().at("build").dump();
}

// The header grows with what it gets, and so does the size before it.
void insert_build(std::string& body, const std::string& build) {
  const auto at = body.find(kBuild);
  if (at == std::string::npos || at < kMagic.size() + sizeof(std::uint64_t)) return;
  std::uint64_t size = 0;
  std::memcpy(&size, body.data() + kMagic.size(), sizeof size);
  size += build.size() - kBuild.size();
  std::memcpy(body.data() + kMagic.size(), &size, sizeof size);
  body.replace(at, kBuild.size(), build);
}

}  // namespace
}  // namespace headcount

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  static const Model<float> model(fuzz::small_config());
  static const std::string build = build_identity(model);
  std::string body(fuzz::text_of(data, size));
  insert_build(body, build);
  fuzz::answers([&] {
    const auto state =
        read_checkpoint(body + array_file_hash(body), "fuzz.checkpoint", "trial", model);
    fuzz::require(state.parameters.size() == model.layout().size(), "all parameters are there");
    fuzz::require(state.trained != state.moments.has_value(), "moments are for training");
  });
  return 0;
}

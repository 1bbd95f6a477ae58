// Data: text files under every tokenizer and way of splitting, and R data files. The first bytes
// choose which; the rest is the file.
#include <array>

#include "fuzz.hpp"
#include "task/make_task.hpp"
#include "task/r_bytes.hpp"
#include "task/r_data.hpp"
#include "task/task.hpp"
#include "task/tokenizer.hpp"

namespace headcount {
namespace {

void use(const Task& task) {
  const auto batch = task.training_batch(1, 0, 64);
  fuzz::require(batch.input.total() == std::ssize(batch.targets), "each token has a target");
  for (const auto token : batch.targets)
    fuzz::require(token < task.vocabulary_size(), "a target is in the vocabulary");
  for (Token token = 0; token < task.vocabulary_size(); ++token) task.text_of(token);
  for (const auto name : {SplitName::validation, SplitName::test})
    for (const auto& example : task.split(name).examples)
      fuzz::require(std::ssize(example.input) <= task.longest_sequence(),
                    "no example is longer than the longest");
  task.report();
}

void read_text(fuzz::Choices choices) {
  static const fuzz::ScratchFile file;
  TaskConfig config;
  config.set("task.data", "file:" + file.path());
  config.set("task.tokenizer", std::array{"byte", "character", "word"}[choices.below(3)]);
  config.set("task.document-separator",
             std::array{"none", "blank-line", "form-feed"}[choices.below(3)]);
  config.set("task.block", 1 + choices.byte());
  config.set("task.validation", choices.byte() / 256.0);
  config.set("task.test", choices.byte() / 256.0);
  config.set("task.vocabulary", 2 + choices.byte());
  config.set("task.min-count", 1 + static_cast<std::int64_t>(choices.below(4)));
  file.write(choices.rest());
  fuzz::answers([&] { use(*make_task(config)); });
}

constexpr std::size_t kMostExpanded = std::size_t{1} << 20;

}  // namespace
}  // namespace headcount

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  fuzz::Choices choices(fuzz::text_of(data, size));
  switch (choices.below(4)) {
    case 0:  // the file
      fuzz::answers([&] { read_r_character_vectors(choices.rest(), kMostExpanded); });
      break;
    case 1:  // behind the compression
      fuzz::answers([&] {
        read_r_character_vectors(r_bytes::record(std::string(choices.rest())), kMostExpanded);
      });
      break;
    default:
      read_text(choices);
  }
  return 0;
}

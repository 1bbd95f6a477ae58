#include "task/make_task.hpp"
#include "task/text_data.hpp"

namespace headcount {
namespace {

// Causal next-token prediction over text.
class TextLanguageModel : public Task {
 public:
  explicit TextLanguageModel(TextData data) : data_(std::move(data)) {}

  std::int64_t vocabulary_size() const override { return data_.tokenizer->size(); }
  std::int64_t longest_sequence() const override { return data_.longest; }
  std::string text_of(Token token) const override { return data_.tokenizer->text_of(token); }
  std::vector<std::string> metrics() const override {
    return {"nll", "perplexity", "bits_per_character", "accuracy"};
  }
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    return data_.windows.draw(seed, step, tokens);
  }
  const Split& split(SplitName name) const override { return data_.held_out.at(name); }
  std::int64_t characters(const Example& example) const override { return example.characters; }
  std::string data_hash() const override { return data_.hash; }
  std::string report() const override { return data_.facts + Task::report(); }

 private:
  TextData data_;
};

std::unique_ptr<Task> make(const TaskConfig& config) {
  const DataSource& source = find_data_source(config);
  if (source.generate) return source.generate(config);
  require_source(config, source.read != nullptr, "text");
  return std::make_unique<TextLanguageModel>(
      read_text_data(config, source, WindowTargets::following));
}

}  // namespace

TaskEntry language_model_task() {
  return {{"language-model", "predict the next token from those before it (causal)", ""},
          text_keys(),
          make};
}

}  // namespace headcount

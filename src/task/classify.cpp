#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "math/random.hpp"
#include "task/data_source.hpp"
#include "task/make_task.hpp"
#include "task/text_splits.hpp"
#include "task/tokenizer.hpp"
#include "task/utf8.hpp"
#include "task/windows.hpp"

namespace headcount {
namespace {

constexpr std::size_t kMostClasses = 65536;

// A text with its class, and where it goes.
struct Item {
  const LabelledText* source = nullptr;
  std::int64_t number = 0;  // in the source, from 1
  Token label = 0;
  std::string spelling;
  double place = 0;  // in [0, 1), of the spelling alone
};

// ASCII letters in lower case and all beyond ASCII: texts that differ in capitals, digits,
// punctuation and blanks only are spelled alike. The whole text where nothing is left.
std::string spelling_of(const std::string& text) {
  std::string spelling;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z')
      spelling += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80)
      spelling += c;
  }
  return spelling.empty() ? text : spelling;
}

double place_of(const std::string& spelling) {
  constexpr int kDigits = 13;
  return static_cast<double>(std::stoull(sha256_hex(spelling).substr(0, kDigits), nullptr, 16)) /
         static_cast<double>(std::uint64_t{1} << (4 * kDigits));
}

// What a source gives, as classes: each text once, those with two labels and those of rarer labels
// left out.
struct Classes {
  std::vector<std::string> names;  // sorted
  std::vector<Item> items;         // in the order of the source
  std::int64_t repeated = 0, contradicted = 0, rarer = 0;
};

// Labels, the most frequent first.
std::vector<std::string> labels_by_frequency(const std::vector<Item>& items) {
  std::map<std::string, std::int64_t> counts;
  for (const Item& item : items) ++counts[item.source->label];
  std::vector<std::pair<std::string, std::int64_t>> labels(counts.begin(), counts.end());
  std::ranges::stable_sort(labels, std::greater{}, [](const auto& label) { return label.second; });
  std::vector<std::string> names;
  names.reserve(labels.size());
  for (auto& label : labels) names.push_back(std::move(label.first));
  return names;
}

Classes classes_of(const LabelledTexts& data, std::int64_t most) {
  Classes classes;
  std::unordered_map<std::string_view, std::string_view> label_of;  // "" for several
  for (const auto& [text, label] : data.texts) {
    const auto [known, is_new] = label_of.try_emplace(text, label);
    if (!is_new && known->second != label) known->second = "";
  }
  std::unordered_map<std::string_view, bool> taken;
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    const LabelledText& source = data.texts[i];
    if (label_of.at(source.text).empty())
      ++classes.contradicted;
    else if (!taken.try_emplace(source.text, true).second)
      ++classes.repeated;
    else
      classes.items.push_back({&source, static_cast<std::int64_t>(i) + 1, 0, "", 0});
  }
  auto& names = classes.names = labels_by_frequency(classes.items);
  if (most > 0 && std::ssize(names) > most) names.resize(static_cast<std::size_t>(most));
  std::ranges::sort(names);
  classes.rarer = static_cast<std::int64_t>(std::erase_if(classes.items, [&](Item& item) {
    const auto place = std::ranges::lower_bound(names, item.source->label);
    item.label = static_cast<Token>(place - names.begin());
    return place == names.end() || *place != item.source->label;
  }));
  if (names.size() < 2 || names.size() > kMostClasses)
    throw Error(ExitCode::bad_data,
                fmt::format("{}: number of classes: {}; a classifier has 2 to {} (task.classes)",
                            data.origin, names.size(), kMostClasses));
  for (Item& item : classes.items) {
    item.spelling = spelling_of(item.source->text);
    item.place = place_of(item.spelling);
  }
  return classes;
}

std::vector<std::int64_t> counts_of(const std::vector<Item>& items, std::size_t classes) {
  std::vector<std::int64_t> counts(classes, 0);
  for (const Item& item : items) ++counts[static_cast<std::size_t>(item.label)];
  return counts;
}

// By class, as many as the rarest has: those with the first places.
void balance(std::vector<Item>& items, std::size_t classes) {
  const std::int64_t wanted = std::ranges::min(counts_of(items, classes));
  std::vector<std::vector<double>> places(classes);
  for (const Item& item : items) places[static_cast<std::size_t>(item.label)].push_back(item.place);
  for (auto& of_class : places) std::ranges::sort(of_class);
  std::vector<std::int64_t> taken(classes, 0);
  std::erase_if(items, [&](const Item& item) {
    const auto label = static_cast<std::size_t>(item.label);
    const bool behind = item.place > places[label][static_cast<std::size_t>(wanted - 1)];
    return behind || ++taken[label] > wanted;
  });
}

// Texts spelled alike fall into one split.
struct Splits {
  std::vector<Item> train, validation, test;
};

Splits split_items(const std::string& origin, const Classes& classes, const TaskConfig& config) {
  const auto [validation, test] = shares_of(config);
  Splits splits;
  for (const Item& item : classes.items)
    (item.place < test                ? splits.test
     : item.place < validation + test ? splits.validation
                                      : splits.train)
        .push_back(item);
  const bool balanced = config.text("task.balanced") == "yes";
  const auto check = [&](std::vector<Item>& items, SplitName name, double share) {
    if (share == 0) return;
    const bool every_class = balanced || name == SplitName::train;
    const auto counts = counts_of(items, classes.names.size());
    const auto none = std::ranges::find(counts, 0);
    if (items.empty() || (every_class && none != counts.end()))
      throw Error(
          ExitCode::bad_data,
          fmt::format(
              "{}: the {} split has no text{}; keep fewer classes with task.classes, or "
              "change task.{}",
              origin, name_of(name),
              items.empty()
                  ? ""
                  : fmt::format(" of class '{}'",
                                classes.names[static_cast<std::size_t>(none - counts.begin())]),
              name == SplitName::train ? "validation" : name_of(name)));
    if (balanced && name != SplitName::train) balance(items, classes.names.size());
  };
  check(splits.train, SplitName::train, 1);
  check(splits.validation, SplitName::validation, validation);
  check(splits.test, SplitName::test, test);
  return splits;
}

// The class of a whole text.
class TextClassifier : public Task {
 public:
  TextClassifier(const LabelledTexts& data, const TaskConfig& config)
      : TextClassifier(data, config, classes_of(data, config.integer("task.classes"))) {}

  std::int64_t vocabulary_size() const override { return tokenizer_->size(); }
  std::vector<std::string> classes() const override { return names_; }
  std::int64_t longest_sequence() const override { return longest_; }
  std::string text_of(Token token) const override { return tokenizer_->text_of(token); }
  std::vector<std::string> metrics() const override { return {"nll", "accuracy"}; }

  // Texts drawn uniformly; of classes that count alike, a class first and then one of its texts.
  // Number i comes from the stream (seed, data_order, step, i).
  Batch training_batch(std::uint64_t seed, std::int64_t step, std::int64_t tokens) const override {
    Batch batch;
    batch.targets_per = TargetsPer::sequence;
    for (std::uint32_t item = 0;; ++item) {
      RandomStream random(seed, Purpose::data_order, stream_step(step), item);
      const std::int64_t chosen = draw(random);
      if (item > 0 && batch.input.total() + train_.length(chosen) > tokens) return batch;
      const auto offset = train_.offsets.begin() + chosen;
      batch.input.append({train_.tokens.begin() + *offset, train_.tokens.begin() + *(offset + 1)});
      batch.targets.push_back(labels_[static_cast<std::size_t>(chosen)]);
      batch.examples.push_back(item);
    }
  }

  const Split& split(SplitName name) const override { return held_out_.at(name); }
  std::int64_t characters(const Example&) const override { return 0; }
  std::string data_hash() const override { return hash_; }
  std::string report() const override { return facts_ + Task::report(); }

 private:
  TextClassifier(const LabelledTexts& data, const TaskConfig& config, const Classes& classes)
      : TextClassifier(data, config, classes, split_items(data.origin, classes, config)) {}

  TextClassifier(const LabelledTexts& data, const TaskConfig& config, const Classes& classes,
                 const Splits& splits)
      : names_(classes.names),
        tokenizer_(
            tokenizers().at(config.text("task.tokenizer")).make(config, texts_of(splits.train))),
        block_(config.integer("task.block")),
        held_out_{split_of(data.origin, splits.validation), split_of(data.origin, splits.test)},
        balanced_(config.text("task.balanced") == "yes") {
    members_.resize(names_.size());
    for (const Item& item : splits.train) {
      members_[static_cast<std::size_t>(item.label)].push_back(train_.count());
      labels_.push_back(item.label);
      train_.append(tokens_of(data.origin, item));
    }
    longest_ = std::max(train_.longest(), held_out_.longest());
    hash_ = hash_of(data, config);
    describe(data, config, classes, splits);
  }

  static std::vector<std::string_view> texts_of(const std::vector<Item>& items) {
    std::vector<std::string_view> texts;
    texts.reserve(items.size());
    for (const Item& item : items) texts.emplace_back(item.source->text);
    return texts;
  }

  std::vector<Token> tokens_of(const std::string& origin, const Item& item) const {
    auto tokens = tokenizer_->encode(item.source->text).tokens;
    if (tokens.empty())
      throw Error(ExitCode::bad_data, fmt::format("{}: text {} has no token: '{}'", origin,
                                                  item.number, printable(item.source->text)));
    if (std::ssize(tokens) > block_) tokens.resize(static_cast<std::size_t>(block_));
    return tokens;
  }

  Split split_of(const std::string& origin, const std::vector<Item>& items) const {
    Split split;
    split.targets_per = TargetsPer::sequence;
    std::unordered_map<std::string_view, std::int64_t> clusters;  // by spelling
    for (const Item& item : items) {
      const auto [cluster, is_new] =
          clusters.try_emplace(item.spelling, std::ssize(split.clusters));
      if (is_new) split.clusters.push_back(fmt::format("text {}", item.number));
      split.examples.push_back({tokens_of(origin, item), {item.label}, cluster->second, 0});
    }
    return split;
  }

  std::int64_t draw(RandomStream& random) const {
    const auto below = [&](std::size_t count) {
      return std::size_t{random.below(static_cast<std::uint32_t>(count))};
    };
    if (!balanced_) return static_cast<std::int64_t>(below(labels_.size()));
    const auto& of_class = members_[below(members_.size())];
    return of_class[below(of_class.size())];
  }

  std::string hash_of(const LabelledTexts& data, const TaskConfig& config) const {
    Sha256 hash;
    hash.add_piece("classify");
    for (const auto& [text, label] : data.texts) {
      hash.add_piece(text);
      hash.add_piece(label);
    }
    hash.add_piece(config.text("task.tokenizer"));
    hash.add_piece(tokenizer_->state());
    for (const auto& value :
         {std::to_string(block_), shortest(config.real("task.validation")),
          shortest(config.real("task.test")), std::to_string(config.integer("task.classes")),
          config.text("task.balanced")})
      hash.add_piece(value);
    return hash.hex();
  }

  void describe(const LabelledTexts& data, const TaskConfig& config, const Classes& classes,
                const Splits& splits) {
    facts_ = fmt::format(
        "path: {}\nsize: {} labelled texts\nleft out: {} repeated, {} with two labels, {} of rarer "
        "labels\ntokenizer: {}\ntrain: {} texts\n",
        data.origin, data.texts.size(), classes.repeated, classes.contradicted, classes.rarer,
        config.text("task.tokenizer"), splits.train.size());
    const auto count = [&](const std::vector<Item>& items) {
      return counts_of(items, names_.size());
    };
    const auto train = count(splits.train), validation = count(splits.validation),
               test = count(splits.test);
    for (std::size_t c = 0; c < names_.size(); ++c)
      facts_ += fmt::format("class {}: {} train, {} validation, {} test\n", printable(names_[c]),
                            train[c], validation[c], test[c]);
  }

  std::vector<std::string> names_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::int64_t block_;
  HeldOut held_out_;
  bool balanced_;
  PackedSequences train_;
  std::vector<Token> labels_;
  std::vector<std::vector<std::int64_t>> members_;  // of train_, by class
  std::int64_t longest_ = 0;
  std::string hash_;
  std::string facts_;
};

std::unique_ptr<Task> make(const TaskConfig& config) {
  const DataSource& source = find_data_source(config);
  require_source(config, source.read_labelled != nullptr, "labelled texts");
  return std::make_unique<TextClassifier>(source.read_labelled(config), config);
}

}  // namespace

TaskEntry classify_task() {
  return {
      {"classify",
       "the class of a text, from the mean of its tokens' last hidden vectors. Splits are drawn "
       "by spelling: texts that differ in capitals, digits, punctuation and blanks only fall "
       "into one; a text behind task.block tokens is cut",
       ""},
      {tokenizer_key(),
       block_key(),
       share_key(SplitName::validation),
       share_key(SplitName::test),
       {"task.classes", TaskKey::Integer{0, 0, kMostClasses},
        "with classify, the most frequent labels that are kept; 0: all"},
       {"task.balanced", TaskKey::Choice{"no", {"no", "yes"}},
        "with classify, whether classes count alike: drawn as often in training, as many of "
        "each in a held-out split"}},
      make};
}

}  // namespace headcount

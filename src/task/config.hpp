#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headcount {

// The [task] section of a spec. Each member is the key task.<member>, with '-' for '_'.
struct TaskConfig {
  std::string kind = "language-model";
  std::string data = "austen";  // a name of data_sources(), or file:PATH
  std::string tokenizer = "character";
  std::int64_t block = 128;  // T, targets in one training window and at most in a held-out one
  double validation = 0.1;   // share of the characters
  double test = 0.1;

  std::string document_separator = "none";  // data = file: none, blank-line, form-feed

  std::int64_t vocabulary = 10'000;  // tokenizer = word: largest vocabulary, <unk> included
  std::int64_t min_count = 1;        // tokenizer = word: rarer words are <unk>

  std::int64_t recall_pairs = 8;    // data = synthetic.recall: pairs shown in an example
  std::int64_t recall_queries = 8;  // keys asked for, all different
  std::int64_t recall_keys = 16;    // alphabet sizes
  std::int64_t recall_values = 16;
  std::int64_t recall_examples = 1'000;  // in each held-out split
};

// A spec key that an entry of a registry understands beyond the common ones.
struct KeyHelp {
  std::string name;  // as written in a spec: "task.recall-pairs"
  std::string help;  // one line, range included
};

}  // namespace headcount

#pragma once

#include <vector>

#include "task/config.hpp"
#include "task/data_source.hpp"

namespace headcount {

// What task.validation and task.test say. Throws Error (bad_data) when nothing is left for
// training.
struct Shares {
  double validation = 0, test = 0;
};
Shares shares_of(const TaskConfig& config);

struct TextSplits {
  std::vector<Document> train, validation, test;
};

// The key of a held-out split's share of the text: task.validation, task.test.
TaskKey share_key(SplitName held_out);

// The documents of a corpus in three runs, train first and test last.
//
// Several groups: whole groups from the end form test until it holds its share of the characters,
// the ones before form validation in the same way. One group of several documents: each document is
// a group of its own. One document: its text is cut at the shares, counted in characters.
//
// Throws Error (bad_data) when nothing is left for training, or when a split whose share is above 0
// stays empty.
TextSplits split_corpus(const Corpus& corpus, const TaskConfig& config);

}  // namespace headcount

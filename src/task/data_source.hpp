#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "task/config.hpp"
#include "task/relation.hpp"
#include "task/task.hpp"

namespace headcount {

struct Document {
  std::string name;
  std::string group;  // documents of one group are neighbours and fall into one split
  std::string text;   // well-formed UTF-8, not empty
  std::vector<Relation> relations = {};  // between words of the text, as spans of code points
};

struct Corpus {
  std::string origin;               // where the bytes lie, for people
  std::vector<Document> documents;  // at least one
};

// Where data comes from. One of the two functions is set: `read` gives text, for any tokenizer;
// `generate` gives made-up tokens as a language-modelling task of its own.
struct DataSource {
  About about;
  std::vector<TaskKey> keys;
  Corpus (*read)(const TaskConfig&) = nullptr;
  std::unique_ptr<Task> (*generate)(const TaskConfig&) = nullptr;
};

const Registry<DataSource>& data_sources();

// The source that task.data names: file:PATH, or a name of the registry. Throws Error (bad_data).
const DataSource& find_data_source(const TaskConfig& config);

// The entries, one file each.
DataSource file_source();
DataSource austen_source();
DataSource recall_source();
DataSource copy_source();
DataSource reverse_source();
DataSource sort_source();
DataSource induction_source();
DataSource order_source();
DataSource bag_source();  // beside order_source, whose control it is
DataSource grammar_source();

inline constexpr std::string_view kFilePrefix = "file:";

}  // namespace headcount

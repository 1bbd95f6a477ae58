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

struct LabelledText {
  std::string text;   // well-formed UTF-8, not empty
  std::string label;  // not empty
  bool operator==(const LabelledText&) const = default;
};

struct LabelledTexts {
  std::string origin;  // where the bytes lie, for people
  std::vector<LabelledText> texts;
};

// Where data comes from. One function at least is set: `read` gives text, for any tokenizer;
// `read_labelled` gives texts of which each has a class; `generate` gives made-up tokens as a
// language-modelling task of its own.
struct DataSource {
  About about;
  std::vector<TaskKey> keys;
  Corpus (*read)(const TaskConfig&) = nullptr;
  std::unique_ptr<Task> (*generate)(const TaskConfig&) = nullptr;
  LabelledTexts (*read_labelled)(const TaskConfig&) = nullptr;
};

const Registry<DataSource>& data_sources();

// The source that task.data names: file:PATH, or a name of the registry. Throws Error (bad_data).
const DataSource& find_data_source(const TaskConfig& config);

// Throws Error (bad_data), saying that task.kind needs `what`, unless the source has it.
void require_source(const TaskConfig& config, bool has, std::string_view what);

// For sources that read a file: the path behind the prefix of task.data, and a UTF-8 text of at
// most 256 MiB without the byte order mark. Throw Error.
std::string path_of(const TaskConfig& config, std::string_view prefix);
std::string read_text_file(const std::string& path);

// The entries, one file each.
#define HEADCOUNT_ENTRY(entry) DataSource entry();
#include "task/data_sources.def"
#undef HEADCOUNT_ENTRY

inline constexpr std::string_view kFilePrefix = "file:", kConlluPrefix = "conllu:";

}  // namespace headcount

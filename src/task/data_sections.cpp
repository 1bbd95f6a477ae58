#include "task/data_sections.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "task/debian_package.hpp"
#include "task/labelled_text.hpp"
#include "task/lines.hpp"
#include "task/process.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 22> kSubjects{
    "admin",    "comm",  "database", "editors", "education", "electronics", "games",   "graphics",
    "hamradio", "httpd", "mail",     "math",    "net",       "news",        "science", "shells",
    "sound",    "tex",   "text",     "vcs",     "video",     "web"};

// The value of a line "Name: value"; nothing of another field's line.
std::string_view field(std::string_view line, std::string_view name) {
  const bool is_it =
      line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':';
  return is_it ? trim(line.substr(name.size() + 1)) : std::string_view();
}

std::vector<LabelledText> fetch() {
  try {
    const TemporaryFolder folder;
    auto texts = synopses_by_section(available_packages(folder.path()));
    if (texts.empty()) throw Error(ExitCode::no_input, "apt's lists name no package of a section");
    return texts;
  } catch (const std::exception& error) {
    throw Error(ExitCode::no_input,
                fmt::format("cannot make task.data = sections from apt's package lists: {}\nRun "
                            "apt-get update as root, or with a way to the distribution's archive "
                            "try again; without apt, write texts and labels to a file of your own "
                            "and use task.data = file:PATH",
                            error.what()));
  }
}

// The lists change from week to week: what was read once stays until the file is removed.
LabelledTexts read_labelled(const TaskConfig&) {
  const fs::path file = cache_directory() / "sections.tsv";
  if (!fs::exists(file)) {
    std::string lines;
    for (const auto& [text, label] : fetch()) lines += fmt::format("{}\t{}\n", text, label);
    std::error_code ignored;  // publish_text says what is wrong
    fs::create_directories(file.parent_path(), ignored);
    publish_text(file, lines);
  }
  return {file.string(), labelled_texts(read_text_file(file.string()), file.string())};
}

}  // namespace

std::vector<LabelledText> synopses_by_section(std::string_view packages) {
  check_utf8(packages, "apt's package lists");
  std::vector<LabelledText> texts;
  std::string_view section, synopsis;
  const auto end_of_package = [&] {
    const auto subject = section.substr(section.rfind('/') + 1);
    if (!synopsis.empty() && std::ranges::find(kSubjects, subject) != kSubjects.end())
      texts.push_back({std::string(synopsis), std::string(subject)});
    section = synopsis = {};
  };
  for (Lines lines(packages); lines.next();) {
    const auto line = lines.line();
    if (line.empty()) end_of_package();
    if (const auto value = field(line, "Section"); !value.empty()) section = value;
    for (const auto name : {"Description", "Description-en"})
      if (const auto value = field(line, name); !value.empty()) synopsis = value;
  }
  end_of_package();
  std::erase_if(texts, [](const auto& text) { return text.text.find('\t') != std::string::npos; });
  const auto content = [](const auto& text) { return std::tie(text.text, text.label); };
  std::ranges::sort(texts, {}, content);
  const auto same = [&](const auto& a, const auto& b) { return content(a) == content(b); };
  texts.erase(std::unique(texts.begin(), texts.end(), same), texts.end());
  return texts;
}

DataSource sections_source() {
  return {{"sections",
           "to classify: synopses of Debian packages by the archive section they stand in, of 22 "
           "sections that name a subject (games, mail, science, ...)",
           "the package lists of apt; kept as they are when first read"},
          {},
          nullptr,
          nullptr,
          read_labelled};
}

}  // namespace headcount

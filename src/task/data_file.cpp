#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "task/data_source.hpp"
#include "task/labelled_text.hpp"

namespace headcount {
namespace {

bool is_blank(std::string_view line) { return trim(line).empty(); }

// Runs of lines between blank ones.
std::vector<std::string> between_blank_lines(std::string_view text) {
  std::vector<std::string> pieces(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t behind = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view line = text.substr(at, behind - at);
    if (!is_blank(line))
      pieces.back() += line;
    else if (!pieces.back().empty())
      pieces.emplace_back();
    at = behind;
  }
  return pieces;
}

std::vector<std::string> between_form_feeds(std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\f', at), text.size());
    pieces.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return pieces;
}

std::vector<std::string> cut(std::string_view text, const std::string& separator) {
  if (separator == "none") return {std::string(text)};
  if (separator == "blank-line") return between_blank_lines(text);
  return between_form_feeds(text);
}

Corpus read(const TaskConfig& config) {
  const std::string path = path_of(config, kFilePrefix);
  const std::string text = read_text_file(path);
  Corpus corpus{std::filesystem::absolute(path).string(), {}};
  for (auto& piece : cut(text, config.text("task.document-separator"))) {
    if (is_blank(piece)) continue;
    // Not named after the file: the same text under another path is the same data.
    const std::string name = fmt::format("document {}", corpus.documents.size() + 1);
    corpus.documents.push_back({name, name, std::move(piece)});
  }
  if (corpus.documents.empty()) throw Error(ExitCode::bad_data, fmt::format("{} is empty", path));
  return corpus;
}

LabelledTexts read_labelled(const TaskConfig& config) {
  const std::string path = path_of(config, kFilePrefix);
  return {std::filesystem::absolute(path).string(), labelled_texts(read_text_file(path), path)};
}

}  // namespace

DataSource file_source() {
  return {{"file:PATH",
           "plain UTF-8 text in a file of yours, at most 256 MiB; to classify, lines of a text, a "
           "tab and its label",
           ""},
          {{"task.document-separator", TaskKey::Choice{"none", {"none", "blank-line", "form-feed"}},
            "with file:PATH, what stands between documents"}},
          read,
          nullptr,
          read_labelled};
}

}  // namespace headcount

#include "task/labelled_text.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "task/lines.hpp"

namespace headcount {
namespace {
constexpr std::size_t kLongestLabel = 256;  // bytes: it names a class wherever one is named
}

std::vector<LabelledText> labelled_texts(std::string_view text, const std::string& file) {
  std::vector<LabelledText> texts;
  for (Lines lines(text); lines.next();) {
    const auto refuse = [&](std::string_view why) {
      throw Error(ExitCode::bad_data,
                  fmt::format("{}:{}: {}; a line is a text, a tab and its label", file,
                              lines.number(), why));
    };
    const std::string_view line = lines.line();
    const auto tab = line.find('\t');
    if (tab == std::string_view::npos) refuse("there is no tab");
    if (line.find('\t', tab + 1) != std::string_view::npos) refuse("there is a second tab");
    const auto words = trim(line.substr(0, tab)), label = trim(line.substr(tab + 1));
    if (words.empty()) refuse("the text is empty");
    if (label.empty()) refuse("the label is empty");
    if (label.size() > kLongestLabel)
      refuse(fmt::format("the label has {} bytes, more than {}", label.size(), kLongestLabel));
    if (lines.number() == 1 && words == "text" && label == "label") continue;
    texts.push_back({std::string(words), std::string(label)});
  }
  if (texts.empty())
    throw Error(ExitCode::bad_data, fmt::format("{} holds no labelled text", file));
  return texts;
}

}  // namespace headcount

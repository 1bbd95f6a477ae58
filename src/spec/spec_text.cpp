#include "spec/spec_text.hpp"

#include <algorithm>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 16;
constexpr int kMostLines = 20'000;

// Boost cuts values at any '#', so none may reach it.
std::string without_hash(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '#')
      text += "%23";
    else if (c == '%')
      text += "%25";
    else
      text += c;
  }
  return text;
}

std::string with_hash(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    value += text[i] != '%' ? text[i] : text.substr(i, 3) == "%23" ? '#' : '%';
    if (text[i] == '%') i += 2;
  }
  return value;
}

class Scanner {
 public:
  Scanner(const std::string& file, Problems& problems) : place_{file, 0}, problems_(problems) {
    found_.sections.push_back({"", place_});
  }

  void scan(std::string_view text) {
    if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
    while (!text.empty()) {
      if (++place_.line > kMostLines)
        return refuse(fmt::format("a spec has at most {} lines", kMostLines));
      const std::size_t end = std::min(text.find('\n'), text.size());
      auto line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      scan_line(line);
    }
  }

  // The keys and values as Boost reads them from the normalised lines, in the order of the file.
  SpecText finish() {
    namespace po = boost::program_options;
    std::istringstream stream(normalised_);
    const auto parsed =
        po::parse_config_file(stream, po::options_description(), /*allow_unregistered=*/true);
    if (parsed.options.size() != found_.entries.size())
      throw Error(ExitCode::internal, "Boost.Program_options and the scan disagree about a spec");
    for (std::size_t i = 0; i < found_.entries.size(); ++i) {
      auto& entry = found_.entries[i];
      const auto& section = found_.sections[entry.section].name;
      entry.key = parsed.options[i].string_key.substr(section.empty() ? 0 : section.size() + 1);
      entry.value = with_hash(parsed.options[i].value.at(0));
    }
    return std::move(found_);
  }

 private:
  void refuse(std::string message) { problems_.add(place_, "", std::move(message)); }

  void scan_line(std::string_view line) {
    if (line.size() > kLongestLine)
      return refuse(fmt::format("the line is longer than {} bytes", kLongestLine));
    if (const auto unfit = unfit_bytes(line); !unfit.empty()) return refuse(unfit);
    const auto [content, problem] = cut_comment(line);
    if (!problem.empty()) return refuse(problem);
    if (content.empty()) return;
    if (content.front() == '[') return scan_section(content);
    const auto equals = content.find('=');
    if (equals == std::string_view::npos)
      return refuse(fmt::format("{} is neither [section] nor key = value", shown(content)));
    const auto key = trim(content.substr(0, equals));
    if (!is_dotted_name(key))
      return refuse(fmt::format("{} cannot be a key: keys are letters, digits, '-', '_' and '.'",
                                shown(key)));
    found_.entries.push_back({found_.sections.size() - 1, "", "", place_});
    normalised_ += fmt::format("{}={}\n", key, without_hash(trim(content.substr(equals + 1))));
  }

  // A section that cannot be read still opens one, so that the keys below it are not taken for keys
  // of the section before.
  void scan_section(std::string_view content) {
    std::string_view name;
    if (content.size() > 2 && content.back() == ']')
      name = trim(content.substr(1, content.size() - 2));
    if (!is_dotted_name(name)) {
      refuse(fmt::format("{} is not a section; write [name], of letters, digits, '-', '_' and '.'",
                         shown(content)));
      name = kUnreadableSection;
    }
    normalised_ += fmt::format("[{}]\n", name);
    found_.sections.push_back({std::string(name), place_});
  }

  Place place_;
  Problems& problems_;
  std::string normalised_;
  SpecText found_;
};

}  // namespace

SpecText read_spec_text(std::string_view text, const std::string& file, Problems& problems) {
  if (text.size() > kLargestSpec) {
    problems.add(
        {file, 0}, "",
        fmt::format("a spec has at most {} bytes; this one has {}", kLargestSpec, text.size()));
    return {};
  }
  Scanner scanner(file, problems);
  scanner.scan(text);
  return scanner.finish();
}

}  // namespace headcount

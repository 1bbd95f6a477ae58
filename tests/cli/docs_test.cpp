#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/file.hpp"
#include "catch.hpp"
#include "cli/command.hpp"
#include "cli/listing.hpp"
#include "run/schema.hpp"
#include "spec/help.hpp"

using namespace headcount;

namespace {

// docs/ holds what the program prints; UPDATE_GOLDEN=1 writes it anew.
void require_page(const std::string& name, const std::string& text) {
  const std::string path = std::string(HEADCOUNT_SOURCE_DIR) + "/docs/" + name;
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream(path) << text;
  REQUIRE(read_file(path) == text);
}

}  // namespace

TEST_CASE("docs/spec.md is what help spec prints") {
  require_page("spec.md", help_text(experiment_schema(), HelpFormat::markdown));
}

TEST_CASE("docs/registries.md is what list prints") {
  std::string page = "# What a spec can name\n\nPrinted by `headcount list KIND`.\n";
  for (const auto& kind : listings())
    page += "\n## " + kind.name + "\n\n" + render(kind.table(), TableFormat::markdown);
  require_page("registries.md", page);
}

TEST_CASE("every listed thing has a name of its own, a definition, and every command an example") {
  for (const auto& kind : listings()) {
    std::vector<std::string> names;
    const auto table = kind.table();
    for (const auto& row : table.rows()) {
      names.push_back(std::get<std::string>(row.at(0)));
      CHECK_FALSE(std::get<std::string>(row.at(1)).empty());
    }
    const auto all = names.size();
    CHECK(all > 0);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    CHECK(names.size() == all);
  }
  for (const auto& command : commands()) {
    CHECK_THAT(command.example, ContainsSubstring("headcount " + command.name));
    CHECK_THAT(usage(command), ContainsSubstring("usage: headcount " + command.name));
  }
}

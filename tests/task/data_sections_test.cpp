#include "task/data_sections.hpp"

#include <fstream>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"
#include "temporary.hpp"

using namespace headcount;

TEST_CASE("synopses are read from paragraphs of fields") {
  const std::string packages =
      "Package: zork\nDescription: adventure in a dungeon\nTag: game::adventure,\n"
      " use::gameplaying\nSection: games\n\n"
      "Package: zork-data\nSection: universe/games\nDescription-en: data of an adventure\n"
      " More of it: Section: mail\n\n"
      "Package: python3-zork\nSection: python\nDescription: not by subject\n\n"
      "Package: again\nSection: games\nDescription: adventure in a dungeon\n\n"
      "Package: bare\nSection: mail\n\n"
      "Package: homeless\nDescription: no section\n\n"
      "Package: last\nDescription: reads mail\nSection: mail";
  CHECK(synopses_by_section(packages) ==
        std::vector<LabelledText>{{"adventure in a dungeon", "games"},
                                  {"data of an adventure", "games"},
                                  {"reads mail", "mail"}});
  CHECK(synopses_by_section("").empty());
  CHECK_THROWS_WITH(synopses_by_section("Section: g\xE4\n"), ContainsSubstring("byte 0xe4"));
}

TEST_CASE("what was read once is read again from the cache") {
  const TemporaryFolder cache;
  const TemporaryVariable variable("HEADCOUNT_CACHE", cache.path().string());
  std::ofstream lines(cache.path() / "sections.tsv");
  for (int i = 0; i < 26; ++i)
    for (int j = 0; j < 4; ++j)
      lines << std::string(3, char('a' + i)) << std::string(2, char('k' + j)) << '\t'
            << (j % 2 ? "games\n" : "mail\n");
  lines.close();
  TaskConfig config;
  config.set("task.kind", "classify");
  config.set("task.data", "sections");
  const auto task = make_task(config);
  CHECK(task->classes() == std::vector<std::string>{"games", "mail"});
  CHECK_THAT(task->report(), ContainsSubstring("size: 104 labelled texts"));
}

#include "run/display.hpp"

#include "base/file.hpp"
#include "catch.hpp"
#include "task/process.hpp"

namespace headcount {
namespace {

using namespace std::chrono_literals;
using Style = SweepDisplay::Style;
using Time = SweepDisplay::Time;

// What a display has written.
class Paper {
 public:
  Paper() : file_(std::fopen(path().c_str(), "w")) { REQUIRE(file_); }
  ~Paper() { std::fclose(file_); }
  Paper(const Paper&) = delete;
  Paper& operator=(const Paper&) = delete;
  std::FILE* file() const { return file_; }
  std::string text() const { return read_file(path()); }

 private:
  std::filesystem::path path() const { return folder_.path() / "paper"; }
  TemporaryFolder folder_;
  std::FILE* file_;
};

TEST_CASE("a line fits the screen, in characters and not in bytes") {
  CHECK(fit("heads", 5) == "heads");
  CHECK(fit("heads", 4) == "hea…");
  CHECK(fit("Köpfe", 5) == "Köpfe");
  CHECK(fit("Köpfe", 3) == "Kö…");
  CHECK(fit("é", 1) == "é");
  CHECK(fit("ab", 0).empty());
  CHECK(fit("a\033[2Jb\nc", 9) == "a [2Jb c");  // nothing steers the terminal
}

TEST_CASE("on a terminal the table is drawn over itself") {
  const Paper paper;
  SweepDisplay display(Style::table, paper.file());
  display.show({{"one", "step 1"}, {"eleven", "step 2"}}, "0 done", Time{1s});
  const auto first = paper.text();
  CHECK_THAT(first, ContainsSubstring("one     step 1\n") &&
                        ContainsSubstring("eleven  step 2\n") && ContainsSubstring("0 done\n"));
  CHECK_FALSE(display.is_due(Time{1050ms}));
  display.show({{"one", "step 9"}}, "0 done", Time{1050ms});  // too soon
  CHECK(paper.text() == first);
  CHECK(display.is_due(Time{1100ms}));
  display.show({{"one", "step 9"}}, "1 done", Time{1100ms});
  const auto second = paper.text().substr(first.size());
  CHECK(second.starts_with("\033[3A\r\033[K"));  // three lines up
  CHECK(second.ends_with("1 done\n\033[J"));
  display.say("eleven is done");
  CHECK(paper.text().ends_with("1 done\n\033[J\033[2A\r\033[Jeleven is done\n"));
  CHECK(display.is_due(Time{1100ms}));  // the table is gone, and may come back
}

TEST_CASE("a table higher than the screen does not scroll away") {
  const Paper paper;
  SweepDisplay display(Style::table, paper.file());
  std::vector<SweepDisplay::Row> rows(100, {"trial", "runs"});
  display.show(rows, "sum", Time{1s});
  const auto text = paper.text();
  CHECK(std::count(text.begin(), text.end(), '\n') < 24);
  CHECK_THAT(text, ContainsSubstring("... and 79 more"));
}

TEST_CASE("elsewhere each trial is told of every ten seconds") {
  const Paper paper;
  SweepDisplay display(Style::lines, paper.file());
  display.show({{"one", "step 1"}}, "", Time{100s});
  display.show({{"one", "step 2"}}, "", Time{109s});
  CHECK(paper.text().empty());
  display.show({{"one", "step 3"}, {"two", "step 1"}}, "", Time{110s});
  display.show({{"one", "step 4"}, {"two", "step 2"}}, "", Time{119s});
  CHECK(paper.text() == "one  step 3\n");
  display.show({{"one", "step 5"}, {"two", "step 3"}}, "", Time{120s});
  CHECK(paper.text() == "one  step 3\none  step 5\ntwo  step 3\n");
}

TEST_CASE("a silent display tells only what went wrong") {
  const Paper paper;
  SweepDisplay display(Style::silent, paper.file());
  CHECK_FALSE(display.is_due(Time{1000s}));
  display.show({{"one", "step 1"}}, "sum", Time{1000s});
  display.say("is done");
  CHECK(paper.text().empty());
  display.warn("failed");
  CHECK(paper.text() == "failed\n");
}

}  // namespace
}  // namespace headcount

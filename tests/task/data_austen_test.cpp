#include "task/data_austen.hpp"

#include <map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "r_bytes.hpp"
#include "task/make_task.hpp"
#include "temporary.hpp"

using namespace headcount;
namespace fs = std::filesystem;

TEST_CASE("chapters by hand") {
  const auto chapters =
      chapters_of("emma",
                  "EMMA\n\nBy Jane Austen\n\nVOLUME I\n\nCHAPTER I\n\nEmma was.\n"
                  "Chapter and verse,\nVOLUME II\n\n  Chapter 2 \nOver.\nCHAPTER IX");
  REQUIRE(chapters.size() == 3);
  CHECK(chapters[0].name == "emma/chapter 1");
  CHECK(chapters[0].group == "emma");
  CHECK(chapters[0].text == "CHAPTER I\n\nEmma was.\nChapter and verse,\n\n");
  CHECK(chapters[1].text == "  Chapter 2 \nOver.\n");
  CHECK(chapters[2].name == "emma/chapter 3");
  CHECK(chapters[2].text == "CHAPTER IX");
  CHECK_THROWS_WITH(chapters_of("emma", "no heading\n"), ContainsSubstring("no chapter"));
}

TEST_CASE("novels are found by their titles and put in order") {
  std::string file;
  for (const auto* title : {"EMMA", "Persuasion", "MANSFIELD PARK", "NORTHANGER ABBEY", "something",
                            "PRIDE AND PREJUDICE"})
    file += r_bytes::record(r_bytes::character_vector({title, "", "text"}));
  CHECK_THROWS_WITH(novels_from_r_data(file), ContainsSubstring("'sense and sensibility'"));
  file += r_bytes::record(r_bytes::character_vector({"SENSE AND SENSIBILITY"}));
  const auto novels = novels_from_r_data(file);
  CHECK(novels.front() == "SENSE AND SENSIBILITY\n");
  CHECK(novels.back() == "Persuasion\n\ntext\n");
}

TEST_CASE("austen from the distribution, through the cache") {
  const TemporaryFolder cache;
  const TemporaryVariable variable("HEADCOUNT_CACHE", cache.path().string());
  TaskConfig config;
  const auto read = [&] { return find_data_source(config).read(config); };
  Corpus corpus;
  try {
    corpus = read();
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::no_input);
    WARN("SKIPPED: the package cannot be had here: " << error.what());
    return;
  }

  std::map<std::string, int> chapters;
  for (const auto& document : corpus.documents) ++chapters[document.group];
  CHECK(chapters == std::map<std::string, int>{{"sense and sensibility", 50},
                                               {"pride and prejudice", 61},
                                               {"mansfield park", 48},
                                               {"emma", 55},
                                               {"northanger abbey", 31},
                                               {"persuasion", 24}});
  CHECK(corpus.documents.front().text.find("The family of Dashwood") != std::string::npos);

  const auto task = make_task(config);
  CHECK(task->split(SplitName::test).clusters.front() == "persuasion/chapter 1");
  CHECK(task->split(SplitName::validation).clusters.front() == "northanger abbey/chapter 1");
  CHECK(task->split(SplitName::validation).clusters.size() == 31);

  // Nothing to run any more: the cache must do. A damaged cache is fetched anew.
  const fs::path novel = cache.path() / "austen/persuasion.txt";
  const std::string text = read_file(novel);
  const std::string hash = task->data_hash();
  fs::resize_file(novel, 1000);
  CHECK(make_task(config)->data_hash() == hash);
  CHECK(read_file(novel) == text);
  const TemporaryVariable no_programs("PATH", "/nowhere");
  CHECK(make_task(config)->data_hash() == hash);
  CHECK(data_report(config).find((cache.path() / "austen").string()) != std::string::npos);
}

TEST_CASE("without apt the message says what to do") {
  if (fs::exists("/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb")) {
    WARN("SKIPPED: the package is installed here, so nothing has to be fetched");
    return;
  }
  const TemporaryFolder cache;
  const TemporaryVariable own_cache("HEADCOUNT_CACHE", cache.path().string());
  const TemporaryVariable no_programs("PATH", "/nowhere");
  try {
    make_task({});
    FAIL("austen was fetched without apt-get");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::no_input);
    CHECK_THAT(error.what(), ContainsSubstring("cannot run apt-get") &&
                                 ContainsSubstring("file:PATH") &&
                                 ContainsSubstring("synthetic.recall"));
  }
  CHECK(!fs::exists(cache.path() / "austen"));
}

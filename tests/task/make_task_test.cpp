#include "task/make_task.hpp"

#include <set>

#include "catch.hpp"
#include "task/data_source.hpp"
#include "task/tokenizer.hpp"
#include "temporary.hpp"

using namespace headcount;

TEST_CASE("keys of the task section are declared once, and understood by someone") {
  std::set<std::string> names, understood{"task.kind", "task.data"};
  for (const TaskKey& key : task_keys()) {
    CAPTURE(key.name);
    CHECK(names.insert(key.name).second);
    CHECK(key.name.starts_with("task."));
    CHECK_FALSE(key.help.empty());
  }
  const auto note = [&](const auto& registry) {
    for (const auto& entry : registry.entries())
      for (const TaskKey& key : entry.keys) understood.insert(key.name);
  };
  note(tasks());
  note(data_sources());
  note(tokenizers());
  CHECK(names == understood);
}

TEST_CASE("keys that the task does not ask for have no effect") {
  using Names = std::vector<std::string>;
  TaskConfig config;
  CHECK(keys_without_effect(config).empty());
  config.set("task.masked", 0.2);
  config.set("task.recall-pairs", std::int64_t{3});
  CHECK(keys_without_effect(config) == Names{"task.masked", "task.recall-pairs"});
  config.set("task.kind", "masked-lm");
  CHECK(keys_without_effect(config) == Names{"task.recall-pairs"});
  config.set("task.kind", "language-model");
  config.set("task.data", "synthetic.recall");
  config.set("task.block", std::int64_t{32});
  CHECK(keys_without_effect(config) == Names{"task.block", "task.masked"});
  config.set("task.data", "nowhere");
  CHECK_THROWS_WITH(keys_without_effect(config), ContainsSubstring("nowhere"));
}

TEST_CASE("a report says where the data lies and what it holds") {
  const TemporaryFile file(std::string(80, 'a') + std::string(20, 'b'));
  TaskConfig config;
  config.set("task.data", "file:" + file.path());
  config.set("task.block", 4);
  const std::string report = data_report(config);
  for (const std::string& line :
       {"path: " + file.path(), std::string("size: 100 bytes, 100 characters, 1 documents"),
        std::string("train: 80 tokens, 80 characters"), std::string("vocabulary: 2 symbols"),
        std::string("validation: 3 examples, 9 targets in 1 clusters"),
        "data hash: " + make_task(config)->data_hash()})
    CHECK_THAT(report, ContainsSubstring(line));
}

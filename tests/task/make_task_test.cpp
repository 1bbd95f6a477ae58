#include "task/make_task.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "temporary.hpp"

using namespace headcount;

TEST_CASE("unknown kinds and tokenizers are refused with the nearest name") {
  const TemporaryFile file("some text that is long enough");
  TaskConfig config;
  config.data = "file:" + file.path();
  config.kind = "language_model";
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("did you mean 'language-model'?"));
  config.kind = "language-model";
  config.tokenizer = "characters";
  CHECK_THROWS_WITH(make_task(config), ContainsSubstring("did you mean 'character'?"));
}

TEST_CASE("a report says where the data lies and what it holds") {
  const TemporaryFile file(std::string(80, 'a') + std::string(20, 'b'));
  TaskConfig config;
  config.data = "file:" + file.path();
  config.block = 4;
  const std::string report = data_report(config);
  for (const std::string& line :
       {"path: " + file.path(), std::string("size: 100 bytes, 100 characters, 1 documents"),
        std::string("train: 80 tokens, 80 characters"), std::string("vocabulary: 2 symbols"),
        std::string("validation: 3 examples, 9 targets in 1 documents"),
        "data hash: " + make_task(config)->data_hash()})
    CHECK_THAT(report, ContainsSubstring(line));
}

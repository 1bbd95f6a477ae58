#include "task/data_source.hpp"

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("sources are found by name, files by their prefix") {
  TaskConfig config;
  config.set("task.data", "file:austen");
  CHECK(find_data_source(config).about.name == "file:PATH");
  for (const std::string name : {"austen", "synthetic.recall"}) {
    config.set("task.data", name);
    CHECK(find_data_source(config).about.name == name);
  }
  config.set("task.data", "synthetic.recal");
  CHECK_THROWS_WITH(find_data_source(config),
                    ContainsSubstring("did you mean 'synthetic.recall'?"));
}

TEST_CASE("a source reads or generates, and says what it is") {
  for (const DataSource& source : data_sources().entries()) {
    CHECK((source.read || source.read_labelled || source.generate));
    CHECK_FALSE((source.read && source.generate));
    CHECK(!source.about.definition.empty());
  }
}

#include "task/config.hpp"

#include <cmath>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/make_task.hpp"

using namespace headcount;
namespace {

ExitCode code_of(auto&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::success;
}

}  // namespace

TEST_CASE("a key has its default until it is set") {
  TaskConfig config;
  CHECK(config.text("task.kind") == "language-model");
  CHECK(config.text("task.data") == "austen");
  CHECK(config.real("task.validation") == 0.1);
  CHECK(config.integer("task.block") == 128);
  config.set("task.block", 7);
  CHECK(config.integer("task.block") == 7);
  CHECK(TaskConfig().integer("task.block") == 128);
  for (const TaskKey& key : task_keys()) {
    CAPTURE(key.name);
    std::visit([&](const auto& type) { CHECK_NOTHROW(config.set(key.name, type.fallback)); },
               key.type);
  }
}

TEST_CASE("a value that a key does not take is refused with what it takes") {
  TaskConfig config;
  CHECK_THROWS_WITH(config.set("task.block", 0), "task.block = 0 is outside 1 .. 65536");
  CHECK_THROWS_WITH(config.set("task.vocabulary", 1), "task.vocabulary = 1 is outside 2 or more");
  CHECK_THROWS_WITH(config.set("task.test", 1.0), "task.test = 1 is outside [0, 1)");
  CHECK_THROWS_WITH(config.set("task.test", std::nan("")), ContainsSubstring("[0, 1)"));
  CHECK_THROWS_WITH(config.set("task.kind", "language_model"),
                    ContainsSubstring("did you mean 'language-model'?"));
  CHECK_THROWS_WITH(config.set("task.tokenizer", "characters"),
                    ContainsSubstring("did you mean 'character'?"));
  CHECK(code_of([&] { config.set("task.block", 0); }) == ExitCode::bad_data);
  CHECK(config.integer("task.block") == 128);
  CHECK(config.text("task.kind") == "language-model");
}

TEST_CASE("another key or type is a bug of ours") {
  TaskConfig config;
  const auto fails = [](auto&& act) { return code_of(act) == ExitCode::internal; };
  CHECK(fails([&] { config.set("task.blocks", 1); }));
  CHECK(fails([&] { config.set("task.block", 1.0); }));
  CHECK(fails([&] { config.set("task.test", 0); }));
  CHECK(fails([&] { config.integer("task.blocks"); }));
  CHECK(fails([&] { config.integer("task.test"); }));
  CHECK(fails([&] { config.real("task.block"); }));
  CHECK(fails([&] { config.text("task.block"); }));
}

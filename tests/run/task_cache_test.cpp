#include "run/task_cache.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

TEST_CASE("trials that differ elsewhere share their data") {
  TaskCache cache;
  const auto& first = cache.task(tiny_settings());
  CHECK(&cache.task(tiny_settings({"train.steps=9", "seed=3"})) == &first);
  CHECK(&cache.task(tiny_settings({"task.recall-pairs=3"})) != &first);
  CHECK(&cache.task(tiny_settings()) == &first);
}

TEST_CASE("data that change while a sweep runs are told when they are made again") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "text.txt";
  const auto write = [&](const std::string& word) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += word;
    write_text(path, text);
  };
  write("a rose is ");
  const auto settings = tiny_settings({"task.data=file:" + path.string(), "task.block=16"});
  TaskCache cache;
  const auto hash = cache.task(settings).data_hash();
  write("a nose is ");
  CHECK(cache.task(settings).data_hash() == hash);  // kept as it was
  for (std::size_t i = 0; i < TaskCache::kKept; ++i)
    cache.task(tiny_settings({"task.recall-examples=" + std::to_string(20 + i)}));
  CHECK_THROWS_WITH(cache.task(settings), ContainsSubstring("changed while the sweep runs"));
  write("a rose is ");
  CHECK(cache.task(settings).data_hash() == hash);
}

}  // namespace
}  // namespace headcount

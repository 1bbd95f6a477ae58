#include "task/process.hpp"

#include <fstream>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
namespace fs = std::filesystem;

TEST_CASE("a program gets its arguments as they are, in its folder") {
  const TemporaryFolder folder;
  const auto result = run_process({"printf", "%s|", "a b", "$HOME; echo x", "*"}, folder.path());
  CHECK(result.ok());
  CHECK(result.output == "a b|$HOME; echo x|*|");
  CHECK(fs::canonical(
            run_process({"pwd"}, folder.path()).output.substr(0, folder.path().string().size())) ==
        fs::canonical(folder.path()));
}

TEST_CASE("status, signals, errors and the tail of the output come back") {
  const TemporaryFolder folder;
  CHECK(run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, folder.path()).status == 3);
  CHECK(run_process({"sh", "-c", "echo out; echo err >&2"}, folder.path()).output == "out\nerr\n");
  CHECK(run_process({"sh", "-c", "kill -9 $$"}, folder.path()).status == 128 + 9);
  CHECK(run_process({"cat"}, folder.path()).output.empty());  // no input to wait for
  const auto long_output = run_process({"seq", "100000"}, folder.path()).output;
  CHECK(long_output.size() == 4000);
  CHECK(long_output.ends_with("\n100000\n"));
  CHECK_THROWS_WITH(run_process({"no-such-program-here"}, folder.path()),
                    ContainsSubstring("cannot run no-such-program-here"));
}

TEST_CASE("the output of a program goes whole to a file, its errors come back") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "numbers";
  std::ofstream(file) << std::string(1'000'000, 'x');  // is made anew
  const auto result = run_process({"sh", "-c", "seq 100000; echo err >&2"}, folder.path(), file);
  CHECK(result.ok());
  CHECK(result.output == "err\n");
  CHECK(fs::file_size(file) == 588'895);
  CHECK_THROWS_AS(run_process({"true"}, folder.path(), folder.path() / "none/file"), Error);
}

TEST_CASE("a temporary folder is private and goes away") {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    fs::create_directories(path / "a/b");
  }
  CHECK(!fs::exists(path));
}

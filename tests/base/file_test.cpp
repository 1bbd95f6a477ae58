#include "base/file.hpp"

#include <cstdlib>
#include <fstream>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "headcount-base-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

ExitCode code_of(const fs::path& path, std::size_t limit = 100) {
  try {
    read_file(path, limit);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring(path.string()));
    return error.code();
  }
  return ExitCode::success;
}

}  // namespace

TEST_CASE("a file is read whole, within a limit") {
  const Folder folder;
  write(folder / "a", std::string("x\0y\n", 4));
  CHECK(read_file(folder / "a") == std::string("x\0y\n", 4));
  CHECK(code_of(folder / "a", 4) == ExitCode::success);
  CHECK(code_of(folder / "a", 3) == ExitCode::bad_data);
  CHECK(code_of(folder / "missing") == ExitCode::no_input);
  CHECK(code_of(folder / ".") == ExitCode::no_input);
  ::mkfifo((folder / "pipe").c_str(), 0600);
  CHECK(code_of(folder / "pipe") == ExitCode::no_input);  // and does not hang
}

TEST_CASE("a file is published whole or not at all") {
  const Folder folder;
  write(folder / "a", "old");
  publish_file(folder / "a", [&](const fs::path& temporary) {
    CHECK(temporary.parent_path() == (folder / "a").parent_path());
    CHECK(read_file(folder / "a") == "old");
    write(temporary, "new");
    CHECK(read_file(folder / "a") == "old");
  });
  CHECK(read_file(folder / "a") == "new");
  CHECK(folder.files() == 1);

  CHECK_THROWS_WITH(publish_file(folder / "a",
                                 [](const fs::path& temporary) {
                                   write(temporary, "half");
                                   throw std::runtime_error("interrupted");
                                 }),
                    "interrupted");
  CHECK(read_file(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("two that publish at once have temporary files of their own") {
  const Folder folder;
  publish_file(folder / "a", [&](const fs::path& outer) {
    write(outer, "outer");
    publish_file(folder / "a", [&](const fs::path& inner) {
      CHECK(inner != outer);
      write(inner, "inner");
    });
    CHECK(read_file(folder / "a") == "inner");
  });
  CHECK(read_file(folder / "a") == "outer");
  CHECK(folder.files() == 1);
}

TEST_CASE("only what dead processes of this host left is removed") {
  const Folder folder;
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  fs::path name;  // of a temporary file of this process
  publish_file(folder / "a.b", [&](const fs::path& temporary) { name = temporary.filename(); });
  const auto mine = std::to_string(::getpid());
  const auto like = [&](const std::string& what, const std::string& other) {
    auto text = name.string();
    return folder / text.replace(text.rfind(what), what.size(), other).c_str();
  };
  const std::vector<fs::path> stay{folder / name.c_str(),
                                   like("." + mine, "-not." + std::to_string(dead)),
                                   like(".part", ".h5"), folder / "x.part", folder / ".part"};
  for (const auto& path : stay) write(path, "half");
  write(like(mine, std::to_string(dead)), "half");
  CHECK(remove_abandoned(folder / ".") == 1);
  CHECK_FALSE(fs::exists(like(mine, std::to_string(dead))));
  for (const auto& path : stay) CHECK(fs::exists(path));
  CHECK(remove_abandoned(folder / "missing") == 0);
}

TEST_CASE("where nothing can be created is told") {
  const Folder folder;
  try {
    publish_file(folder / "none" / "a", [](const fs::path&) { FAIL("not reached"); });
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::cannot_create);
  }
}

TEST_CASE("the cache lies where the environment says") {
  const char* kept = std::getenv("HEADCOUNT_CACHE");
  const std::string old = kept ? kept : "";
  ::setenv("HEADCOUNT_CACHE", "/somewhere/else", 1);
  CHECK(cache_directory() == "/somewhere/else");
  ::setenv("HEADCOUNT_CACHE", "", 1);
  CHECK(cache_directory() != "/somewhere/else");
  if (kept)
    ::setenv("HEADCOUNT_CACHE", old.c_str(), 1);
  else
    ::unsetenv("HEADCOUNT_CACHE");
}

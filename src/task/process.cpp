#include "task/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0)
      throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

  // Everything up to the end, of which only the tail is kept.
  std::string read_tail(std::size_t limit) {
    std::string tail;
    char buffer[4096];
    for (;;) {
      const ssize_t got = ::read(ends_[0], buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return tail;
      tail.append(buffer, static_cast<std::size_t>(got));
      if (tail.size() > limit) tail.erase(0, tail.size() - limit);
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Error(ExitCode::io, fmt::format("cannot wait for a program: {}", std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const fs::path& folder,
                          const fs::path& output) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  Pipe pipe;
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipe.writer(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipe.writer(), STDERR_FILENO);
  if (!output.empty())
    ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, output.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addchdir_np(actions.get(), folder.c_str());
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments.at(0).c_str(), actions.get(), nullptr, argv.data(), environ);
  if (error != 0)
    throw Error(ExitCode::no_input,
                fmt::format("cannot run {}: {}", arguments[0], std::strerror(error)));
  pipe.close_writer();

  ProcessResult result;
  result.output = pipe.read_tail(4000);
  result.status = wait_for(child);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "headcount.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot create {}: {}", name, std::strerror(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace headcount

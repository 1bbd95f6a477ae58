#include "run/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "run/held_signals.hpp"

#ifdef HEADCOUNT_COVERAGE
extern "C" void __gcov_dump(void);  // NOLINT: gcc's name
#endif

namespace headcount {
namespace {

void become_child(pid_t parent) {
  ::setpgid(0, 0);
  std::signal(SIGPIPE, SIG_IGN);  // a parent that is gone is told by SIGTERM
  std::signal(SIGUSR1, SIG_IGN);
  stop_on_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) request_interrupt();  // it died before it could be watched
  if (const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::close(null);
  }
}

// Nothing thrown in the child may reach what the parent was doing.
TrialEnd end_of(const std::function<TrialEnd(const Reporter&)>& work, const Reporter& reporter) {
  try {
    return work(reporter);
  } catch (const std::exception& error) {
    return {TrialEnd::How::failed, fmt::format("{} (a bug; please report it)", error.what()),
            ExitCode::internal, false};
  }
}

// No destructors and no exit handlers: they are the parent's.
[[noreturn]] void leave(ExitCode code) {
  std::fflush(stdout);
  std::fflush(stderr);
#ifdef HEADCOUNT_COVERAGE
  __gcov_dump();
#endif
  ::_exit(static_cast<int>(code));
}

bool write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return true;
}

std::string line_of(const Json& json) { return to_text(json) + "\n"; }

std::string name_of_signal(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? fmt::format("signal {} (SIG{})", number, name) : fmt::format("signal {}", number);
}

}  // namespace

void Reporter::news(const TrialNews& news) const {
  constexpr std::size_t kLongest = 400;  // so that the line goes through the pipe in one piece
  const auto line = line_of({{"text", news.text.substr(0, kLongest)}, {"step", news.step}});
  if (line.size() <= PIPE_BUF)
    static_cast<void>(::write(descriptor_, line.data(), line.size()) == 0);
}

void Reporter::end(const TrialEnd& end) const {
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  write_all(descriptor_, line_of({{"end", static_cast<int>(end.how)},
                                  {"reason", end.reason},
                                  {"code", static_cast<int>(end.code)},
                                  {"recorded", end.recorded}}));
}

ChildProcess::ChildProcess(const std::function<TrialEnd(const Reporter&)>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ExitCode::try_again, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  std::fflush(stdout);  // or the child would print it again
  std::fflush(stderr);
  const pid_t parent = ::getpid();
  {
    const HeldSignals held;  // so that a child has its handlers before the first reaches it
    pid_ = ::fork();
    if (pid_ == 0) become_child(parent);
  }
  if (pid_ == 0) {
    ::close(ends[0]);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const Reporter reporter(ends[1]);
    const TrialEnd end = end_of(work, reporter);
    reporter.end(end);
    leave(end.code);
  }
  const int problem = errno;
  ::close(ends[1]);
  if (pid_ < 0) {
    ::close(ends[0]);
    throw Error(ExitCode::try_again,
                fmt::format("cannot start a process: {}", std::strerror(problem)));
  }
  ::setpgid(pid_, pid_);  // whoever of the two comes first
  pipe_ = ends[0];
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    signal(SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(pipe_);
}

bool ChildProcess::read() {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(pipe_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return true;
    if (got == 0) return false;
    unread_.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = unread_.find('\n')) != std::string::npos;) {
      take(unread_.substr(0, end));
      unread_.erase(0, end + 1);
    }
  }
}

void ChildProcess::take(const std::string& line) {
  const auto message = parse_json(line);
  if (!message.is_object()) return;
  if (message.contains("end"))
    end_ = {static_cast<TrialEnd::How>(message["end"].get<int>()),
            message["reason"].get<std::string>(), static_cast<ExitCode>(message["code"].get<int>()),
            message["recorded"].get<bool>()};
  else
    news_ = {message["text"].get<std::string>(), message["step"].get<std::int64_t>()};
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

TrialEnd ChildProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return end_ ? *end_ : end_by(status);
}

TrialEnd ChildProcess::end_by(int status) const {
  using How = TrialEnd::How;
  if (!WIFSIGNALED(status))
    return {
        How::crashed,
        fmt::format("its process ended with exit code {} and without a word", WEXITSTATUS(status)),
        ExitCode::internal};
  const int number = WTERMSIG(status);
  auto reason = "killed by " + name_of_signal(number);
  if (number == SIGKILL) reason += "; perhaps the machine ran out of memory";
  return {How::crashed, reason, ExitCode::internal};
}

}  // namespace headcount

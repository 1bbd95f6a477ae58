#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/error.hpp"

namespace headcount {

// How a trial's process ended.
struct TrialEnd {
  enum class How {
    done,         // the result is published
    skipped,      // the result was there already
    held,         // another owner holds the trial's lock
    failed,       // for a reason that would be the same next time
    crashed,      // killed by a signal, or out of memory: may go better next time
    interrupted,  // was asked to stop
  };
  How how = How::done;
  std::string reason = {};  // of failed and crashed
  ExitCode code = ExitCode::success;
  bool recorded = false;  // the reason lies in <trial>.failed.json
};

// What a running trial last said of itself.
struct TrialNews {
  std::string text;       // for people
  std::int64_t step = 0;  // of training
};

// The child's end of the pipe to its parent.
class Reporter {
 public:
  explicit Reporter(int descriptor) : descriptor_(descriptor) {}

  // Never waits: news that the pipe cannot take are dropped.
  void news(const TrialNews& news) const;
  // Waits until the parent has room for it.
  void end(const TrialEnd& end) const;

 private:
  int descriptor_;
};

// A child process that runs one trial: a fork of this process, in a process group of its own so
// that Ctrl-C on a terminal reaches the parent alone. It is asked to stop (SIGTERM) when its parent
// dies. The parent must have one thread only.
class ChildProcess {
 public:
  // Runs `work` in the child and reports what it returns. Throws Error (try_again) where no process
  // can be made.
  explicit ChildProcess(const std::function<TrialEnd(const Reporter&)>& work);
  // Asks it to stop and waits, where wait() was not called.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  int descriptor() const { return pipe_; }  // readable when there is news, or the child has ended

  // Takes what the child has said so far. False when it will say nothing more.
  bool read();
  const TrialNews& news() const { return news_; }

  void signal(int number) const;

  // Waits for the process. A child that ended without a word says by its status why.
  TrialEnd wait();

 private:
  void take(const std::string& line);
  TrialEnd end_by(int status) const;

  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string unread_;
  TrialNews news_;
  std::optional<TrialEnd> end_;
};

}  // namespace headcount

#include "run/trial_process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "run/lock.hpp"
#include "run/memory.hpp"
#include "run/provenance.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

using How = TrialEnd::How;

void write_output_to(const fs::path& log) {
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0)
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot write {}: {}", log.string(), std::strerror(errno)));
  ::dup2(fd, STDOUT_FILENO);
  ::dup2(fd, STDERR_FILENO);
  ::close(fd);
}

void note(const std::string& what) { fmt::print(stderr, "{} {}\n", utc_now(), what); }

// The training step an event tells of; 0 for none.
std::int64_t step_of(const std::string& event) {
  const auto json = parse_json(event);
  const bool has_step =
      json.is_object() && json.contains("step") && json["step"].is_number_integer();
  return has_step ? json["step"].get<std::int64_t>() : 0;
}

// Runs the trial; the lock is held.
TrialEnd run(const TrialAssignment& assignment, const Reporter& reporter) {
  const auto& job = assignment.job;
  const auto& files = assignment.files;
  // What another runner did between this one's look and its lock.
  if (fs::exists(files.result) && !validate(files.result)) return {.how = How::skipped};
  if (file_stamp(files.failure) != assignment.known_failure)
    if (const auto failure = read_failure(files.failure))
      return {How::failed, failure->reason, failure->code, true};

  std::error_code ignored;
  fs::remove(files.failure, ignored);
  write_output_to(files.log);
  note(fmt::format("{} starts in process {} on {}{}", job.id, ::getpid(), host_name(),
                   assignment.core ? fmt::format(", core {}", *assignment.core) : ""));
  if (job.trained) note("may take its training from " + job.trained->string());
  std::optional<MemoryLimit> limit;
  if (assignment.memory) limit.emplace(*assignment.memory);
  ThreadTeam team(assignment.threads);
  TrialNews last;
  Progress progress(job.spec->slug, files.curve, false,
                    [&](const std::string& text, const std::string& event) {
                      last = {text, std::max(last.step, step_of(event))};
                      reporter.news(last);
                    });
  run_trial(job, team, progress);
  note("is done");
  return {.how = How::done};
}

TrialEnd failed(const TrialAssignment& assignment, const std::string& reason, ExitCode code) {
  TrialEnd end{How::failed, reason, code, false};
  try {
    write_failure(assignment.files.failure, {assignment.job.id, reason, code});
    end.recorded = true;
  } catch (const std::exception&) {  // the parent tries again, and says so
  }
  return end;
}

TrialEnd out_of_memory(const TrialAssignment& assignment) {
  if (assignment.memory)
    return failed(assignment,
                  fmt::format("out of memory: it needs more than the {} that --memory allows",
                              bytes_text(*assignment.memory)),
                  ExitCode::bad_data);
  return {How::crashed, "out of memory", ExitCode::internal, false};
}

// Calls `work` and makes an end of whatever it throws.
template <class Work>
TrialEnd end_of(const TrialAssignment& assignment, const Work& work) {
  try {
    return work();
  } catch (const Interrupted& interrupted) {
    return {How::interrupted, interrupted.what(), interrupted.code(), false};
  } catch (const Error& error) {
    return failed(assignment, error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return out_of_memory(assignment);
  } catch (const std::system_error& error) {  // a thread could not be made
    if (error.code() == std::errc::resource_unavailable_try_again) return out_of_memory(assignment);
    return failed(assignment, error.what(), ExitCode::io);
  } catch (const std::exception& error) {
    return failed(assignment, fmt::format("{} (a bug; please report it)", error.what()),
                  ExitCode::internal);
  }
}

}  // namespace

TrialEnd run_assignment(const TrialAssignment& assignment, const Reporter& reporter) {
  if (assignment.core) stay_on_core(*assignment.core);
  return end_of(assignment, [&]() -> TrialEnd {
    const auto lock =
        TrialLock::take(assignment.files.lock, assignment.lock_token, assignment.stale_lock);
    if (!lock) return {.how = How::held};
    // Whatever happens is recorded before the lock is given back.
    auto end = end_of(assignment, [&] { return run(assignment, reporter); });
    if (!end.reason.empty()) note(end.reason);
    return end;
  });
}

}  // namespace headcount

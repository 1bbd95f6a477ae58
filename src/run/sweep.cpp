#include "run/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "math/product.hpp"
#include "run/calibration.hpp"
#include "run/checkpoint.hpp"
#include "run/child.hpp"
#include "run/config.hpp"
#include "run/core_pool.hpp"
#include "run/cost.hpp"
#include "run/display.hpp"
#include "run/held_signals.hpp"
#include "run/lock.hpp"
#include "run/manifest.hpp"
#include "run/memory.hpp"
#include "run/task_cache.hpp"
#include "run/trained_files.hpp"
#include "run/trial_files.hpp"
#include "run/trial_process.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using Status = TrialOutcome::Status;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
}

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// "14:05" on the wall, that many seconds from now.
std::string time_of_day_in(double seconds) {
  const std::time_t then = std::time(nullptr) + static_cast<std::time_t>(seconds);
  std::tm local{};
  ::localtime_r(&then, &local);
  return fmt::format("{:02}:{:02}", local.tm_hour, local.tm_min);
}

volatile std::sig_atomic_t checkpoint_signal = 0;
void on_checkpoint_signal(int) { checkpoint_signal = 1; }

// SIGUSR1 while a sweep runs: for its children, who write a checkpoint.
class CheckpointSignal {
 public:
  CheckpointSignal() {
    struct sigaction action {};
    action.sa_handler = on_checkpoint_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~CheckpointSignal() { ::sigaction(SIGUSR1, &before_, nullptr); }
  CheckpointSignal(const CheckpointSignal&) = delete;
  CheckpointSignal& operator=(const CheckpointSignal&) = delete;

  bool is_pending() const { return checkpoint_signal != 0; }
  bool take() const { return std::exchange(checkpoint_signal, 0) != 0; }

 private:
  struct sigaction before_ {};
};

// The library of products makes its machine code at the first call, which takes longer than a tiny
// trial. Made here, on this one thread, it is there for all children. A wrong HEADCOUNT_LEVEL is an
// error here, once.
void warm_up_products() {
  static_cast<void>(kernels<float>());
  for (const Index size : {64, 8, 1}) {  // each size has its own kernels
    const Matrix<float> ones = Matrix<float>::Ones(size, size);
    Matrix<float> result = Matrix<float>::Zero(size, size);
    product<float>(ones, ones, result);
    product_bt<float>(ones, ones, result, Accumulate::yes);
    product_at<float>(ones, ones, result, Accumulate::yes);
  }
}

// Where none fits, trials are weighed by their arithmetic.
std::optional<Calibration> calibration_if_any() {
  try {
    return read_calibration(calibration_path());
  } catch (const Error&) {
    return std::nullopt;
  }
}

// One trial on its way through the sweep.
struct Entry {
  enum class Phase { ready, running, elsewhere, ended };  // elsewhere: another runner has its lock

  Entry(const TrialSpec& trial, const fs::path& folder, const std::string& id)
      : spec(&trial), files(folder, id) {
    outcome.trial_id = id;
  }

  const TrialSpec* spec;
  TrialFiles files;
  TrialOutcome outcome;
  std::string model;  // model_id
  TrialCost cost;
  std::string known_failure;  // stamp of the failure that was there at the start
  Phase phase = Phase::ready;
  int crashes = 0;
  std::string stale_lock;  // stamp of a lock that may be taken over
  std::string elsewhere;   // who has the lock

  // While it runs.
  std::unique_ptr<ChildProcess> child;
  std::string lock_token;
  std::optional<int> core;
  Clock::time_point began;

  // With what the program and its libraries take.
  double bytes() const {
    constexpr double kProgram = 32e6;
    return kProgram + cost.bytes;
  }

  // What its time will be proportional to.
  double work() const { return std::isnan(cost.seconds) ? cost.flops : cost.seconds; }

  double done_share() const {  // of its work; training is most of it
    const auto steps = spec->settings.integer("train.steps");
    return steps == 0 || !child
               ? 0
               : static_cast<double>(child->news().step) / static_cast<double>(steps);
  }
};

class Sweep {
 public:
  Sweep(const Experiment& experiment, const SweepOptions& options)
      : experiment_(experiment),
        options_(options),
        budget_(options.memory ? static_cast<double>(*options.memory)
                               : 0.9 * static_cast<double>(available_memory())),
        display_(SweepDisplay::style_of_stderr(options.quiet), stderr) {}

  std::vector<TrialOutcome> run() {
    make_folder(options_.out);
    remove_abandoned(options_.out);
    prepare();
    write_manifest();
    get_ready();
    run_all();
    remove_abandoned(options_.out);
    std::vector<TrialOutcome> outcomes;
    for (auto& entry : entries_) outcomes.push_back(std::move(entry.outcome));
    return outcomes;
  }

 private:
  using Phase = Entry::Phase;
  using How = TrialEnd::How;

  // ---- before the first trial starts

  // Trials that share their data one after another, so that each data are made once.
  void prepare() {
    const auto& trials = experiment_.trials;
    std::vector<std::optional<Entry>> prepared(trials.size());
    std::map<std::string, std::vector<std::size_t>> by_task;
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      auto& sharing = by_task[TaskCache::key_of(trials[i].settings)];
      if (sharing.empty()) keys.push_back(TaskCache::key_of(trials[i].settings));
      sharing.push_back(i);
    }
    for (const auto& key : keys)
      for (const auto i : by_task[key]) prepared[i].emplace(prepare(trials[i]));
    for (auto& entry : prepared) entries_.push_back(std::move(*entry));
    for (std::size_t i = 0; i < entries_.size(); ++i) look_at_result(entries_[i], i + 1);

    order_.resize(entries_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return entries_[a].work() > entries_[b].work();
    });
  }

  Entry prepare(const TrialSpec& trial) {
    throw_if_interrupted();
    try {
      const Task& task = tasks_.task(trial.settings);
      Entry entry(trial, options_.out, trial_id(trial.slug, trial.settings, task.data_hash()));
      entry.outcome.path = entry.files.result;
      entry.model = model_id(trial.settings, task.data_hash());
      entry.cost = trial_cost(trial.settings, sizes_of(task),
                              calibration_ ? &*calibration_ : nullptr, options_.threads);
      entry.known_failure = file_stamp(entry.files.failure);
      return entry;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {  // data that cannot be had
      Entry entry(trial, options_.out, trial.slug);
      fail(entry, error.what(), error.code());
      return entry;
    }
  }

  void look_at_result(Entry& entry, std::size_t number) {
    throw_if_interrupted();
    if (entry.phase == Phase::ended || !fs::exists(entry.files.result)) return;
    const auto label = fmt::format("[{}/{}] {}", number, entries_.size(), entry.spec->slug);
    if (const auto problem = validate(entry.files.result)) {
      display_.warn(fmt::format("{} runs again: {}", label, *problem));
      return;
    }
    display_.say(fmt::format("{} is done already: {}", label, entry.files.result.string()));
    end_well(entry, Status::skipped);
  }

  void write_manifest() {
    if (!options_.trained.empty()) return;
    Manifest manifest{experiment_.name, options_.spec, {}};
    for (const auto& entry : entries_)
      manifest.trials.push_back({entry.outcome.trial_id, entry.spec->slug, entry.spec->axis_values,
                                 entry.spec->settings.integer("train.steps"), entry.work()});
    if (const auto change = what_changed(options_.out, manifest)) display_.say("note: " + *change);
    headcount::write_manifest(options_.out, manifest);
  }

  void get_ready() {
    const bool any = count(Phase::ready) > 0;
    if (any) warm_up_products();
    if (any && !options_.restart) trained_.search(options_.out, options_.look_beside);
    const auto threads = std::thread::hardware_concurrency();
    const auto wanted =
        static_cast<unsigned>(options_.jobs) * static_cast<unsigned>(options_.threads);
    if (any && threads > 0 && wanted > threads)
      display_.say(
          fmt::format("note: {} jobs of {} threads are more than the {} of this machine; "
                      "results do not change, they take longer",
                      options_.jobs, options_.threads, threads));
  }

  // ---- while trials run

  void run_all() {
    for (;;) {
      obey();
      if (!stopping_) {
        look_elsewhere();
        start_what_can();
      }
      if (running_.empty() && (stopping_ || count(Phase::elsewhere) == 0)) break;
      draw();
      listen();
    }
    const bool all_ended = count(Phase::ended) == static_cast<int>(entries_.size());
    if (interrupt_requested() && !all_ended) throw Interrupted();
  }

  void obey() {
    if (checkpoint_signal_.take()) signal_all(SIGUSR1);
    if (interrupt_requested()) stop();
  }

  // Starts no more, and lets those that run write a checkpoint.
  void stop() {
    if (!std::exchange(stopping_, true)) signal_all(SIGTERM);
  }

  void signal_all(int number) {
    for (const auto* entry : running_) entry->child->signal(number);
  }

  void start_what_can() {
    for (const auto i : order_) {
      if (stopping_ || std::ssize(running_) >= options_.jobs) return;
      auto& entry = entries_[i];
      if (entry.phase == Phase::ready && !is_too_large(entry) && has_room(entry) &&
          need_not_wait(entry) && !is_locked(entry))
        start(entry);
    }
  }

  bool is_too_large(Entry& entry) {
    if (!options_.memory || entry.bytes() <= budget_) return false;
    fail(entry,
         fmt::format("needs about {}, more than the {} of --memory",
                     bytes_text(static_cast<std::int64_t>(entry.bytes())),
                     bytes_text(*options_.memory)),
         ExitCode::bad_data);
    return true;
  }

  bool has_room(const Entry& entry) const {
    double used = 0;
    for (const auto* other : running_) used += other->bytes();
    return running_.empty() || budget_ == 0 || used + entry.bytes() <= budget_;
  }

  // Of trials that train the same model, the first trains while the others wait.
  bool need_not_wait(const Entry& entry) const {
    return !options_.trained.empty() || trained_.find(entry.model) ||
           std::none_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
             return other.model == entry.model &&
                    (other.phase == Phase::running || other.phase == Phase::elsewhere);
           });
  }

  // Whether another runner holds the trial; then it is left alone until that has ended.
  bool is_locked(Entry& entry) {
    const auto lock = read_lock(entry.files.lock);
    if (!lock) return false;
    if (watch_.is_stale(entry.files.lock, *lock, Clock::now())) {
      entry.stale_lock = lock->stamp;
      return false;
    }
    leave_to(entry, lock->owner);
    return true;
  }

  void leave_to(Entry& entry, const LockOwner& owner) {
    if (entry.elsewhere.empty())
      display_.say(owner.host.empty()
                       ? fmt::format("{} waits: its lock cannot be read", entry.spec->slug)
                       : fmt::format("{} is left to process {} on {}", entry.spec->slug, owner.pid,
                                     owner.host));
    entry.phase = Phase::elsewhere;
    entry.elsewhere = owner.host.empty()
                          ? "its lock cannot be read; it is taken over after a minute"
                          : fmt::format("runs in process {} on {}", owner.pid, owner.host);
  }

  // Locks of others, once a second.
  void look_elsewhere() {
    if (Clock::now() - looked_elsewhere_ < std::chrono::seconds(1)) return;
    looked_elsewhere_ = Clock::now();
    for (auto& entry : entries_) {
      if (entry.phase != Phase::elsewhere) continue;
      entry.phase = Phase::ready;
      is_locked(entry);
    }
  }

  void start(Entry& entry) {
    entry.core = cores_.take();
    try {
      TrialAssignment assignment{job_of(entry),       entry.files,    options_.threads,
                                 options_.memory,     random_token(), entry.stale_lock,
                                 entry.known_failure, entry.core};
      entry.lock_token = assignment.lock_token;
      entry.began = Clock::now();
      entry.child = std::make_unique<ChildProcess>(
          [&](const Reporter& reporter) { return run_assignment(assignment, reporter); });
      entry.phase = Phase::running;
      running_.push_back(&entry);
    } catch (const Error& error) {
      cores_.give_back(entry.core);
      fail(entry, error.what(), error.code());
    }
  }

  std::size_t place_of(const Entry& entry) const {
    return static_cast<std::size_t>(&entry - entries_.data());
  }

  TrialJob job_of(const Entry& entry) {
    TrialJob job;
    job.experiment = &experiment_;
    job.spec = entry.spec;
    job.task = &tasks_.task(entry.spec->settings);
    job.id = entry.outcome.trial_id;
    job.path = entry.files.result;
    job.checkpoints = options_.checkpoints;
    job.only_take_over = !options_.trained.empty();
    job.trained =
        job.only_take_over ? options_.trained.at(place_of(entry)) : trained_.find(entry.model);
    if (job.trained == job.path) job.trained.reset();  // the damaged file it replaces
    job.restart = options_.restart && entry.crashes == 0;
    return job;
  }

  // Waits for news, for a signal, or until the screen should change.
  void listen() {
    std::vector<pollfd> descriptors;
    for (const auto* entry : running_)
      descriptors.push_back({entry->child->descriptor(), POLLIN, 0});
    const auto longest = display_.interval();
    const timespec time{longest.count() / 1000, longest.count() % 1000 * 1'000'000};
    {
      // None is lost between the look at what came and the wait.
      const HeldSignals held;
      if (checkpoint_signal_.is_pending() || (interrupt_requested() && !stopping_)) return;
      ::ppoll(descriptors.data(), descriptors.size(), &time, &held.before());
    }
    const auto speakers = running_;  // which changes as they end
    for (std::size_t i = 0; i < speakers.size(); ++i)
      if (descriptors[i].revents != 0 && !speakers[i]->child->read()) hear_end(*speakers[i]);
  }

  void hear_end(Entry& entry) {
    const auto end = entry.child->wait();
    const double seconds = seconds_between(entry.began, Clock::now());
    entry.child.reset();
    cores_.give_back(entry.core);
    std::erase(running_, &entry);
    remove_lock(entry.files.lock, entry.lock_token);
    entry.phase = Phase::ready;
    switch (end.how) {
      case How::done:
        finished_work_ += entry.work();
        finished_seconds_ += seconds;
        display_.say(fmt::format("{} is done after {}", entry.spec->slug, clock_text(seconds)));
        return end_well(entry, Status::done);
      case How::skipped:
        display_.say(fmt::format("{} was done by another runner", entry.spec->slug));
        return end_well(entry, Status::skipped);
      case How::held:
        entry.stale_lock.clear();
        is_locked(entry);
        return;
      case How::failed:
        return fail(entry, end.reason, end.code, end.recorded);
      case How::crashed:
      case How::interrupted:
        return hear_of_crash(entry, end);
    }
  }

  void hear_of_crash(Entry& entry, const TrialEnd& end) {
    if (stopping_) return;  // it was asked to
    if (is_published(entry)) return end_well(entry, Status::done);
    const auto reason =
        end.how == How::interrupted ? "stopped by a signal from outside" : end.reason;
    if (++entry.crashes > options_.retries) return fail(entry, reason, ExitCode::internal);
    display_.warn(fmt::format("{} was {}; it is tried again ({} of {})", entry.spec->slug, reason,
                              entry.crashes, options_.retries));
  }

  void end(Entry& entry, Status status) {
    entry.phase = Phase::ended;
    entry.outcome.status = status;
    const bool counts = status == Status::done || (status == Status::skipped && !options_.restart);
    if (counts) trained_.add(entry.model, entry.files.result);
  }

  static bool is_published(const Entry& entry) {
    return fs::exists(entry.files.result) && !validate(entry.files.result);
  }

  // What is left of earlier tries goes: a process may have been killed just after publishing.
  void end_well(Entry& entry, Status status) {
    std::error_code ignored;
    fs::remove(entry.files.failure, ignored);
    remove_checkpoints(entry.files.result);
    end(entry, status);
  }

  void fail(Entry& entry, const std::string& reason, ExitCode code, bool recorded = false) {
    entry.outcome.reason = reason;
    entry.outcome.code = code;
    display_.warn(fmt::format("{} failed: {}", entry.outcome.trial_id, reason));
    try {
      if (!recorded) write_failure(entry.files.failure, {entry.outcome.trial_id, reason, code});
    } catch (const Error& error) {
      display_.warn(error.what());
    }
    end(entry, Status::failed);
    if (options_.fail_fast) stop();
  }

  // ---- what is seen

  int count(Phase phase) const {
    return static_cast<int>(
        std::count_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.phase == phase; }));
  }

  int count(Status status) const {
    return static_cast<int>(
        std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
          return entry.phase == Phase::ended && entry.outcome.status == status;
        }));
  }

  void draw() {
    const auto now = Clock::now();
    if (!display_.is_due(now)) return;
    std::vector<SweepDisplay::Row> rows;
    for (const auto& entry : entries_) {
      if (entry.child)
        rows.push_back({entry.spec->slug, entry.child->news().text});
      else if (entry.phase == Phase::elsewhere)
        rows.push_back({entry.spec->slug, entry.elsewhere});
    }
    display_.show(rows, summary(), now);
  }

  std::string summary() const {
    auto text = fmt::format("{} done, {} running, {} failed, {} left",
                            count(Status::done) + count(Status::skipped), running_.size(),
                            count(Status::failed), count(Phase::ready) + count(Phase::elsewhere));
    if (stopping_) return text + "; stopping: the running ones write a checkpoint";
    if (const auto left = seconds_left())
      text += fmt::format("; {} left, ends about {}", clock_text(*left), time_of_day_in(*left));
    return text;
  }

  // By the estimates, scaled to what ended and running trials took.
  std::optional<double> seconds_left() const {
    double done = finished_work_, seconds = finished_seconds_, left = 0;
    for (const auto& entry : entries_) {
      if (entry.phase == Phase::ended) continue;
      const double share = entry.done_share();
      left += (1 - share) * entry.work();
      if (!entry.child || share == 0) continue;
      done += share * entry.work();
      seconds += seconds_between(entry.began, Clock::now());
    }
    if (done == 0) return std::nullopt;
    const auto unended = static_cast<int>(running_.size()) + count(Phase::ready);
    const int at_once = std::clamp(unended, 1, options_.jobs);
    return left * seconds / done / at_once;
  }

  const Experiment& experiment_;
  const SweepOptions& options_;
  std::optional<Calibration> calibration_ = calibration_if_any();
  double budget_;  // bytes; 0 where nothing is known
  CorePool cores_{options_.jobs, options_.threads};
  SweepDisplay display_;
  TaskCache tasks_;
  TrainedFiles trained_;
  LockWatch watch_;
  std::vector<Entry> entries_;      // in the order of the spec
  std::vector<std::size_t> order_;  // in which they start
  std::vector<Entry*> running_;
  CheckpointSignal checkpoint_signal_;
  bool stopping_ = false;
  Clock::time_point looked_elsewhere_{};
  double finished_work_ = 0, finished_seconds_ = 0;  // of this run
};

}  // namespace

std::vector<TrialOutcome> run_sweep(const Experiment& experiment, const SweepOptions& options) {
  return Sweep(experiment, options).run();
}

}  // namespace headcount

#include "math/thread_team.hpp"

#include <csignal>

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {

ThreadTeam::ThreadTeam(int threads) {
  if (threads < 1)
    throw Error(ExitCode::usage, fmt::format("a team needs at least 1 thread, not {}", threads));
  // Signals are for the caller: see base/interrupt.cpp on handlers amid products.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  for (int worker = 1; worker < threads; ++worker)
    threads_.emplace_back([this, worker] { serve(worker); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadTeam::run(int pieces, const Piece& work, const Piece& in_order) {
  {
    const std::lock_guard lock(mutex_);
    pieces_ = pieces;
    next_ = turn_ = 0;
    work_ = &work;
    in_order_ = in_order ? &in_order : nullptr;
    failure_ = nullptr;
    failed_piece_ = pieces;
    working_ = size();
    ++round_;
  }
  changed_.notify_all();
  take_pieces(0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return working_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadTeam::serve(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) return;
      seen = round_;
    }
    take_pieces(worker);
  }
}

void ThreadTeam::take_pieces(int worker) {
  std::unique_lock lock(mutex_);
  while (next_ < pieces_) {
    const int piece = next_++;
    lock.unlock();
    std::exception_ptr failure;
    const auto attempt = [&](const Piece& step) {
      try {
        step(piece, worker);
      } catch (...) {
        failure = std::current_exception();
      }
    };
    attempt(*work_);
    lock.lock();
    changed_.wait(lock, [&] { return turn_ == piece; });
    if (in_order_ && !failure) {
      lock.unlock();
      attempt(*in_order_);
      lock.lock();
    }
    if (failure && piece < failed_piece_) {
      failed_piece_ = piece;
      failure_ = failure;
    }
    ++turn_;
    changed_.notify_all();
  }
  if (--working_ == 0) changed_.notify_all();
}

}  // namespace headcount

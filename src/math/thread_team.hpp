#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headcount {

// A fixed number of threads that share out numbered pieces of work. The caller is worker 0.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);  // at least 1
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  using Piece = std::function<void(int piece, int worker)>;

  // Runs work(piece, worker) for every piece, on any worker; then in_order(piece, worker) on the
  // same worker, strictly in the order of the pieces and never two at a time. So sums made in
  // in_order have the same bits for any number of threads. Rethrows the exception of the lowest
  // piece that failed, after all have ended.
  void run(int pieces, const Piece& work, const Piece& in_order = {});

 private:
  void serve(int worker);
  void take_pieces(int worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t round_ = 0;
  bool ending_ = false;
  int pieces_ = 0, next_ = 0, turn_ = 0, working_ = 0;
  int failed_piece_ = 0;
  std::exception_ptr failure_;
  const Piece* work_ = nullptr;
  const Piece* in_order_ = nullptr;
};

}  // namespace headcount

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace headcount {

// What passes over data found, in the order they were made. An interrupted trial that goes on asks
// for the same passes in the same order; those the log holds are given back, only the rest is made.
class PassLog {
 public:
  struct Pass {
    std::string what;             // kind, split, examples and gates: tells passes apart
    std::vector<double> numbers;  // its results
  };

  // The result of the next pass: from the log while it lasts, then from `make`, and remembered.
  // Throws Error (internal) when the log holds another pass in this place.
  std::vector<double> next(const std::string& what,
                           const std::function<std::vector<double>()>& make);

  // Called after each pass that was made.
  void when_made(std::function<void()> call) { when_made_ = std::move(call); }

  const std::vector<Pass>& passes() const { return passes_; }
  void add(Pass pass) { passes_.push_back(std::move(pass)); }  // from a checkpoint

 private:
  std::vector<Pass> passes_;
  std::size_t next_ = 0;
  std::function<void()> when_made_;
};

}  // namespace headcount

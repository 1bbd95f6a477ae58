#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace headcount {

// Where a value was written: a line of a file (from 1), or an option of the command line, line 0.
struct Place {
  std::string file;  // "head-count.ini", or "--set model.layers=4"
  int line = 0;      // 0: the file as a whole, or the command line
  bool operator==(const Place&) const = default;
};

// One thing wrong with a spec. `key` is empty where no key is to blame.
struct Problem {
  std::string file;
  int line = 0;
  std::string key;
  std::string message;
  bool operator==(const Problem&) const = default;
};

// "head-count.ini:7: message", or "--set model.layers=4: message".
std::string to_string(const Problem& problem);

// All that is wrong with a spec, at once. what() has one line per problem.
class SpecError : public Error {
 public:
  // `more`: further problems were found and not kept.
  explicit SpecError(std::vector<Problem> problems, bool more = false);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

// Gathers problems while a spec is read, so that one bad line does not hide the next.
class Problems {
 public:
  void add(const Place& place, std::string key, std::string message);
  bool empty() const { return problems_.empty(); }
  bool full() const { return more_; }  // further ones are only counted as more

  // Throws SpecError, its problems in the order of their lines, when there are any.
  void raise() const;

 private:
  std::vector<Problem> problems_;
  bool more_ = false;
};

}  // namespace headcount

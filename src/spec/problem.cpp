#include "spec/problem.hpp"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

namespace headcount {
namespace {

// A hostile file can hold very many mistakes; nobody reads more than these.
constexpr std::size_t kMostProblems = 100;

std::string describe(const std::vector<Problem>& problems, bool more) {
  std::string text;
  for (const auto& problem : problems) {
    if (!text.empty()) text += '\n';
    text += to_string(problem);
  }
  if (more) text += "\n... and more";
  return text;
}

}  // namespace

std::string to_string(const Problem& problem) {
  if (problem.line == 0) return fmt::format("{}: {}", problem.file, problem.message);
  return fmt::format("{}:{}: {}", problem.file, problem.line, problem.message);
}

SpecError::SpecError(std::vector<Problem> problems, bool more)
    : Error(ExitCode::bad_data, describe(problems, more)), problems_(std::move(problems)) {}

void Problems::add(const Place& place, std::string key, std::string message) {
  Problem problem{place.file, place.line, std::move(key), std::move(message)};
  if (std::find(problems_.begin(), problems_.end(), problem) != problems_.end()) return;
  if (problems_.size() < kMostProblems)
    problems_.push_back(std::move(problem));
  else
    more_ = true;
}

void Problems::raise() const {
  if (problems_.empty()) return;
  auto sorted = problems_;
  const auto rank = [](const Problem& p) { return p.line == 0 ? INT_MAX : p.line; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
  throw SpecError(std::move(sorted), more_);
}

}  // namespace headcount

#include "evaluate/pass_log.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {

std::vector<double> PassLog::next(const std::string& what,
                                  const std::function<std::vector<double>()>& make) {
  if (next_ < passes_.size()) {
    const Pass& pass = passes_[next_];
    if (pass.what != what)
      throw Error(ExitCode::internal,
                  fmt::format("pass {} was '{}' and is now '{}'", next_, pass.what, what));
    ++next_;
    return pass.numbers;
  }
  passes_.push_back({what, make()});
  ++next_;
  auto numbers = passes_.back().numbers;
  if (when_made_) when_made_();
  return numbers;
}

}  // namespace headcount

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/interval.hpp"

namespace headcount {

// A key of a spec's [task] section. Whoever reads its value declares it, once; the registry entries
// that understand it name it among their keys, and the spec's schema is assembled from those.
struct TaskKey {
  struct Integer {
    std::int64_t fallback, least;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    bool operator==(const Integer&) const = default;
  };
  struct Real {
    double fallback;
    Interval range;
    bool operator==(const Real&) const = default;
  };
  struct Choice {
    std::string fallback;
    std::vector<std::string> names;
    bool operator==(const Choice&) const = default;
  };
  struct Text {
    std::string fallback;
    bool operator==(const Text&) const = default;
  };

  std::string name;  // as written in a spec: "task.block"
  std::variant<Integer, Real, Choice, Text> type;
  std::string help;  // one line
  std::string unit = "";
  bool operator==(const TaskKey&) const = default;
};

// The [task] section of a spec: a value for every key of task_keys(), its default until it is set.
class TaskConfig {
 public:
  using Value = std::variant<std::int64_t, double, std::string>;

  TaskConfig();

  // Throws Error: bad_data for a value that the key does not take, internal for an unknown key or a
  // value of another type.
  void set(std::string_view key, Value value);

  // Each throws Error (internal) for an unknown key or one of another type.
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  const std::string& text(std::string_view key) const;  // of a choice, too

  bool is_default(const TaskKey& key) const;

 private:
  template <class T>
  const T& value(std::string_view key) const;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace headcount

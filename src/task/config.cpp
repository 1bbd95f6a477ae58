#include "task/config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

[[noreturn]] void fail(std::string_view key, std::string_view why) {
  throw Error(ExitCode::internal, fmt::format("{}: {}", key, why));
}

// Throws Error (bad_data) for a value outside what the key takes.
struct Check {
  const std::string& key;

  void operator()(const TaskKey::Integer& type, std::int64_t value) const {
    if (value >= type.least && value <= type.most) return;
    const bool bounded = type.most != std::numeric_limits<std::int64_t>::max();
    throw Error(ExitCode::bad_data,
                fmt::format("{} = {} is outside {}{}", key, value, type.least,
                            bounded ? fmt::format(" .. {}", type.most) : " or more"));
  }
  void operator()(const TaskKey::Real& type, double value) const {
    if (type.range.contains(value)) return;
    throw Error(ExitCode::bad_data,
                fmt::format("{} = {} is outside {}", key, shortest(value), type.range.notation()));
  }
  void operator()(const TaskKey::Choice& type, const std::string& value) const {
    if (std::ranges::count(type.names, value) > 0) return;
    throw Error(ExitCode::bad_data,
                fmt::format("{} = {}{} (known: {})", key, value, did_you_mean(value, type.names),
                            join(type.names, ", ")));
  }
  void operator()(const TaskKey::Text&, const std::string&) const {}

  template <class Type, class T>
  void operator()(const Type&, const T&) const {
    fail(key, "is set to a value of another type");
  }
};

TaskConfig::Value fallback_of(const TaskKey& key) {
  return std::visit([](const auto& type) { return TaskConfig::Value(type.fallback); }, key.type);
}

const TaskKey& find_key(std::string_view name) {
  const auto& keys = task_keys();
  const auto found = std::ranges::find(keys, name, &TaskKey::name);
  if (found == keys.end()) fail(name, "there is no such key");
  return *found;
}

}  // namespace

TaskConfig::TaskConfig() {
  for (const TaskKey& key : task_keys()) values_.emplace(key.name, fallback_of(key));
}

void TaskConfig::set(std::string_view key, Value value) {
  const TaskKey& known = find_key(key);
  std::visit(Check{known.name}, known.type, value);
  values_.insert_or_assign(known.name, std::move(value));
}

template <class T>
const T& TaskConfig::value(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) fail(key, "there is no such key");
  const T* const held = std::get_if<T>(&found->second);
  if (held == nullptr) fail(key, "is of another type");
  return *held;
}

std::int64_t TaskConfig::integer(std::string_view key) const { return value<std::int64_t>(key); }
double TaskConfig::real(std::string_view key) const { return value<double>(key); }
const std::string& TaskConfig::text(std::string_view key) const { return value<std::string>(key); }

bool TaskConfig::is_default(const TaskKey& key) const {
  return values_.at(key.name) == fallback_of(key);
}

}  // namespace headcount

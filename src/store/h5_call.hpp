// How every function of the HDF5 C library is called. Only h5*.cpp include this: the rest of the
// program sees neither hdf5.h nor its identifiers.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#include <hdf5.h>

#include "base/error.hpp"
#include "store/h5.hpp"

namespace headcount::h5 {

// What was tried, for the message of a failure.
struct Attempt {
  ExitCode code;
  Id at;  // a file or an object in it, or kNone
  std::string_view what;
  std::string_view name = {};  // the thing it was tried on
};

// One lock for all of HDF5: its high-level part has none of its own.
std::mutex& library();

// Automatic printing is a setting of each thread.
void quiet();

// Throws Error: what was tried, the path of the file and object, and HDF5's own error stack.
[[noreturn]] void fail(const Attempt& attempt);

// The same for what HDF5 does not mind and we do. Takes the lock, which `fail` finds taken.
[[noreturn]] void refuse(const Attempt& attempt, const std::string& why);

template <class Function, class... Arguments>
auto call(const Attempt& attempt, Function function, Arguments... arguments) {
  const std::lock_guard lock(library());
  quiet();
  auto result = function(arguments...);
  if constexpr (!std::is_unsigned_v<decltype(result)>) {
    if (result < decltype(result){}) fail(attempt);
  }
  return result;
}

// A new property list of one class; `attempt` is what it is for.
Handle property_list(Id list_class, const Attempt& attempt);

// Object times off, creation order kept: for files, groups and (without links) datasets.
void set_object_rules(const Handle& list, bool has_links, const Attempt& attempt);

}  // namespace headcount::h5

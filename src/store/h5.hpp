// The HDF5 C library, as far as trial files need it: files, groups, links. Every C function is
// called in one place, through h5_call.hpp. All functions throw Error: bad_data (no_input for a
// missing file) where a file is read, io where one is written, with the paths of the file and the
// object and HDF5's own error stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/heap.hpp"

namespace headcount::h5 {

using Id = std::int64_t;  // HDF5's hid_t
inline constexpr Id kNone = 0;

// Owns one HDF5 identifier of any kind and gives it back without throwing.
class Handle {
 public:
  Handle() = default;
  explicit Handle(Id id) : id_(id) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = other.release();
    }
    return *this;
  }

  Id id() const { return id_; }
  Id release() noexcept {
    const Id id = id_;
    id_ = kNone;
    return id;
  }
  void reset() noexcept;

 private:
  Id id_ = kNone;
};

// A new file, in the format that netCDF-4 can append to, built in memory: HDF5 does not survive a
// full disk (1.10 crashes when a close fails), an ordinary write does. `name` is for messages.
class MemoryFile {
 public:
  explicit MemoryFile(const std::filesystem::path& name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const Handle& handle() const { return file_; }

  // The bytes as they are now; valid until the file changes.
  ReadBytes bytes() const;
  std::size_t size() const;

  // Closes the file and returns its bytes. Throws Error (internal) while anything else in the file
  // is open.
  std::vector<char> close();

 private:
  std::unique_ptr<std::vector<char>> bytes_;  // outlives the file, which writes to it
  Handle file_;
};

Handle open_file(const std::filesystem::path& path);  // read-only

// The bytes of an open_file, valid as long as it is open.
ReadBytes bytes_of(const Handle& file);

// Identifiers open in a file, itself included; in all files for a handle that holds none.
std::int64_t open_objects(const Handle& file);

Handle create_group(const Handle& parent, const std::string& name);
Handle open_group(const Handle& parent, const std::string& path);

struct Link {
  std::string name;
  bool hard = true;        // neither soft nor external nor of a kind of its own
  std::int64_t order = 0;  // of creation
};

// The links of a group, in the order of their creation where the file kept it, else by name.
std::vector<Link> links(const Handle& group, std::size_t limit);

enum class ObjectKind { group, dataset, other };

struct ObjectInfo {
  ObjectKind kind = ObjectKind::other;
  std::uint64_t address = 0;  // where it lies in the file: the object's identity
};

ObjectInfo object_info(const Handle& parent, const std::string& path);

}  // namespace headcount::h5

// The objects of one open HDF5 file, as a tree: what the reader, the content hash and the
// comparison see of it. Inside the module only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/h5.hpp"
#include "store/h5_data.hpp"

namespace headcount::store {

// All that is known of an object besides its values. Attributes that dimension scales need for
// themselves are expressed by `dimensions`.
struct Object {
  bool is_group = true;
  h5::DatasetInfo data;                 // of a dataset
  std::vector<std::string> dimensions;  // path of the scale of each axis, "" where there is none
  std::map<std::string, h5::Values> attributes;
};

class Tree {
 public:
  // Looks at every link; `name` is the file's, for messages. Errors (bad_data): soft and external
  // links, an object linked twice (so also cycles), committed types, nesting deeper than 32, more
  // objects than `limits` allow.
  Tree(const h5::Handle& file, const std::filesystem::path& name, const h5::Limits& limits);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  struct Node {
    bool is_group = true;
    std::uint64_t address = 0;
    std::vector<std::string> children;  // names, in order of creation
  };

  // By path ("/" is the root), in byte order.
  const std::map<std::string, Node>& nodes() const { return nodes_; }

  // Throws Error (bad_data) that names the nearest path when there is no such object.
  const Node& at(const std::string& path) const;

  Object describe(const std::string& path) const;
  h5::Values values(const std::string& path) const;

 private:
  void visit(const std::string& path, int depth);
  h5::Handle open(const std::string& path) const;

  [[noreturn]] void refuse(const std::string& path, const std::string& why) const;

  const h5::Handle& file_;
  std::string name_;
  h5::Limits limits_;
  std::map<std::string, Node> nodes_;
  std::map<std::uint64_t, std::string> paths_;  // by address
};

// A file open for reading.
struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path);

  std::filesystem::path path;
  h5::Handle file;
  Tree tree;
};

}  // namespace headcount::store

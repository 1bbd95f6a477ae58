#include "store/tree.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace headcount::store {
namespace {

constexpr int kDeepest = 32;
constexpr std::size_t kMostAttributes = 1000;

bool serves_scales(const std::string& attribute) {
  return attribute == "DIMENSION_LIST" || attribute == "REFERENCE_LIST";
}

bool is_scale(const Object& object) {
  const auto found = object.attributes.find("CLASS");
  return found != object.attributes.end() && found->second.shape.empty() &&
         found->second.element(0).starts_with("DIMENSION_SCALE");
}

std::size_t size_of(const h5::Values& values) {
  std::size_t size = values.bytes.size();
  for (const auto& text : values.texts) size += text.size();
  return size;
}

std::string child_path(const std::string& parent, const std::string& name) {
  return parent == "/" ? "/" + name : parent + "/" + name;
}

}  // namespace

Tree::Tree(const h5::Handle& file, h5::ReadBytes bytes, const std::filesystem::path& name,
           const h5::Limits& limits)
    : file_(file),
      heap_(std::move(bytes), limits.file_bytes),
      name_(name.string()),
      limits_(limits) {
  visit("/", 0);
}

void Tree::refuse(const std::string& path, const std::string& why) const {
  throw Error(ExitCode::bad_data, fmt::format("{}: {} {}", name_, path, why));
}

void Tree::visit(const std::string& path, int depth) {
  if (depth > kDeepest) refuse(path, "lies too deep");
  const auto [kind, address] = h5::object_info(file_, path);
  if (kind == h5::ObjectKind::other) refuse(path, "is neither a group nor a dataset");
  const auto [first, is_new] = paths_.emplace(address, path);
  if (!is_new)
    refuse(path, fmt::format("is the same object as {}; a trial file is a tree", first->second));
  if (nodes_.size() == limits_.members)
    refuse(path, fmt::format("is one of more than {} objects", limits_.members));
  Node& node = nodes_[path];  // stays where it is while others are added
  node = {kind == h5::ObjectKind::group, address, {}};
  if (!node.is_group) return;
  for (const auto& link : h5::links(h5::open_group(file_, path), limits_.members)) {
    const std::string child = child_path(path, link.name);
    if (!link.hard) refuse(child, "is a soft or external link; a trial file has none");
    node.children.push_back(link.name);
    visit(child, depth + 1);
  }
}

const Tree::Node& Tree::at(const std::string& path) const {
  if (const auto found = nodes_.find(path); found != nodes_.end()) return found->second;
  std::vector<std::string> paths;
  for (const auto& [known, node] : nodes_) paths.push_back(known);
  refuse(path, "does not exist" + did_you_mean(path, paths));
}

h5::Handle Tree::open(const std::string& path) const {
  return at(path).is_group ? h5::open_group(file_, path) : h5::open_dataset(file_, path);
}

Object Tree::describe(const std::string& path) const {
  const h5::Handle handle = open(path);
  Object object;
  object.is_group = at(path).is_group;
  std::size_t taken = 0;
  for (const auto& name : h5::attribute_names(handle, kMostAttributes)) {
    if (serves_scales(name)) continue;
    taken += size_of(object.attributes[name] = h5::read_attribute(handle, name, limits_, heap_));
    if (taken > limits_.file_bytes) refuse(path, "has attributes larger than the file");
  }
  if (object.is_group) return object;

  object.data = h5::dataset_info(handle, limits_);
  const std::size_t axes = object.data.shape.size();
  if (axes == 1 && is_scale(object)) {
    object.dimensions = {path};
    return object;
  }
  for (const auto address : h5::scale_addresses(handle, axes, heap_)) {
    const auto found = paths_.find(address);
    if (address != 0 && found == paths_.end())
      refuse(path, "has a dimension that is not in the file");
    object.dimensions.push_back(address == 0 ? "" : found->second);
  }
  return object;
}

h5::Values Tree::values(const std::string& path) const {
  if (at(path).is_group) refuse(path, "is a group and has no values");
  const h5::Handle handle = open(path);
  return h5::read(handle, h5::dataset_info(handle, limits_), limits_, heap_);
}

OpenFile::OpenFile(const std::filesystem::path& file_path)
    : path(file_path),
      file(h5::open_file(path)),
      tree(file, h5::bytes_of(file), path, {.file_bytes = std::filesystem::file_size(path)}) {}

}  // namespace headcount::store

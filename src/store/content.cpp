#include "store/content.hpp"

#include <cstdint>

#include "base/sha256.hpp"
#include "store/schema.hpp"

namespace headcount::store {
namespace {

// Every text is preceded by its length, every list by its count, so that different contents never
// give the same stream.
class Stream {
 public:
  void add(std::uint64_t number) { hash_.add(&number, sizeof number); }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    hash_.add(text);
  }
  void add(const h5::Shape& shape) {
    add(std::uint64_t{shape.size()});
    for (const std::size_t size : shape) add(std::uint64_t{size});
  }
  void add(const h5::Values& values) {
    add(h5::name_of(values.type));
    add(std::uint64_t{values.width});
    add(values.shape);
    add(std::string_view(values.bytes.data(), values.bytes.size()));
    add(std::uint64_t{values.texts.size()});
    for (const auto& text : values.texts) add(std::string_view(text));
  }
  std::string hex() { return hash_.hex(); }

 private:
  Sha256 hash_;
};

}  // namespace

std::string content_sha256(const Tree& tree) {
  Stream stream;
  for (const auto& [path, node] : tree.nodes()) {
    if (!is_content(path)) continue;
    Object object = tree.describe(path);
    if (path == "/") object.attributes.erase(std::string(kContentAttribute));
    stream.add(std::string_view(path));
    stream.add(std::string_view(object.is_group ? "group" : "dataset"));
    stream.add(std::uint64_t{object.attributes.size()});
    for (const auto& [name, values] : object.attributes) {
      stream.add(std::string_view(name));
      stream.add(values);
    }
    stream.add(std::uint64_t{object.dimensions.size()});
    for (const auto& dimension : object.dimensions) stream.add(std::string_view(dimension));
    if (!object.is_group) stream.add(tree.values(path));
  }
  return stream.hex();
}

}  // namespace headcount::store

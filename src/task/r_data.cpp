#include "task/r_data.hpp"

#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(ExitCode::bad_data, what); }

// Reads from the front of some bytes, never past their end.
class XdrReader {
 public:
  XdrReader(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::string_view rest() const { return bytes_; }
  std::size_t left() const { return bytes_.size(); }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size())
      broken(fmt::format("{} bytes announced, {} are left", count, bytes_.size()));
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }

  std::uint32_t word() {
    std::uint32_t value = 0;
    for (const char byte : take(4)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  [[noreturn]] void broken(const std::string& what) const { fail(where_ + ": " + what); }

 private:
  std::string_view bytes_;
  std::string where_;
};

// No zlib stream expands further than this, so memory is bounded by the size of the file.
constexpr std::size_t kLargestExpansion = 1032;

// Expands one zlib stream to exactly `size` bytes; also gives the bytes it took.
std::string expand(std::string_view stream, std::size_t size, std::size_t& used,
                   const std::string& where) {
  if (size / kLargestExpansion > stream.size())
    fail(fmt::format("{}: {} bytes cannot expand to the announced {}", where, stream.size(), size));
  std::string result(size, '\0');
  z_stream state{};
  if (inflateInit(&state) != Z_OK) fail("zlib does not start");
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  state.avail_in = static_cast<uInt>(stream.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  const int outcome = inflate(&state, Z_FINISH);
  const std::size_t unfilled = state.avail_out;
  used = stream.size() - state.avail_in;
  inflateEnd(&state);
  if (outcome != Z_STREAM_END || unfilled != 0)
    fail(fmt::format("{}: not a zlib stream of {} bytes", where, size));
  return result;
}

constexpr std::uint32_t kCharacterVector = 16, kString = 9;
std::uint32_t type_of(std::uint32_t flags) { return flags & 0xFF; }

void skip_header(XdrReader& reader) {
  if (reader.take(2) != "X\n") reader.broken("not a binary R object");
  const std::uint32_t version = reader.word();
  reader.take(8);  // the versions of R that wrote it and can read it
  if (version == 3)
    reader.take(reader.word());  // the name of its encoding
  else if (version != 2)
    reader.broken(fmt::format("R serialization version {}; 2 and 3 are known", version));
}

std::string read_string(XdrReader& reader) {
  constexpr std::uint32_t kMissing = 0xFFFFFFFF;
  const std::uint32_t flags = reader.word();
  if (type_of(flags) != kString)
    reader.broken(fmt::format("an object of type {} where a string belongs", type_of(flags)));
  const std::uint32_t length = reader.word();
  if (length == kMissing) reader.broken("a missing value (NA) where text belongs");
  return std::string(reader.take(length));
}

std::optional<std::vector<std::string>> read_character_vector(std::string_view object,
                                                              const std::string& where) {
  XdrReader reader(object, where);
  skip_header(reader);
  if (type_of(reader.word()) != kCharacterVector) return std::nullopt;
  const std::uint32_t count = reader.word();
  constexpr std::size_t kSmallestString = 8;
  if (count > reader.left() / kSmallestString)
    reader.broken(fmt::format("{} strings announced in {} bytes", count, reader.left()));
  std::vector<std::string> strings(count);
  for (auto& string : strings) {
    string = read_string(reader);
    check_utf8(string, where);
  }
  return strings;
}

}  // namespace

std::vector<std::vector<std::string>> read_r_character_vectors(std::string_view file,
                                                               std::size_t limit) {
  std::vector<std::vector<std::string>> vectors;
  XdrReader reader(file, "R data file");
  for (int record = 1; reader.left() > 0; ++record) {
    const std::string where = fmt::format("R data file, record {}", record);
    const std::size_t size = reader.word();
    if (size > limit)
      fail(fmt::format("{}: expands to {} bytes, more than the {} that are read", where, size,
                       limit));
    limit -= size;
    std::size_t used = 0;
    const std::string object = expand(reader.rest(), size, used, where);
    reader.take(used);
    if (auto strings = read_character_vector(object, where)) vectors.push_back(std::move(*strings));
  }
  return vectors;
}

}  // namespace headcount

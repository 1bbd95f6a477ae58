// Writes the bytes of small R data files, for tests of their reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zlib.h>

namespace headcount::r_bytes {

inline std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

inline std::string header(std::uint32_t version = 3) {
  std::string bytes = "X\n" + word(version) + word(0x00040201) + word(0x00030500);
  if (version == 3) bytes += word(5) + "UTF-8";
  return bytes;
}

inline std::string string(const std::string& text) {
  return word(0x00008009) + word(static_cast<std::uint32_t>(text.size())) + text;
}

inline std::string character_vector(const std::vector<std::string>& strings,
                                    std::uint32_t version = 3) {
  std::string bytes = header(version) + word(16) + word(static_cast<std::uint32_t>(strings.size()));
  for (const auto& text : strings) bytes += string(text);
  return bytes;
}

inline std::string record(const std::string& object) {
  uLongf size = compressBound(object.size());
  std::string stream(size, '\0');
  compress(reinterpret_cast<Bytef*>(stream.data()), &size,
           reinterpret_cast<const Bytef*>(object.data()), object.size());
  stream.resize(size);
  return word(static_cast<std::uint32_t>(object.size())) + stream;
}

}  // namespace headcount::r_bytes

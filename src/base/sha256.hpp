#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace headcount {

// SHA-256 (FIPS 180-4) of everything added so far.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(const void* data, std::size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  // With its size, so that no two lists of pieces run together to the same bytes.
  void add_piece(std::string_view piece);

  // 64 lower-case hexadecimal digits. Ends the hash; nothing may be added afterwards.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view text);

}  // namespace headcount

#include "base/sha256.hpp"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.hpp"

namespace headcount {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

namespace {
void require(bool ok) {
  if (!ok) throw Error(ExitCode::internal, "SHA-256 is not available from libcrypto");
}
}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require(state_->context && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(const void* data, std::size_t size) {
  require(EVP_DigestUpdate(state_->context, data, size) == 1);
}

void Sha256::add_piece(std::string_view piece) {
  add(fmt::format("{}:", piece.size()));
  add(piece);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

}  // namespace headcount

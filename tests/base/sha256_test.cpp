#include "base/sha256.hpp"

#include "catch.hpp"

using namespace headcount;

// The examples of FIPS 180-4: printf abc | sha256sum.
TEST_CASE("SHA-256 of known texts") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a hash does not depend on the pieces") {
  Sha256 hash;
  hash.add("a");
  hash.add("");
  hash.add("bc");
  CHECK(hash.hex() == sha256_hex("abc"));
}

#include "task/r_data.hpp"

#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "r_bytes.hpp"

using namespace headcount;
using namespace headcount::r_bytes;
using Vectors = std::vector<std::vector<std::string>>;
namespace {

void refuses(const std::string& file, const std::string& what, std::size_t limit = 1 << 20) {
  CHECK_THROWS_WITH(read_r_character_vectors(file, limit), ContainsSubstring(what));
}

}  // namespace

TEST_CASE("character vectors of both versions are read, other objects passed over") {
  const std::string integers = header() + word(13) + word(2) + word(7) + word(8);
  const std::string file = record(character_vector({"EMMA", "", "£20,000"})) + record(integers) +
                           record(character_vector({"old"}, 2)) + record(character_vector({}));
  CHECK(read_r_character_vectors(file) == Vectors{{"EMMA", "", "£20,000"}, {"old"}, {}});
  CHECK(read_r_character_vectors("").empty());
}

TEST_CASE("attributes behind a vector do not matter") {
  std::string object = character_vector({"a"});
  object[header().size() + 2] = 2;  // the flag that says that attributes follow
  CHECK(read_r_character_vectors(record(object + word(0x402) + word(1))) == Vectors{{"a"}});
}

TEST_CASE("broken R data is refused with its record and reason") {
  const std::string good = record(character_vector({"fine"}));
  refuses(good + "xy", "4 bytes announced, 2 are left");
  refuses(good + word(100) + "not a stream of zlib", "record 2: not a zlib stream");
  refuses(record("A\n" + std::string(20, 'x')), "not a binary R object");
  refuses(record(header(4) + word(16) + word(0)), "version 4");
  refuses(record(header() + word(16) + word(0x7FFFFFFF)), "2147483647 strings announced");
  refuses(record(header() + word(16) + word(0xFFFFFFFF)), "strings announced");
  refuses(record(header() + word(16) + word(1) + word(13) + word(0)), "type 13");
  refuses(record(header() + word(16) + word(1) + word(9) + word(0xFFFFFFFF)), "NA");
  refuses(record(header() + word(16) + word(1) + word(9) + word(50) + "short"),
          "50 bytes announced, 5 are left");
  refuses(record(character_vector({"caf\xE9"})), "not valid UTF-8");
}

TEST_CASE("sizes are checked before memory is taken") {
  const std::string good = record(character_vector({std::string(2000, 'a')}));
  refuses(good, "more than the 1000 that are read", 1000);
  refuses(good + good, "record 2: expands to", 3000);
  refuses(word(0x3FFFFFFF) + good.substr(4), "cannot expand to the announced", 0xFFFFFFFF);
  std::string longer = good, shorter = good;
  ++longer[3];
  --shorter[3];
  refuses(longer, "not a zlib stream of");
  refuses(shorter, "not a zlib stream of");
}

TEST_CASE("hostile bytes give an error or a result") {
  const auto survives = [](const std::string& file) {
    try {
      read_r_character_vectors(file, 1 << 20);
    } catch (const Error& error) {
      RC_ASSERT(error.code() == ExitCode::bad_data);
    }
  };
  REQUIRE(rc::check("flips and cuts, outside and inside of the streams", [&] {
    const std::string object = character_vector({"EMMA", "By Jane Austen", "", "CHAPTER I"});
    const bool inside = *rc::gen::arbitrary<bool>();
    std::string bytes = inside ? object : record(object) + record(object);
    for (int flips = *rc::gen::inRange(0, 4); flips > 0; --flips)
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
    survives(inside ? record(bytes) : bytes);
  }));
}

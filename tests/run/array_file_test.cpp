#include "run/array_file.hpp"

#include <cmath>
#include <limits>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "catch.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

std::string bytes_of(const ArrayWriter& writer) {
  const TemporaryFolder folder;
  writer.write(folder.path() / "arrays");
  return read_file(folder.path() / "arrays");
}

const std::vector<float> kFloats{1.5F, -0.0F};
const std::vector<double> kDoubles{0.1, std::numeric_limits<double>::infinity(), -2.5};
const std::vector<std::int64_t> kIntegers{std::numeric_limits<std::int64_t>::min(), 7};

std::string sample() {
  ArrayWriter writer(Json{{"name", "x"}});
  writer.add("f", std::span(kFloats));
  writer.add("d", std::span(kDoubles));
  writer.add("i", std::span(kIntegers));
  writer.add("none", std::span<const double>());
  return bytes_of(writer);
}

std::string refusal(std::string bytes) {
  try {
    const ArrayReader reader(std::move(bytes), "file");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    return error.what();
  }
  return "";
}

// A file with this header and body, rightly hashed.
std::string forged(const std::string& header, const std::string& body) {
  std::string bytes = "headcount arrays 1\n";
  const std::uint64_t size = header.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += header + body;
  return bytes + array_file_hash(bytes);
}

TEST_CASE("arrays come back as they were") {
  const ArrayReader reader(sample(), "file");
  CHECK(reader.meta() == Json{{"name", "x"}});
  CHECK(reader.read<float>("f") == kFloats);
  CHECK(std::signbit(reader.read<float>("f")[1]));
  CHECK(reader.read<double>("d") == kDoubles);
  CHECK(reader.read<std::int64_t>("i") == kIntegers);
  CHECK(reader.read<double>("none").empty());
  CHECK(reader.count("d") == 3);
  CHECK(reader.has("f"));
  CHECK_FALSE(reader.has("g"));
  CHECK_THROWS_WITH(reader.read<double>("g"), ContainsSubstring("file: it has no array g"));
  CHECK_THROWS_WITH(reader.read<double>("f"), ContainsSubstring("array f is float32, not float64"));
  std::vector<double> two(2);
  CHECK_THROWS_WITH(reader.read("d", std::span(two)), ContainsSubstring("3 values, not 2"));
}

TEST_CASE("no bit can change unseen, and no end can be missing") {
  const auto whole = sample();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CAPTURE(i);
    CHECK_FALSE(refusal(damaged).empty());
    CHECK_FALSE(refusal(whole.substr(0, i)).empty());
  }
  CHECK_FALSE(refusal(whole + "x").empty());
}

TEST_CASE("a header that lies is refused before memory is taken") {
  CHECK(refusal(forged(R"({"meta":1,"arrays":[]})", "")).empty());
  CHECK_THAT(refusal(forged("{", "")), ContainsSubstring("header"));
  CHECK_THAT(refusal(forged("[]", "")), ContainsSubstring("header"));
  CHECK_THAT(refusal(forged(R"({"meta":1,"arrays":[["a","float64",2]]})", "12345678")),
             ContainsSubstring("longer than the file"));
  CHECK_THAT(refusal(forged(R"({"meta":1,"arrays":[["a","float64",2305843009213693953]]})", "")),
             ContainsSubstring("longer than the file"));  // times 8 it is 8
  CHECK_THAT(refusal(forged(R"({"meta":1,"arrays":[["a","float64",-1]]})", "")),
             ContainsSubstring("not known"));
  CHECK_THAT(refusal(forged(R"({"meta":1,"arrays":[["a","text",1]]})", "1234")),
             ContainsSubstring("unknown type"));
  CHECK_THAT(refusal(forged(R"({"meta":1,"arrays":[]})", "1234")),
             ContainsSubstring("more than its header tells"));
  auto longer = forged(R"({"meta":1,"arrays":[]})", "");
  longer[19 + 7] = 127;  // the header's size
  longer.resize(longer.size() - 64);
  CHECK_THAT(refusal(longer + array_file_hash(longer)), ContainsSubstring("longer than the file"));
}

TEST_CASE("whatever is written is read") {
  rc::check([](const std::vector<double>& a, const std::vector<std::int64_t>& b) {
    ArrayWriter writer(Json::object());
    writer.add("a", std::span(a));
    writer.add("b", std::span(b));
    const ArrayReader reader(bytes_of(writer), "file");
    RC_ASSERT(reader.read<double>("a") == a);
    RC_ASSERT(reader.read<std::int64_t>("b") == b);
  });
}

TEST_CASE("a place that cannot be written is told") {
  const ArrayWriter writer(Json::object());
  try {
    writer.write("/nonexistent/folder/file");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::cannot_create);
    CHECK_THAT(error.what(), ContainsSubstring("/nonexistent/folder/file"));
  }
}

}  // namespace
}  // namespace headcount

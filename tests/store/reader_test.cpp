#include "store/reader.hpp"

#include <fstream>
#include <random>

#include <hdf5/serial/hdf5.h>  // to make files that the writer never would

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"
#include "store/h5.hpp"
#include "store/same.hpp"

namespace headcount {
namespace {

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Everything a reader can ask of everything in the file.
void read_all(const ResultFile& file, const std::string& path) {
  for (const auto& name : file.attributes(path)) {
    try {
      file.attribute_text(path, name);
    } catch (const Error&) {
    }
  }
  for (const auto& name : file.children(path))
    read_all(file, path == "/" ? "/" + name : path + "/" + name);
  if (!file.has_values(path)) return;
  file.dimensions(path);
  const auto type = file.type(path);
  if (type == "text")
    file.read_texts(path);
  else if (type.starts_with("float"))
    file.read<double>(path);
  else
    file.read<std::int64_t>(path);
}

// Reads a damaged file in every way. An Error is an answer; so is the content.
void survive(const std::filesystem::path& damaged, const std::filesystem::path& whole) {
  try {
    read_all(ResultFile(damaged), "/");
    same(damaged, whole);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    CHECK_THAT(error.what(), ContainsSubstring(damaged.filename().string()));
  }
}

TEST_CASE("a truncated file is refused at every length") {
  const TemporaryFolder folder;
  publish_result(folder / "whole.h5", write_sample);
  const std::string bytes = read_file(folder / "whole.h5");
  CHECK_FALSE(validate(folder / "whole.h5"));
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 40) {
    write_bytes(folder / "cut.h5", std::string_view(bytes).substr(0, length));
    CAPTURE(length);
    const auto reason = validate(folder / "cut.h5");
    REQUIRE(reason);
    CHECK_THAT(*reason, ContainsSubstring("cut.h5"));
    const char* const why = length < 8    ? "not an HDF5 file"
                            : length < 48 ? "checksum"
                                          : "truncated";
    CHECK_THAT(*reason, ContainsSubstring(why));
  }
}

TEST_CASE("flipped bits are survived and noticed") {
  const TemporaryFolder folder;
  publish_result(folder / "whole.h5", write_sample);
  const std::string bytes = read_file(folder / "whole.h5");
  const char* const rounds = std::getenv("HEADCOUNT_FUZZ_ROUNDS");
  const char* const seed = std::getenv("HEADCOUNT_FUZZ_SEED");
  std::mt19937_64 random(seed ? std::stoul(seed) : 1);
  for (int round = 0; round < (rounds ? std::stoi(rounds) : 300); ++round) {
    std::string damaged = bytes;
    const auto flips = 1 + random() % 3;
    for (std::size_t flip = 0; flip < flips; ++flip)
      damaged[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    write_bytes(folder / "flipped.h5", damaged);
    CAPTURE(round);
    survive(folder / "flipped.h5", folder / "whole.h5");
  }
  CHECK(h5::open_objects({}) == 0);
}

}  // namespace
}  // namespace headcount

#include "store/reader.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include <hdf5/serial/hdf5.h>  // to make files that the writer never would

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "sample.hpp"
#include "store/h5.hpp"
#include "store/same.hpp"

// HDF5 1.10 forgets some of its memory when it gives up on a damaged file. What this program could
// forget, it counts: h5::open_objects.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

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

// A file written by hand: `write` gets its HDF5 identifier.
std::filesystem::path by_hand(const TemporaryFolder& folder,
                              const std::function<void(hid_t file)>& write) {
  const auto path = folder / "hand.h5";
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write(file);
  REQUIRE(H5Fget_obj_count(file, H5F_OBJ_ALL) == 1);
  REQUIRE(H5Fclose(file) >= 0);
  return path;
}

// A dataset never written to; `prepare` gets its creation property list.
void add_dataset(
    hid_t file, const char* name, hid_t type, std::vector<hsize_t> shape,
    const std::function<void(hid_t list)>& prepare = [](hid_t) {}) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  prepare(list);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  REQUIRE(dataset > 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(list);
}

void add_group(hid_t file, const char* name) {
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(group > 0);
  H5Gclose(group);
}

void add_integer(hid_t object, const char* name, int value, H5S_class_t space_class = H5S_SCALAR) {
  const hid_t space = H5Screate(space_class);
  const hid_t attribute = H5Acreate2(object, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  if (space_class == H5S_SCALAR) H5Awrite(attribute, H5T_NATIVE_INT, &value);
  H5Aclose(attribute);
  H5Sclose(space);
}

// What the Error of `action` says.
std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    return error.what();
  }
  return "no complaint";
}

TEST_CASE("what is not there or not of that kind is told with the file's name") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", write_sample);
  const ResultFile file(folder / "a.h5");
  const auto named = ContainsSubstring("a.h5");
  CHECK(file.exists("/training/loss"));
  CHECK_FALSE(file.exists("/training/los"));
  CHECK_THAT(complaint([&] { file.read<float>("/training/los"); }),
             named && ContainsSubstring("did you mean '/training/loss'"));
  CHECK_THAT(complaint([&] { file.read<float>("/training"); }),
             named && ContainsSubstring("is a group"));
  CHECK_THAT(complaint([&] { file.shape("/training"); }), ContainsSubstring("is a group"));
  CHECK_THAT(complaint([&] { file.read_scalar<float>("/training/loss"); }),
             named && ContainsSubstring("has shape [3]"));
  CHECK_THAT(complaint([&] { file.read_texts("/training/loss"); }),
             ContainsSubstring("holds float32, not text"));
  CHECK_THAT(complaint([&] { file.read<float>("/spec/key"); }),
             ContainsSubstring("holds text, not numbers"));
  CHECK_THAT(complaint([&] { file.attribute_text("/", "nothing"); }),
             named && ContainsSubstring("attribute nothing of / does not exist"));
  CHECK_THAT(complaint([&] { file.attribute_text("/", "schema"); }),
             ContainsSubstring("attribute schema of / holds int64, not text"));
  CHECK_THAT(complaint([&] { file.attribute_real("/", "schema"); }),
             ContainsSubstring("int64, which is not converted to float64"));
  CHECK_THAT(complaint([&] { file.read<float>("/model/row_2"); }),
             ContainsSubstring("has a length and no values"));
  CHECK_THAT(complaint([&] { file.dimension_path("/training/loss", 1); }),
             ContainsSubstring("has no axis 1"));
}

TEST_CASE("values convert between floating types, and between integers that fit") {
  const TemporaryFolder folder;
  publish_result(folder / "a.h5", [](ResultWriter& writer) {
    const VariableInfo info{.long_name = "x", .units = "1"};
    writer.dimension("/", "n", std::size_t{2});
    writer.variable("/", "small", {"n"}, std::vector<std::int64_t>{0, 255}, info);
    writer.variable("/", "large", {"n"}, std::vector<std::int64_t>{0, 256}, info);
    writer.variable("/", "real", {"n"}, std::vector<double>{0.1, kNaN}, info);
  });
  const ResultFile file(folder / "a.h5");
  CHECK(file.read<std::uint8_t>("/small") == std::vector<std::uint8_t>{0, 255});
  CHECK(file.read<std::int32_t>("/large") == std::vector<std::int32_t>{0, 256});
  CHECK_THAT(complaint([&] { file.read<std::uint8_t>("/large"); }),
             ContainsSubstring("/large holds 256 (value 1), which does not fit uint8"));
  CHECK(file.read<float>("/real")[0] == 0.1F);
  CHECK(std::isnan(file.read<float>("/real")[1]));
  CHECK_THAT(complaint([&] { file.read<std::int64_t>("/real"); }), ContainsSubstring("float64"));
  CHECK_THAT(complaint([&] { file.read<double>("/small"); }), ContainsSubstring("int64"));
}

TEST_CASE("what is missing or no file is not bad data") {
  const TemporaryFolder folder;
  try {
    ResultFile file(folder / "none.h5");
    FAIL("opened");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::no_input);
    CHECK_THAT(error.what(), ContainsSubstring("no such file") && ContainsSubstring("none.h5"));
  }
  CHECK_THAT(*validate(folder.path()), ContainsSubstring("not a regular file"));
  write_bytes(folder / "text.h5", "not HDF5");
  CHECK_THAT(*validate(folder / "text.h5"), ContainsSubstring("is not an HDF5 file"));
}

TEST_CASE("texts that share their bytes are read up to the size of the file") {
  const TemporaryFolder folder;
  const auto path = folder / "hand.h5";
  constexpr std::size_t n = 64, length = 100'000, reference = 16;
  publish_result(path, [](ResultWriter& writer) {
    const VariableInfo info{.long_name = "x", .units = "1"};
    std::vector<std::string> texts(n);
    texts.front() = std::string(length, 'x');
    writer.dimension("/", "n", n);
    writer.variable("/", "text", {"n"}, texts, info);
  });
  auto bytes = read_file(path);
  const auto first = bytes.find(std::string("\xa0\x86\x01\0", 4));  // the length, before an address
  REQUIRE(first != std::string::npos);
  for (std::size_t i = 1; i < n; ++i)
    bytes.replace(first + i * reference, reference, bytes, first, reference);
  write_bytes(path, bytes);
  CHECK_THAT(complaint([&] { ResultFile(path).read_texts("/text"); }),
             ContainsSubstring("bytes of text"));
}

TEST_CASE("links that make more than a tree are refused") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::function<void(hid_t)>& write) {
    const auto path = by_hand(folder, write);
    return complaint([&] { ResultFile file(path); });
  };
  CHECK_THAT(refused([](hid_t file) { H5Lcreate_soft("/", file, "up", 0, 0); }),
             ContainsSubstring("hand.h5: /up is a soft or external link"));
  CHECK_THAT(refused([](hid_t file) { H5Lcreate_external("b.h5", "/", file, "out", 0, 0); }),
             ContainsSubstring("/out is a soft or external link"));
  CHECK_THAT(refused([](hid_t file) {
               add_group(file, "a");
               H5Lcreate_hard(file, "/", file, "/a/loop", 0, 0);
             }),
             ContainsSubstring("/a/loop is the same object as /"));
  CHECK_THAT(refused([](hid_t file) {
               add_dataset(file, "a", H5T_IEEE_F32LE, {1});
               H5Lcreate_hard(file, "a", file, "b", 0, 0);
             }),
             ContainsSubstring("/b is the same object as /a"));
  CHECK_THAT(refused([](hid_t file) {
               const hid_t type = H5Tcopy(H5T_STD_I32LE);
               H5Tcommit2(file, "t", type, 0, 0, 0);
               H5Tclose(type);
             }),
             ContainsSubstring("/t is neither a group nor a dataset"));
  CHECK_THAT(refused([](hid_t file) {
               std::string path;
               for (int i = 0; i < 40; ++i) add_group(file, (path += "/d").c_str());
             }),
             ContainsSubstring("lies too deep"));
}

TEST_CASE("datasets that claim what they do not hold are refused before memory is taken") {
  const TemporaryFolder folder;
  const auto refused = [&](hid_t type, const std::vector<hsize_t>& shape,
                           const std::function<void(hid_t)>& prepare) {
    const auto path =
        by_hand(folder, [&](hid_t file) { add_dataset(file, "x", type, shape, prepare); });
    return complaint([&] { ResultFile(path).read<float>("/x"); });
  };
  const auto nothing = [](hid_t) {};
  constexpr hsize_t tera = hsize_t{1} << 40;
  CHECK_THAT(refused(H5T_IEEE_F32LE, {tera}, nothing),
             ContainsSubstring("at /x of") &&
                 ContainsSubstring("more than the 2147483648 bytes that are read"));
  CHECK_THAT(refused(H5T_IEEE_F32LE, {tera, tera}, nothing), ContainsSubstring("too large"));
  CHECK_THAT(refused(H5T_IEEE_F32LE, {hsize_t{1} << 29}, nothing),
             ContainsSubstring("has a length and no values"));
  CHECK_THAT(refused(H5T_IEEE_F32BE, {1}, nothing),
             ContainsSubstring("at /x of") && ContainsSubstring("none of a trial file's"));
  CHECK_THAT(refused(H5T_STD_REF_OBJ, {1}, nothing), ContainsSubstring("none of a trial file's"));
  CHECK_THAT(
      refused(H5T_IEEE_F32LE, {4}, [](hid_t list) { H5Pset_external(list, "/etc/passwd", 0, 16); }),
      ContainsSubstring("at /x of") && ContainsSubstring("in another file"));
  CHECK_THAT(refused(H5T_IEEE_F32LE, {4},
                     [](hid_t list) {
                       const hsize_t chunk = 4;
                       H5Pset_chunk(list, 1, &chunk);
                       H5Pset_scaleoffset(list, H5Z_SO_FLOAT_DSCALE, 2);
                     }),
             ContainsSubstring("at /x of") && ContainsSubstring("unknown filter 6"));
  CHECK_THAT(refused(H5T_IEEE_F32LE, {4},
                     [](hid_t list) {
                       const hsize_t shape = 4;
                       const hid_t space = H5Screate_simple(1, &shape, nullptr);
                       H5Pset_virtual(list, space, "b.h5", "/x", space);
                       H5Sclose(space);
                     }),
             ContainsSubstring("at /x of") && ContainsSubstring("not in this file"));
}

TEST_CASE("attributes of another kind than expected are refused") {
  const TemporaryFolder folder;
  const auto path = by_hand(folder, [](hid_t file) {
    add_group(file, "g");
    const hid_t group = H5Gopen2(file, "g", H5P_DEFAULT);
    add_integer(group, "null", 0, H5S_NULL);
    H5Gclose(group);
    add_dataset(file, "x", H5T_IEEE_F32LE, {2});
    const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    add_integer(dataset, "DIMENSION_LIST", 7);
    add_integer(dataset, "CLASS", 7);
    H5Dclose(dataset);
    add_integer(file, "schema", 2);
  });
  const ResultFile file(path);
  CHECK_THAT(complaint([&] { file.attribute_integer("/g", "null"); }),
             ContainsSubstring("at /g of") && ContainsSubstring("null dataspace"));
  CHECK_THAT(complaint([&] { file.dimensions("/x"); }),
             ContainsSubstring("not a list of dimension scales"));
  CHECK_THAT(*validate(path), ContainsSubstring("has schema 2; this program reads 1"));
}

TEST_CASE("an altered value is noticed") {
  const TemporaryFolder folder;
  const auto alter = [&](const char* dataset) {
    publish_result(folder / "a.h5", write_sample);
    REQUIRE_FALSE(validate(folder / "a.h5"));
    const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, dataset, H5P_DEFAULT);
    const double value = 3.0;
    REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
    H5Dclose(data);
    H5Fclose(file);
    return validate(folder / "a.h5").value_or("whole");
  };
  CHECK_THAT(alter("/evaluation/test/nll"), ContainsSubstring("was altered"));
  CHECK(alter("/timing/wall") == "whole");
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

TEST_CASE("flipped bytes are survived, and noticed where they count") {
  const TemporaryFolder folder;
  publish_result(folder / "whole.h5", write_sample);
  const std::string bytes = read_file(folder / "whole.h5");
  const char* const rounds = std::getenv("HEADCOUNT_FUZZ_ROUNDS");
  const char* const seed = std::getenv("HEADCOUNT_FUZZ_SEED");
  std::mt19937_64 random(seed ? std::stoul(seed) : 1);
  for (int round = 0; round < (rounds ? std::stoi(rounds) : 150); ++round) {
    std::string damaged = bytes;
    const auto flips = 1 + random() % 3;
    for (std::size_t flip = 0; flip < flips; ++flip)
      damaged[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    write_bytes(folder / "flipped.h5", damaged);
    CAPTURE(round);
    survive(folder / "flipped.h5", folder / "whole.h5");
    if (!validate(folder / "flipped.h5"))  // only what does not count has changed
      CHECK(same(folder / "flipped.h5", folder / "whole.h5").empty());
  }
  CHECK(h5::open_objects({}) == 0);
}

}  // namespace
}  // namespace headcount

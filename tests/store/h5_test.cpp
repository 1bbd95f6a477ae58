#include "store/h5.hpp"

#include "base/error.hpp"
#include "catch.hpp"
#include "sample.hpp"
#include "store/h5_data.hpp"

namespace headcount::h5 {
namespace {

TEST_CASE("only the file itself is open once the handles are gone") {
  MemoryFile file("memory.h5");
  {
    const Handle group = create_group(file.handle(), "g");
    const Handle dataset = create_dataset(group, "x", Type::float32, {2}, {.nan_fill = true});
    const float values[] = {1.0F, 2.0F};
    write(dataset, Type::float32, values);
    make_scale(dataset, "x");
    const Handle other = create_dataset(group, "y", Type::text, {2}, {});
    write_texts(other, std::vector<std::string>{"a", "b"});
    attach_scale(other, dataset, 0);
    write_attribute(other, "units", "1");

    Heap heap(file.bytes(), file.size());
    CHECK(attribute_names(other, 10) == std::vector<std::string>{"DIMENSION_LIST", "units"});
    CHECK(read_attribute(other, "units", {}, heap).texts == std::vector<std::string>{"1"});
    CHECK(scale_addresses(other, 1, heap) ==
          std::vector<std::uint64_t>{object_info(file.handle(), "/g/x").address});
    CHECK(read(other, dataset_info(other, {}), {}, heap).texts ==
          std::vector<std::string>{"a", "b"});
    CHECK(links(group, 10).size() == 2);
    CHECK(open_objects(file.handle()) == 4);
    CHECK_THROWS_WITH(file.close(), ContainsSubstring("3 HDF5 identifiers are still open"));
  }
  CHECK(open_objects(file.handle()) == 1);
  CHECK_FALSE(file.close().empty());
  CHECK(open_objects({}) == 0);
}

TEST_CASE("a failure says what, where and why") {
  const MemoryFile file("memory.h5");
  const Handle group = create_group(file.handle(), "g");
  const Handle first = create_group(group, "x");
  try {
    create_group(group, "x");
    FAIL("made twice");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::io);
    CHECK_THAT(error.what(), ContainsSubstring("cannot create group x at /g of memory.h5: ") &&
                                 ContainsSubstring("name already exists"));
  }
  CHECK_THROWS_WITH(open_dataset(file.handle(), "/g/y"),
                    ContainsSubstring("cannot open dataset /g/y at / of memory.h5") &&
                        ContainsSubstring("doesn't exist"));
  CHECK_THROWS_WITH(links(group, 0), ContainsSubstring("more than 0"));
}

TEST_CASE("shapes beyond 64 bits are refused") {
  CHECK(elements({}) == 1);
  CHECK(elements({3, 0}) == 0);
  CHECK(elements({3, 4}) == 12);
  CHECK_THROWS_AS(elements({std::size_t{1} << 40, std::size_t{1} << 40}), Error);
}

}  // namespace
}  // namespace headcount::h5

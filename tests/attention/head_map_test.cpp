#include "attention/head_map.hpp"

#include "catch.hpp"

using namespace headcount;

TEST_CASE("a head map holds one value per head, ragged") {
  HeadCounts counts(Site::decoder_self, {3, 0, 1});
  counts.layers(Site::cross) = {2};
  HeadMap<int> map(counts, 7);
  CHECK(map.counts() == counts);
  int next = 0;
  for (const auto& id : counts.all()) {
    CHECK(map.at(id) == 7);
    map.at(id) = next++;
  }
  const HeadMap<int>& read = map;
  CHECK(read.at({Site::decoder_self, 2, 0}) == 3);
  CHECK(read.at({Site::cross, 0, 1}) == 5);
  CHECK(read.layer(Site::decoder_self, 0) == std::vector<int>{0, 1, 2});
  CHECK(read.layer(Site::decoder_self, 1).empty());
  map.layer(Site::cross, 0)[0] = 40;
  CHECK(read.at({Site::cross, 0, 0}) == 40);
  CHECK(map != HeadMap<int>(counts, 7));
  CHECK(HeadMap<int>(counts, 7) == HeadMap<int>(counts, 7));
}

TEST_CASE("a head map refuses a head that does not exist") {
  HeadMap<double> map(HeadCounts(Site::decoder_self, {3, 0, 1}));
  for (const HeadId id : {HeadId{Site::decoder_self, 0, 3}, HeadId{Site::decoder_self, 1, 0},
                          HeadId{Site::decoder_self, 3, 0}, HeadId{Site::decoder_self, 0, -1},
                          HeadId{Site::decoder_self, -1, 0}, HeadId{Site::cross, 0, 0}}) {
    CHECK_THROWS_WITH(map.at(id), ContainsSubstring(to_string(id)));
    CHECK_THROWS_AS(map.at(id), Error);
  }
}

#include "attention/sites.hpp"

#include <set>

#include <rapidcheck.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "catch.hpp"

using namespace headcount;

namespace {

HeadCounts ragged() {
  HeadCounts counts(Site::decoder_self, {4, 0, 2});
  counts.layers(Site::cross) = {1, 3, 3};
  return counts;
}

std::vector<std::string> selected(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& id : select_heads(text, ragged())) names.push_back(to_string(id));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("sites have names") {
  CHECK(name_of(Site::encoder_self) == "encoder_self");
  CHECK(name_of(Site::decoder_self) == "decoder_self");
  CHECK(name_of(Site::cross) == "cross");
  for (const Site site : kSites) CHECK(parse_site(name_of(site)) == site);
  CHECK_THROWS_WITH(parse_site("decoder-self"),
                    ContainsSubstring("did you mean 'decoder_self'") && ContainsSubstring("cross"));
}

TEST_CASE("head counts are ragged, and an emptied layer has none") {
  const HeadCounts counts = ragged();
  CHECK(counts.total() == 13);
  CHECK(HeadCounts().total() == 0);
  CHECK(counts.contains({Site::decoder_self, 0, 3}));
  CHECK_FALSE(counts.contains({Site::decoder_self, 0, 4}));
  CHECK_FALSE(counts.contains({Site::decoder_self, 1, 0}));
  CHECK_FALSE(counts.contains({Site::decoder_self, 3, 0}));
  CHECK_FALSE(counts.contains({Site::decoder_self, -1, 0}));
  CHECK_FALSE(counts.contains({Site::decoder_self, 0, -1}));
  CHECK_FALSE(counts.contains({Site::encoder_self, 0, 0}));

  const auto all = counts.all();
  REQUIRE(all.size() == 13);
  CHECK(std::is_sorted(all.begin(), all.end()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(counts.contains(all[i]));
    CHECK(counts.first_index(all[i].site, all[i].layer) + all[i].head == static_cast<int>(i));
  }
  CHECK(counts.first_index(Site::decoder_self, 1) == 4);
  CHECK(counts.first_index(Site::decoder_self, 2) == 4);
}

TEST_CASE("a selector names one head, a layer's, or one in every layer") {
  CHECK(selected("cross:1:2") == Names{"cross:1:2"});
  CHECK(selected("decoder_self:2:*") == Names{"decoder_self:2:0", "decoder_self:2:1"});
  CHECK(selected("decoder_self:*:0") == Names{"decoder_self:0:0", "decoder_self:2:0"});
  CHECK(selected("cross:*:*").size() == 7);
  CHECK(selected("") == Names{});
}

TEST_CASE("a list of selectors is sorted and without repeats") {
  const Names expected{"decoder_self:0:1", "decoder_self:0:3", "cross:0:0"};
  CHECK(selected("cross:0:0, decoder_self:0:3,decoder_self:0:1") == expected);
  CHECK(selected("cross:0:0 decoder_self:0:3\tdecoder_self:0:1 cross:0:*") == expected);
  CHECK(selected(" ,cross:0:0,, cross:0:0 ") == Names{"cross:0:0"});
}

TEST_CASE("a selector that names no head is an error") {
  for (const char* text : {"decoder_self:0:4",
                           "decoder_self:1:0",
                           "decoder_self:1:*",
                           "decoder_self:3:0",
                           "decoder_self:*:9",
                           "encoder_self:0:0",
                           "encoder_self:*:*",
                           "decoder_self:-1:0",
                           "decoder_self:0:-1",
                           "decoder_self:0:",
                           "decoder_self::0",
                           "decoder_self:0:1.0",
                           "decoder_self:0:1x",
                           "decoder_self:0:99999999999999999999",
                           "decoder_self:0:4294967296",
                           "decoder_self:0",
                           "decoder_self",
                           "0:1",
                           "decoder_self:0:1:2",
                           "decoder:0:1",
                           "decoder_self:0:**",
                           "decoder_self:0-1:0"}) {
    CAPTURE(text);
    try {
      selected(std::string("cross:0:0, ") + text);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::bad_data);
      CHECK_THAT(error.what(), ContainsSubstring(text) || ContainsSubstring("decoder"));
    }
  }
  CHECK_THROWS_WITH(selected("decoder_self:0:4"),
                    ContainsSubstring("'decoder_self:0:4'") &&
                        ContainsSubstring("decoder_self with 3 layers of (4 0 2) heads") &&
                        ContainsSubstring("cross with 3 layers of (1 3 3) heads"));
  CHECK_THROWS_WITH(select_heads("cross:0:0", HeadCounts()), ContainsSubstring("no attention"));
}

TEST_CASE("every list of heads is read back from its names") {
  REQUIRE(rc::check([] {
    const auto all = ragged().all();
    const auto chosen = *rc::gen::container<std::set<HeadId>>(rc::gen::elementOf(all));
    auto shuffled = *rc::gen::container<std::vector<HeadId>>(
        chosen.size(), chosen.empty()
                           ? rc::gen::just(HeadId{})
                           : rc::gen::elementOf(std::vector<HeadId>(chosen.begin(), chosen.end())));
    shuffled.insert(shuffled.end(), chosen.rbegin(), chosen.rend());
    std::vector<std::string> names;
    for (const auto& id : shuffled) names.push_back(to_string(id));
    RC_ASSERT(select_heads(join(names, ","), ragged()) ==
              std::vector<HeadId>(chosen.begin(), chosen.end()));
  }));
}

TEST_CASE("naming all heads many times over takes no more than naming them once") {
  const HeadCounts counts(Site::decoder_self, std::vector<int>(1024, 1024));
  std::string list;
  for (int i = 0; i < 2000; ++i) list += "decoder_self:*:* ";
  CHECK(std::ssize(select_heads(list, counts)) == counts.total());
}

#pragma once

#include <array>
#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace headcount {

// Where attention happens.
enum class Site { encoder_self, decoder_self, cross };
inline constexpr std::array kSites{Site::encoder_self, Site::decoder_self, Site::cross};

std::string_view name_of(Site site);
Site parse_site(std::string_view text);  // throws Error (bad_data), naming the known sites

// One head. Layer and head count from 0; `head` is the original index, also after others were
// removed.
struct HeadId {
  Site site{};
  int layer = 0;
  int head = 0;
  auto operator<=>(const HeadId&) const = default;
};

std::string to_string(const HeadId& id);  // "cross:5:3"

// The heads a model was built with: for each site, the head count of every layer (ragged; 0 is
// allowed).
class HeadCounts {
 public:
  HeadCounts() = default;
  HeadCounts(Site site, std::vector<int> heads_per_layer) {
    layers(site) = std::move(heads_per_layer);
  }

  std::vector<int>& layers(Site site) { return layers_[static_cast<std::size_t>(site)]; }
  const std::vector<int>& layers(Site site) const {
    return layers_[static_cast<std::size_t>(site)];
  }

  bool contains(const HeadId& id) const;
  int total() const;
  // By site, layer, head.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Site site : kSites)
      for (std::size_t layer = 0; layer < layers(site).size(); ++layer)
        for (int head = 0; head < layers(site)[layer]; ++head)
          visit(HeadId{site, static_cast<int>(layer), head});
  }
  std::vector<HeadId> all() const;  // in the same order
  // Where a layer's heads start in all().
  int first_index(Site site, int layer) const;
  bool operator==(const HeadCounts&) const = default;

 private:
  std::array<std::vector<int>, kSites.size()> layers_;
};

// "decoder_self:0:*", "cross:*:3", "encoder_self:1:2", or several separated by commas or blanks.
// Returns them sorted and without repeats. Throws Error (bad_data) for a head that does not exist:
// a mask is never silent.
std::vector<HeadId> select_heads(std::string_view text, const HeadCounts& counts);

}  // namespace headcount

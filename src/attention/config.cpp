#include "attention/config.hpp"

namespace headcount {

const Registry<SharingEntry>& sharings() {
  static const Registry<SharingEntry> registry(
      "sharing of projections",
      {{{"none", "W_Q, W_K and W_V of their own", "Vaswani et al. 2017, section 3.2.2"},
        Sharing::none},
       {{"qk", "W_Q = W_K", "Kitaev et al. 2020, section 2"}, Sharing::qk},
       {{"qkv", "one projection for queries, keys and values", ""}, Sharing::qkv},
       {{"identity",
         "no projection: head h compares and mixes columns h·K to (h+1)·K of its input; W_O stays",
         ""},
        Sharing::identity}});
  return registry;
}

std::string_view name_of(Sharing sharing) {
  return sharings().entries()[static_cast<std::size_t>(sharing)].about.name;
}

std::vector<int> AttentionConfig::key_value_heads() const {
  std::vector<int> groups;
  for (const int head : heads)
    if (groups.empty() || groups.back() != head / group) groups.push_back(head / group);
  return groups;
}

}  // namespace headcount

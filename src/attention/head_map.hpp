#pragma once

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attention/sites.hpp"
#include "base/error.hpp"

namespace headcount {

// One T per head, by original index; ragged like the model it describes.
template <class T>
class HeadMap {
 public:
  HeadMap() = default;
  explicit HeadMap(HeadCounts counts, T value = T{}) : counts_(std::move(counts)) {
    for (const Site site : kSites)
      for (const int heads : counts_.layers(site))
        rows_[index(site)].emplace_back(static_cast<std::size_t>(heads), value);
  }

  const HeadCounts& counts() const { return counts_; }

  // Throws Error (bad_data) for a head that does not exist.
  T& at(const HeadId& id) { return row(id)[static_cast<std::size_t>(id.head)]; }
  const T& at(const HeadId& id) const { return const_cast<HeadMap*>(this)->at(id); }

  // All heads of one layer. Not for T = bool.
  std::vector<T>& layer(Site site, int layer) {
    return rows_[index(site)].at(static_cast<std::size_t>(layer));
  }
  const std::vector<T>& layer(Site site, int layer) const {
    return rows_[index(site)].at(static_cast<std::size_t>(layer));
  }

  bool operator==(const HeadMap&) const = default;

 private:
  static std::size_t index(Site site) { return static_cast<std::size_t>(site); }
  std::vector<T>& row(const HeadId& id) {
    if (!counts_.contains(id))
      throw Error(ExitCode::bad_data,
                  fmt::format("there is no head {} in this model", to_string(id)));
    return layer(id.site, id.layer);
  }

  HeadCounts counts_;
  std::array<std::vector<std::vector<T>>, kSites.size()> rows_;
};

}  // namespace headcount

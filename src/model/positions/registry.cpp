#include "model/positions/registry.hpp"

namespace headcount {
namespace {

std::vector<PositionEntry> all_entries() {
  std::vector<PositionEntry> entries;
#define POSITION_ENCODING(entry) entries.push_back(entry());
#include "model/positions/registry.def"
#undef POSITION_ENCODING
  return entries;
}

}  // namespace

const Registry<PositionEntry>& position_encodings() {
  static const Registry<PositionEntry> registry("position encoding", all_entries());
  return registry;
}

}  // namespace headcount

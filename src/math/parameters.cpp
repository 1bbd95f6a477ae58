#include "math/parameters.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {
namespace {
// Blocks start at multiples of 64 bytes in float and in double.
constexpr Index kAlignment = 16;
}  // namespace

std::string_view name_of(ParameterRole role) {
  static constexpr std::array<std::string_view, 14> kNames{"token embedding",
                                                           "position embedding",
                                                           "query",
                                                           "key",
                                                           "value",
                                                           "score",
                                                           "attention output",
                                                           "feed-forward in",
                                                           "feed-forward out",
                                                           "output",
                                                           "bias",
                                                           "norm gain",
                                                           "stream scale",
                                                           "sublayer scale"};
  return kNames.at(static_cast<std::size_t>(role));
}

bool is_weight(ParameterRole role) {
  switch (role) {
    case ParameterRole::bias:
    case ParameterRole::norm_gain:
    case ParameterRole::stream_scale:
    case ParameterRole::sublayer_scale:
      return false;
    default:
      return true;
  }
}

Index ParameterLayout::reserve(Index numbers) {
  const Index offset = size_;
  size_ += (numbers + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

ParameterBlock ParameterLayout::add(std::string name, ParameterRole role, int layer, Index rows,
                                    Index cols) {
  return add_side_by_side(layer, rows, {{std::move(name), role, cols}});
}

ParameterBlock ParameterLayout::add_side_by_side(int layer, Index rows,
                                                 const std::vector<Column>& columns) {
  Index width = 0;
  for (const auto& column : columns) width += column.cols;
  const Index offset = reserve(rows * width);
  Index first = 0;
  for (const auto& column : columns) {
    if (contains(column.name))
      throw Error(ExitCode::internal, fmt::format("parameter {} is added twice", column.name));
    entries_.push_back(
        {column.name, column.role, layer, {offset + first, rows, column.cols, width}});
    first += column.cols;
  }
  return {offset, rows, width, width};
}

std::int64_t ParameterLayout::count() const {
  std::int64_t count = 0;
  for (const auto& entry : entries_) count += entry.block.rows * entry.block.cols;
  return count;
}

bool ParameterLayout::contains(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return entry.name == name; });
}

const ParameterEntry& ParameterLayout::at(std::string_view name) const {
  for (const auto& entry : entries_)
    if (entry.name == name) return entry;
  throw Error(ExitCode::bad_data, fmt::format("the model has no parameter '{}'", name));
}

}  // namespace headcount

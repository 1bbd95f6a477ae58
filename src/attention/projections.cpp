#include "attention/projections.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {
namespace {

template <class Real>
MatrixView<Real> view_of(MatrixRef<Real> x) {
  return {x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.outerStride())};
}

// What no sharing can mean.
void require_possible(const AttentionConfig& config) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::bad_data, fmt::format("{}:{}: sharing '{}' {}", name_of(config.site),
                                                config.layer, name_of(config.sharing), why));
  };
  if (config.group < 1)
    throw Error(ExitCode::bad_data, fmt::format("{}:{}: {} heads cannot share keys and values",
                                                name_of(config.site), config.layer, config.group));
  if (config.sharing == Sharing::none) return;
  if (config.group > 1)
    refuse(fmt::format("leaves every head its keys: groups of {} cannot have them in common",
                       config.group));
  if (config.memory_width != config.width)
    refuse(fmt::format("treats queries and memory alike, but they are {} and {} wide", config.width,
                       config.memory_width));
  const Index most = config.width / std::max(config.head_width, Index{1});
  if (config.sharing == Sharing::identity && !config.heads.empty() && config.heads.back() >= most)
    refuse(
        fmt::format("takes columns of the input, which has {} for heads {} wide: head {} has "
                    "none",
                    config.width, config.head_width, config.heads.back()));
}

}  // namespace

template <class Real>
Projections<Real>::Projections(AttentionConfig config, const std::string& prefix,
                               ParameterLayout& layout, const AttentionHooks<Real>* hooks)
    : config_(std::move(config)), turning_(hooks && hooks->acts_on_vectors() ? hooks : nullptr) {
  require_possible(config_);
  key_value_heads_ = config_.key_value_heads();
  for (const int head : config_.heads)
    key_value_slots_.push_back(std::ranges::find(key_value_heads_, head / config_.group) -
                               key_value_heads_.begin());
  const auto sharing = config_.sharing;
  turns_copies_ = turning_ && (sharing == Sharing::qkv || sharing == Sharing::identity);
  alone_ = (sharing == Sharing::none && key_value_heads_.size() == config_.heads.size()) ||
           (sharing == Sharing::qk && !is_self());

  using Role = ParameterRole;
  using Column = ParameterLayout::Column;
  const Index queries = heads() * width(), keys = std::ssize(key_value_heads_) * width();
  const auto block = [&](Index input_width, std::vector<Column> columns) {
    return add(prefix, layout, input_width, columns);
  };
  const auto part = [&](const std::string& name) {
    return Block{layout.at(prefix + ".w_" + name).block, layout.at(prefix + ".b_" + name).block};
  };
  switch (sharing) {
    case Sharing::none: {
      const Column q{"q", Role::query, queries}, k{"k", Role::key, keys}, v{"v", Role::value, keys};
      if (is_self()) {
        query_side_ = block(config_.width, {q, k, v});
      } else {
        query_side_ = block(config_.width, {q});
        memory_side_ = block(config_.memory_width, {k, v});
      }
      per_head_ = {part("q")};
      per_key_value_head_ = {part("k"), part("v")};
      break;
    }
    case Sharing::qk:
      query_side_ = memory_side_ =
          block(config_.width, {{"qk", Role::query, queries}, {"v", Role::value, queries}});
      per_head_ = {part("qk"), part("v")};
      if (!is_self()) query_side_ = per_head_[0];
      break;
    case Sharing::qkv:  // what it gives reaches the residual stream as values do
      query_side_ = memory_side_ = block(config_.width, {{"qkv", Role::value, queries}});
      per_head_ = {part("qkv")};
      break;
    case Sharing::identity:
      break;
  }
}

template <class Real>
auto Projections<Real>::add(const std::string& prefix, ParameterLayout& layout, Index input_width,
                            const std::vector<ParameterLayout::Column>& columns) const -> Block {
  auto weights = columns, biases = columns;
  for (auto& column : weights) column.name = prefix + ".w_" + column.name;
  for (auto& column : biases) {
    column.name = prefix + ".b_" + column.name;
    column.role = ParameterRole::bias;
  }
  const auto block = layout.add_side_by_side(config_.layer, input_width, weights);
  return {block, layout.add_side_by_side(config_.layer, 1, biases)};
}

template <class Real>
auto Projections<Real>::columns(Index slot) const -> Columns {
  const Index all = heads() * width(), own = slot * width();
  switch (config_.sharing) {
    case Sharing::none: {
      const Index first_key = is_self() ? all : 0;
      const Index key = key_value_slots_[static_cast<std::size_t>(slot)] * width();
      return {own, first_key + key, first_key + std::ssize(key_value_heads_) * width() + key};
    }
    case Sharing::qk:
      return {own, own, all + own};
    case Sharing::qkv:
      return {own, own, own};
    case Sharing::identity:
      break;
  }
  const Index column = config_.heads[static_cast<std::size_t>(slot)] * width();
  return {column, column, column};
}

template <class Real>
void Projections<Real>::forward(const Parameters<Real>& parameters,
                                const AttentionInput<Real>& input, const Factor<Real>& x,
                                Precision precision, Cache& cache) const {
  if (!are_inputs()) {
    auto queries = cache.query_side.resize(input.x.rows(), query_side_.weights.cols);
    product<Real>(x, parameters.factor(precision, query_side_.weights), queries);
    add_to_rows<Real>(parameters.view(query_side_.bias), queries);
    if (!is_self()) {
      auto memory = cache.memory_side.resize(input.memory.rows(), memory_side_.weights.cols);
      product<Real>(cache.memory.of(precision, input.memory),
                    parameters.factor(precision, memory_side_.weights), memory);
      add_to_rows<Real>(parameters.view(memory_side_.bias), memory);
    }
  }
  if (turning_) turn(input, cache);
}

// Every vector once, however many heads share it.
template <class Real>
void Projections<Real>::turn(const AttentionInput<Real>& input, Cache& cache) const {
  const auto turn_all = [&](const MatrixView<Real>& vectors, Offsets offsets, Index column,
                            Index count) {
    for (Index b = 0; b < sequences_of(offsets); ++b) {
      const auto [first, rows] = rows_of_sequence(offsets, b);
      for (Index i = 0; i < count; ++i)
        turning_->transform(cut(vectors, first, rows, column + i * width(), width()));
    }
  };
  if (turns_copies_) {
    const auto turn_copy = [&](const ConstMatrixView<Real>& side, Offsets offsets,
                               Buffer<Real>& copy) {
      auto vectors = copy.resize(side.rows(), heads() * width());
      for (Index slot = 0; slot < heads(); ++slot)
        vectors.middleCols(slot * width(), width()) =
            side.middleCols(columns(slot).queries, width());
      turn_all(vectors, offsets, 0, heads());
    };
    turn_copy(are_inputs() ? input.x : read_only(cache.query_side.view()), input.query_offsets,
              cache.turned_queries);
    if (!is_self())
      turn_copy(are_inputs() ? input.memory : read_only(cache.memory_side.view()),
                input.key_offsets, cache.turned_keys);
    return;
  }
  turn_all(cache.query_side.view(), input.query_offsets, 0, heads());
  if (!is_self())
    turn_all(cache.memory_side.view(), input.key_offsets, 0, std::ssize(key_value_heads_));
  else if (config_.sharing == Sharing::none)
    turn_all(cache.query_side.view(), input.key_offsets, heads() * width(),
             std::ssize(key_value_heads_));
}

template <class Real>
HeadVectors<Real> Projections<Real>::vectors(const AttentionInput<Real>& input, const Cache& cache,
                                             Index sequence, Index slot) const {
  const auto [q0, tq] = rows_of_sequence(input.query_offsets, sequence);
  const auto [k0, tk] = rows_of_sequence(input.key_offsets, sequence);
  const auto queries = are_inputs() ? input.x : cache.query_side.view();
  const auto memory = are_inputs() ? input.memory
                      : is_self()  ? cache.query_side.view()
                                   : cache.memory_side.view();
  const auto at = columns(slot);
  const auto values = cut(memory, k0, tk, at.values, width());
  if (turns_copies_) {
    const auto turned_keys = is_self() ? cache.turned_queries.view() : cache.turned_keys.view();
    return {cut(cache.turned_queries.view(), q0, tq, slot * width(), width()),
            cut(turned_keys, k0, tk, slot * width(), width()), values};
  }
  return {cut(queries, q0, tq, at.queries, width()), cut(memory, k0, tk, at.keys, width()), values};
}

template <class Real>
auto Projections<Real>::start(const AttentionInput<Real>& input, MatrixRef<Real> d_x,
                              MatrixRef<Real> d_memory, Scratch& scratch) const -> Sides {
  if (are_inputs()) {
    d_x.setZero();
    return {view_of<Real>(d_x), view_of<Real>(is_self() ? d_x : d_memory)};
  }
  auto queries = scratch.d_query_side.resize(input.x.rows(), query_side_.weights.cols);
  auto memory = is_self()
                    ? queries
                    : scratch.d_memory_side.resize(input.memory.rows(), memory_side_.weights.cols);
  if (!alone_) {
    queries.setZero();
    if (!is_self()) memory.setZero();
  }
  return {queries, memory};
}

template <class Real>
HeadVectorGradients<Real> Projections<Real>::gradients(const AttentionInput<Real>& input,
                                                       Sides& sides, Index sequence, Index slot,
                                                       Scratch& scratch) const {
  const auto [q0, tq] = rows_of_sequence(input.query_offsets, sequence);
  const auto [k0, tk] = rows_of_sequence(input.key_offsets, sequence);
  if (!alone_) {
    const auto own = scratch.one_head.resize(tq + 2 * tk, width());
    return {cut(own, 0, tq, 0, width()), cut(own, tq, tk, 0, width()),
            cut(own, tq + tk, tk, 0, width())};
  }
  const auto at = columns(slot);
  return {cut(sides.queries, q0, tq, at.queries, width()),
          cut(sides.memory, k0, tk, at.keys, width()),
          cut(sides.memory, k0, tk, at.values, width())};
}

template <class Real>
void Projections<Real>::collect(const AttentionInput<Real>& input, Index sequence, Index slot,
                                HeadVectorGradients<Real>& gradients, Sides& sides) const {
  if (turning_) {
    turning_->transform_backward(gradients.queries);
    turning_->transform_backward(gradients.keys);
  }
  if (alone_) return;
  const auto [q0, tq] = rows_of_sequence(input.query_offsets, sequence);
  const auto [k0, tk] = rows_of_sequence(input.key_offsets, sequence);
  const auto at = columns(slot);
  cut(sides.queries, q0, tq, at.queries, width()) += gradients.queries;
  cut(sides.memory, k0, tk, at.keys, width()) += gradients.keys;
  cut(sides.memory, k0, tk, at.values, width()) += gradients.values;
}

template <class Real>
void Projections<Real>::finish(const Parameters<Real>& parameters,
                               const AttentionInput<Real>& input, const Factor<Real>& x,
                               Precision precision, const Cache& cache, const Sides& sides,
                               Scratch& scratch, MatrixRef<Real> d_x, MatrixRef<Real> d_memory,
                               Parameters<Real>* gradient) const {
  if (are_inputs()) return;
  const auto from_queries = scratch.from_queries.of(precision, sides.queries);
  product_bt<Real>(from_queries, parameters.factor(precision, query_side_.weights), d_x);
  if (gradient) {
    product_at<Real>(x, from_queries, gradient->view(query_side_.weights), Accumulate::yes);
    add_column_sums<Real>(sides.queries, gradient->view(query_side_.bias));
  }
  if (is_self()) return;
  const auto from_memory = scratch.from_memory.of(precision, sides.memory);
  product_bt<Real>(from_memory, parameters.factor(precision, memory_side_.weights), d_memory,
                   Accumulate::yes);
  if (!gradient) return;
  product_at<Real>(cache.memory.again(input.memory), from_memory,
                   gradient->view(memory_side_.weights), Accumulate::yes);
  add_column_sums<Real>(sides.memory, gradient->view(memory_side_.bias));
}

template <class Real>
void Projections<Real>::copy_heads(const Parameters<Real>& from_values, const Projections& to,
                                   Parameters<Real>& to_values) const {
  const auto copy = [&](const std::vector<Block>& from, const std::vector<Block>& blocks,
                        const std::vector<int>& heads, const std::vector<int>& kept) {
    for (std::size_t part = 0; part < from.size(); ++part)
      for (std::size_t i = 0; i < kept.size(); ++i) {
        const Index source = std::ranges::find(heads, kept[i]) - heads.begin();
        const Index first = source * width(), column = static_cast<Index>(i) * width();
        to_values.view(blocks[part].weights).middleCols(column, width()) =
            from_values.view(from[part].weights).middleCols(first, width());
        to_values.view(blocks[part].bias).middleCols(column, width()) =
            from_values.view(from[part].bias).middleCols(first, width());
      }
  };
  copy(per_head_, to.per_head_, config_.heads, to.config_.heads);
  copy(per_key_value_head_, to.per_key_value_head_, key_value_heads_, to.key_value_heads_);
}

template class Projections<float>;
template class Projections<double>;

}  // namespace headcount

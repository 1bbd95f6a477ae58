#include "attention/projections.hpp"

#include "attention/layer.hpp"
#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Everything but the projections, which both have under other names.
void share_rest(const Layer<double>& from, Layer<double>& to) {
  for (const auto& entry : to.layout.entries())
    if (from.layout.contains(entry.name)) {
      const auto& block = from.layout.at(entry.name).block;
      if (block.rows == entry.block.rows && block.cols == entry.block.cols)
        to.parameters.view(entry.block) = from.parameters.view(block);
    }
}

// A layer without sharing that does what `layer` does, if it is one with projections.
std::unique_ptr<Layer<double>> unshared(const Layer<double>& layer) {
  auto shape = layer.shape;
  shape.sharing = Sharing::none;
  auto plain = std::make_unique<Layer<double>>(shape);
  plain->memory = layer.memory;
  share_rest(layer, *plain);
  const bool qkv = layer.shape.sharing == Sharing::qkv;
  for (const std::string kind : {"layer.w_", "layer.b_"})
    for (const char* name : {"q", "k", "v"})
      plain->parameters.view(kind + name) =
          layer.parameters.view(kind + (qkv                             ? "qkv"
                                        : std::string_view(name) == "v" ? "v"
                                                                        : "qk"));
  return plain;
}

// What the first says and its gradient with respect to its input are those of the second.
void same_function(Layer<double>& a, Layer<double>& b) {
  CHECK(relative_difference(a.forward(), b.forward()) < 1e-13);
  const Matrix<double> d_out = random_matrix<double>(a.x.rows(), a.kWidth, 8);
  const auto of_a = a.backward(d_out), of_b = b.backward(d_out);
  CHECK(relative_difference(of_a.x, of_b.x) < 1e-12);
}

template <class F>
std::string refusal(const F& build) {
  try {
    build();
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    return error.what();
  }
  return "not refused";
}

}  // namespace

// D = 7, five heads of width 3: 15 columns a projection.
TEST_CASE("shared projections have the parameters that are left, by hand") {
  const auto count = [](LayerShape shape) {
    shape.encoding = false;
    return Layer<float>(shape).layout.count();
  };
  const std::int64_t output = 15 * 7 + 7, projection = 7 * 15 + 15;
  CHECK(count({}) == 3 * projection + output);
  CHECK(count({.sharing = Sharing::qk}) == 2 * projection + output);
  CHECK(count({.sharing = Sharing::qkv}) == projection + output);
  CHECK(count({.head_width = 1, .sharing = Sharing::identity}) == 5 * 7 + 7);
  CHECK(count({.score = "additive", .sharing = Sharing::qkv}) == projection + 5 * 3 + output);
  // Heads 0, 2, 3, 5, 6 in pairs: 0, 1, 1, 2, 3, four heads of keys; all in one: one.
  CHECK(count({.group = 2}) == projection + 2 * (7 * 12 + 12) + output);
  CHECK(count({.group = 7}) == projection + 2 * (7 * 3 + 3) + output);
  CHECK(count({.average = AttentionMask::causal}) == 3 * projection + output + 2 * 7 * 7);
  CHECK(count({.site = Site::cross, .sharing = Sharing::qk}) == 2 * projection + output);
  CHECK(count({.site = Site::cross, .sharing = Sharing::qkv}) == projection + output);
}

TEST_CASE("a shared projection does what equal ones do") {
  for (const auto site : {Site::decoder_self, Site::encoder_self})
    for (const auto sharing : {Sharing::qk, Sharing::qkv}) {
      CAPTURE(name_of(site), name_of(sharing));
      const auto mask = site == Site::decoder_self ? AttentionMask::causal : AttentionMask::none;
      Layer<double> layer({.site = site, .mask = mask, .sharing = sharing});
      same_function(layer, *unshared(layer));
      layer.treat_heads_differently();
      auto plain = unshared(layer);
      plain->treat_heads_differently();
      same_function(layer, *plain);
    }
}

// Where queries are keys scores are symmetric, before positions and the mask: by way of any tokens
// attention goes round as it comes.
TEST_CASE("with one projection for queries and keys, attention goes round either way alike") {
  const auto unevenness = [](Sharing sharing) {
    Layer<double> layer({.site = Site::encoder_self,
                         .mask = AttentionMask::none,
                         .encoding = false,
                         .queries = {5},
                         .sharing = sharing});
    Recorder<double> recorder;
    layer.pass.observer = &recorder;
    layer.forward();
    const auto& a = recorder.seen.at({layer.id(2), 0}).pattern;
    double worst = 0;
    for (Index i = 1; i < 5; ++i)
      for (Index j = 1; j < i; ++j)
        worst = std::max(worst, std::abs(std::log(a(0, i) * a(i, j) * a(j, 0)) -
                                         std::log(a(0, j) * a(j, i) * a(i, 0))));
    return worst;
  };
  CHECK(unevenness(Sharing::qk) < 1e-12);
  CHECK(unevenness(Sharing::qkv) < 1e-12);
  CHECK(unevenness(Sharing::none) > 0.01);
}

TEST_CASE("without projections a head has its columns of the input") {
  Layer<double> layer({.encoding = false, .head_width = 1, .sharing = Sharing::identity});
  CHECK_FALSE(layer.layout.contains("layer.w_q"));
  auto shape = layer.shape;
  shape.sharing = Sharing::none;
  Layer<double> plain(shape);
  share_rest(layer, plain);
  for (const char* name : {"q", "k", "v"}) {
    auto weights = plain.parameters.view(fmt::format("layer.w_{}", name));
    weights.setZero();
    for (Index slot = 0; slot < 5; ++slot)
      weights(shape.heads[static_cast<std::size_t>(slot)], slot) = 1;
    plain.parameters.view(fmt::format("layer.b_{}", name)).setZero();
  }
  same_function(layer, plain);
}

TEST_CASE("grouped heads are heads whose keys and values are repeated") {
  for (const Site site : {Site::decoder_self, Site::cross})
    for (const int group : {2, 3, 7}) {
      CAPTURE(name_of(site), group);
      const auto mask = site == Site::cross ? AttentionMask::none : AttentionMask::causal;
      Layer<double> grouped({.site = site, .mask = mask, .group = group});
      auto shape = grouped.shape;
      shape.group = 1;
      Layer<double> repeated(shape);
      share_rest(grouped, repeated);
      const auto groups = grouped.attention.config().key_value_heads();
      const auto slot_of = [&](std::size_t slot) {
        return std::ranges::find(groups, shape.heads[slot] / group) - groups.begin();
      };
      for (const char* name : {"layer.w_k", "layer.w_v", "layer.b_k", "layer.b_v"})
        for (std::size_t slot = 0; slot < 5; ++slot)
          repeated.parameters.view(name).middleCols(3 * static_cast<Index>(slot), 3) =
              grouped.parameters.view(name).middleCols(3 * slot_of(slot), 3);
      same_function(grouped, repeated);

      // What they share has the sum of their gradients.
      const Matrix<double> d_out = random_matrix<double>(grouped.x.rows(), grouped.kWidth, 8);
      const auto shared = grouped.backward(d_out), each = repeated.backward(d_out);
      for (const char* name : {"layer.w_k", "layer.w_v", "layer.b_v"}) {
        Matrix<double> sum = Matrix<double>::Zero(shared.parameters.view(name).rows(),
                                                  shared.parameters.view(name).cols());
        for (std::size_t slot = 0; slot < 5; ++slot)
          sum.middleCols(3 * slot_of(slot), 3) +=
              each.parameters.view(name).middleCols(3 * static_cast<Index>(slot), 3);
        CHECK(relative_difference(shared.parameters.view(name), sum) < 1e-12);
      }
    }
}

TEST_CASE("sharing that cannot be is refused") {
  const auto build = [](const LayerShape& shape) {
    return refusal([&] { Layer<double> layer(shape); });
  };
  for (const auto sharing : {Sharing::qk, Sharing::qkv, Sharing::identity})
    CHECK_THAT(build({.head_width = 1, .sharing = sharing, .group = 2}),
               ContainsSubstring("decoder_self:1") && ContainsSubstring("groups of 2"));
  CHECK_THAT(build({.sharing = Sharing::identity}), ContainsSubstring("head 6 has none"));
  CHECK_THAT(build({.heads = {0, 2}, .sharing = Sharing::identity}),
             ContainsSubstring("head 2 has none"));
  CHECK(build({.heads = {0, 1}, .sharing = Sharing::identity}) == "not refused");
  CHECK_THAT(build({.group = 0}), ContainsSubstring("0 heads cannot share"));
  ParameterLayout layout;
  CHECK_THAT(refusal([&] {
               Projections<double>({.site = Site::cross,
                                    .width = 7,
                                    .memory_width = 5,
                                    .head_width = 2,
                                    .heads = {0},
                                    .sharing = Sharing::qk},
                                   "layer", layout, nullptr);
             }),
             ContainsSubstring("7 and 5 wide"));
}

TEST_CASE("which heads are left decides which keys and values are") {
  AttentionConfig config;
  config.heads = {0, 1, 2, 5, 6};
  CHECK(config.key_value_heads() == config.heads);
  config.group = 2;
  CHECK(config.key_value_heads() == std::vector{0, 1, 2, 3});
  config.group = 7;
  CHECK(config.key_value_heads() == std::vector{0});
  config.heads.clear();
  CHECK(config.key_value_heads().empty());
}

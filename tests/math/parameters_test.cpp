#include "math/parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/error.hpp"
#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

struct Example {
  ParameterLayout layout;
  ParameterBlock w, qkv, b;
  Example() {
    w = layout.add("w", ParameterRole::feed_forward_in, 0, 3, 5);
    qkv = layout.add_side_by_side(1, 2,
                                  {{"q", ParameterRole::query, 3},
                                   {"k", ParameterRole::key, 1},
                                   {"v", ParameterRole::value, 2}});
    b = layout.add("b", ParameterRole::bias, -1, 1, 7);
  }
};

}  // namespace

TEST_CASE("parameters lie side by side as columns of one block") {
  const Example example;
  Parameters<double> parameters(example.layout);
  auto block = parameters.view(example.qkv);
  REQUIRE(block.rows() == 2);
  REQUIRE(block.cols() == 6);
  block << 1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16;
  const auto& read = parameters;
  CHECK(read.view("q") == (Matrix<double>(2, 3) << 1, 2, 3, 11, 12, 13).finished());
  CHECK(read.view("k") == (Matrix<double>(2, 1) << 4, 14).finished());
  CHECK(read.view("v") == (Matrix<double>(2, 2) << 5, 6, 15, 16).finished());
  parameters.view("k").setConstant(-1);
  CHECK(block(1, 3) == -1);
  CHECK(block(1, 4) == 15);
}

TEMPLATE_TEST_CASE("parameters do not overlap, start at 0 and at 64 bytes", "", float, double) {
  const Example example;
  CHECK(example.layout.count() == 3 * 5 + 2 * 6 + 7);
  Parameters<TestType> parameters(example.layout);
  REQUIRE(parameters.size() == example.layout.size());
  for (Index i = 0; i < parameters.size(); ++i) CHECK(parameters.data()[i] == TestType{0});
  for (const auto& block : {example.w, example.qkv, example.b})
    CHECK(reinterpret_cast<std::uintptr_t>(parameters.view(block).data()) % 64 == 0);

  TestType next = 0;
  for (const auto& entry : example.layout.entries())
    for (Index i = 0; i < entry.block.rows; ++i)
      for (Index j = 0; j < entry.block.cols; ++j) parameters.view(entry.block)(i, j) = ++next;
  std::set<TestType> found;
  for (Index i = 0; i < parameters.size(); ++i)
    if (parameters.data()[i] != TestType{0}) found.insert(parameters.data()[i]);
  CHECK(static_cast<std::int64_t>(found.size()) == example.layout.count());

  const auto copy = parameters.clone();
  parameters.set_zero();
  CHECK(parameters.view("b").sum() == TestType{0});
  CHECK(copy.view("b")(0, 6) == next);
  CHECK(copy.view("w")(0, 0) == TestType{1});
}

TEST_CASE("parameters are found by name") {
  Example example;
  std::vector<std::string> names;
  for (const auto& entry : example.layout.entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"w", "q", "k", "v", "b"});
  CHECK(example.layout.at("k").role == ParameterRole::key);
  CHECK(example.layout.at("k").layer == 1);
  CHECK(example.layout.at("b").layer == -1);
  CHECK(example.layout.contains("v"));
  CHECK_FALSE(example.layout.contains("qkv"));
  CHECK_THROWS_WITH(example.layout.at("u"), ContainsSubstring("'u'"));
  CHECK_THROWS_AS(Parameters<float>(example.layout).view("u"), Error);
  CHECK_THROWS_WITH(example.layout.add("v", ParameterRole::bias, 0, 1, 1), ContainsSubstring("v"));
  CHECK_THROWS_AS(example.layout.add_side_by_side(
                      0, 1, {{"twin", ParameterRole::bias, 1}, {"twin", ParameterRole::bias, 1}}),
                  Error);
}

TEST_CASE("parameters with nothing in them") {
  ParameterLayout layout;
  layout.add_side_by_side(0, 4, {{"q", ParameterRole::query, 0}, {"k", ParameterRole::key, 0}});
  layout.add("b", ParameterRole::bias, 0, 1, 2);
  const Parameters<float> parameters(layout);
  CHECK(layout.count() == 2);
  CHECK(parameters.view("k").size() == 0);
  CHECK(parameters.view("k").rows() == 4);
  CHECK(parameters.view("b").size() == 2);
}

TEST_CASE("parameters are rounded all at once, and again after a change") {
  Example example;
  Parameters<float> parameters(example.layout);
  const auto values = random_matrix<float>(2, example.qkv.cols, 3);
  parameters.view(example.qkv) = values;
  const auto needed = [&] { return parameters.factor(Precision::bfloat16, example.qkv); };
  CHECK_THROWS_WITH(needed(), ContainsSubstring("not rounded"));
  parameters.round(Precision::float32);
  CHECK(parameters.factor(Precision::float32, example.qkv).rounded == nullptr);
  CHECK_THROWS_WITH(needed(), ContainsSubstring("not rounded"));

  parameters.round(Precision::bfloat16);
  Rounding<float> alone;
  const auto wanted = alone.of(Precision::bfloat16, values);
  const auto same = [&] {
    return std::equal(wanted.rounded, wanted.rounded + values.size(), needed().rounded);
  };
  CHECK(same());
  CHECK(same_bits(needed().values, values));
  CHECK(parameters.factor(Precision::float32, example.qkv).rounded == nullptr);
  // Columns of a block lie as far apart as the block's.
  const auto& v = example.layout.at("v").block;
  const auto columns = parameters.factor(Precision::bfloat16, v);
  CHECK(columns.rounded == needed().rounded + (v.offset - example.qkv.offset));
  CHECK(columns.stride == example.qkv.stride);

  parameters.view(example.b)(0, 0) = 1;
  CHECK_THROWS_WITH(needed(), ContainsSubstring("not rounded"));
  parameters.round(Precision::bfloat16);
  parameters.set_zero();
  CHECK_THROWS_WITH(needed(), ContainsSubstring("not rounded"));
  parameters.round(Precision::bfloat16);
  CHECK_FALSE(same());
  CHECK_THROWS_WITH(parameters.clone().factor(Precision::bfloat16, example.qkv),
                    ContainsSubstring("not rounded"));

  Parameters<double> wide(example.layout);
  wide.round(Precision::bfloat16);
  CHECK(wide.factor(Precision::bfloat16, example.qkv).rounded == nullptr);
}

TEST_CASE("roles have names of their own, and say what decays") {
  std::set<std::string_view> names;
  int weights = 0;
  for (int role = 0; role <= static_cast<int>(ParameterRole::sublayer_scale); ++role) {
    names.insert(name_of(static_cast<ParameterRole>(role)));
    weights += is_weight(static_cast<ParameterRole>(role));
  }
  CHECK(names.size() == 14);
  CHECK(weights == 10);
  CHECK_FALSE(is_weight(ParameterRole::bias));
  CHECK_FALSE(is_weight(ParameterRole::norm_gain));
  CHECK_FALSE(is_weight(ParameterRole::stream_scale));
  CHECK_FALSE(is_weight(ParameterRole::sublayer_scale));
  CHECK(name_of(ParameterRole::norm_gain) == "norm gain");
}

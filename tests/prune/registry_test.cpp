#include <algorithm>

#include "catch.hpp"
#include "toy_pruning.hpp"

namespace headcount {
namespace {

TEST_CASE("every order of every method holds every head once") {
  const ToyPruning toy;
  for (const auto& method : pruning_methods().names()) {
    CAPTURE(method);
    for (auto order : toy.orders(method)) {
      std::sort(order.begin(), order.end());
      CHECK(order == toy.model.heads().all());
    }
  }
}

TEST_CASE("heads that are masked already are in no order") {
  ToyPruning toy;
  toy.treatment.mask(toy_head(0, 1), MaskKind::zero);
  toy.treatment.mask(toy_head(1, 0), MaskKind::uniform);
  const HeadOrder left{toy_head(0, 0), toy_head(1, 1), toy_head(1, 2)};
  for (const auto& method : pruning_methods().names()) {
    CAPTURE(method);
    for (auto order : toy.orders(method, 1, 3, {0, 1, 2, 3})) {
      std::sort(order.begin(), order.end());
      CHECK(order == left);
    }
  }
}

TEST_CASE("random orders follow from the seed alone, one after another") {
  const ToyPruning toy(6), other(7);
  const auto orders = toy.orders("random", 1, 4);
  REQUIRE(orders.size() == 4);
  CHECK(orders[0] != orders[1]);
  CHECK(orders[2] != orders[3]);
  CHECK(other.orders("random", 1, 4, {0, 5}) == orders);
  CHECK(toy.orders("random", 2, 4) != orders);
  const auto two = toy.orders("random", 1, 2);
  CHECK(two == std::vector<HeadOrder>{orders[0], orders[1]});
}

TEST_CASE("every random order is as likely as any other") {
  // 120 orders of 5 heads; how often each head goes first of 3,000: 600, standard deviation 22.
  const ToyPruning toy;
  HeadMap<int> first(toy.model.heads());
  for (const auto& order : toy.orders("random", 5, 3000)) ++first.at(order.front());
  for (const auto& id : toy.model.heads().all()) CHECK(std::abs(first.at(id) - 600) < 100);
}

}  // namespace
}  // namespace headcount

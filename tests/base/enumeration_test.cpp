#include "base/enumeration.hpp"

#include "catch.hpp"

namespace headcount {
namespace {

enum class Fruit { apple, pear };
constexpr auto kFruits = enumeration<Fruit>("fruit", "apple", "pear");

TEST_CASE("values of an enumeration are written and read by name") {
  CHECK(kFruits.name(Fruit::pear) == "pear");
  CHECK(kFruits.parse("apple") == Fruit::apple);
  CHECK(kFruits.names() == std::vector<std::string>{"apple", "pear"});
  CHECK_THROWS_WITH(kFruits.parse("appel"),
                    "unknown fruit 'appel'; did you mean 'apple'? (known: apple, pear)");
  CHECK_THROWS_WITH(kFruits.parse("x"), "unknown fruit 'x' (known: apple, pear)");
  CHECK_THROWS(kFruits.name(static_cast<Fruit>(2)));
}

}  // namespace
}  // namespace headcount

// The small grammars inside values: lists, ranges, numbers, names and heads. The first byte chooses
// which; the rest is the text.
#include <set>
#include <vector>

#include "attention/sites.hpp"
#include "fuzz.hpp"
#include "spec/axis_values.hpp"
#include "spec/lexical.hpp"
#include "spec/value_type.hpp"

namespace headcount {
namespace {

const std::vector<ValueType>& value_types() {
  static const std::vector<ValueType> types{
      type::text(),
      type::label(),
      type::integer(-1000000000),
      type::integer(1, 100),
      type::real("(-inf, inf)"),
      type::real("[0, 1)"),
      type::real("(0, inf)").or_word("auto"),
      type::boolean(),
      type::choices({"one", "two", "three"}),
      type::integers(0, 4096).or_word("auto"),
      type::names({"entropy", "confidence", "distance"}),
      type::heads(),
  };
  return types;
}

// A canonical value is its own canonical form.
void convert(const ValueType& type, std::string_view text) {
  const auto once = type.convert(text);
  if (!once.ok()) return;
  const auto twice = type.convert(once.text);
  fuzz::require(twice.ok(), "a canonical value is a value");
  fuzz::require(twice.text == once.text, "a canonical value stays as it is");
}

void sweep(const ValueType& type, std::string_view text) {
  const auto axis = parse_axis_values(type, text);
  std::set<std::string> seen;
  for (const auto& value : axis.values) {
    fuzz::require(seen.insert(value).second, "the values of an axis differ");
    if (seen.size() <= 100) convert(type, value);
  }
}

void cut(std::string_view text) {
  split_list(text);
  cut_comment(text);
  unfit_bytes(text);
  unquote(text);
  fuzz::require(unfit_bytes(shown(text)).empty(), "what is shown is plain text");
  const auto name = file_safe(text, 100);
  fuzz::require(name.size() <= 100 && name.find('/') == std::string::npos, "a name fits a folder");
}

void choose_heads(std::string_view text) {
  static const std::vector<HeadCounts> models{
      {},
      {Site::decoder_self, {2, 0, 3}},
      {Site::encoder_self, std::vector<int>(1024, 256)},
  };
  for (const auto& counts : models)
    fuzz::answers([&] {
      for (const auto& id : select_heads(text, counts))
        fuzz::require(counts.contains(id), "a chosen head exists");
    });
}

// The grammar of claims belongs here once there is one: a function as those above, and a case.

}  // namespace
}  // namespace headcount

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  fuzz::Choices choices(fuzz::text_of(data, size));
  const std::size_t types = value_types().size();
  const std::size_t choice = choices.below(2 * types + 2);
  if (choice < types)
    convert(value_types()[choice], choices.rest());
  else if (choice < 2 * types)
    sweep(value_types()[choice - types], choices.rest());
  else if (choice == 2 * types)
    cut(choices.rest());
  else
    choose_heads(choices.rest());
  return 0;
}

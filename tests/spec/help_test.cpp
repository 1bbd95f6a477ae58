#include "spec/help.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

const Schema& small() {
  static const Schema schema({
      {"model.layers", type::integer(1, 64), "4", "Layers | of a stack."},
      {"model.init", type::choice({"a", "b"}), Default::required(), "How it starts."},
      {"seed.init", type::integer(0), Default::same_as("seed"), "Another seed."},
      {"train.time", type::real("(0, 9]").or_word("auto"), "1.50", "How long.", "s"},
  });
  return schema;
}

TEST_CASE("help as text") {
  const auto help = help_text(small(), HelpFormat::text);
  CHECK_THAT(help, ContainsSubstring("[model]\n"
                                     "layers = 4\n"
                                     "    integer: 1 .. 64\n"
                                     "    Layers | of a stack.\n"
                                     "init = required\n"
                                     "    choice: a, b\n"
                                     "    How it starts.\n"));
  CHECK_THAT(help, ContainsSubstring("init = as seed\n"));
  CHECK_THAT(help, ContainsSubstring("time = 1.5\n    real: (0, 9], or auto [s]\n"));
  CHECK(help.rfind("seed = 1\n", 0) == 0);
  CHECK_THAT(help, ContainsSubstring("\n[axis]\n"));
  CHECK(help.find('`') == std::string::npos);
}

TEST_CASE("help as markdown") {
  const auto help = help_text(small(), HelpFormat::markdown);
  CHECK_THAT(help,
             ContainsSubstring("\n## [model]\n\n"
                               "| key | type | default | meaning |\n"
                               "| --- | --- | --- | --- |\n"
                               "| `layers` | integer: 1 .. 64 | 4 | Layers \\| of a stack. |\n"
                               "| `init` | choice: a, b | required | How it starts. |\n"));
  CHECK_THAT(help, ContainsSubstring("## [scale.NAME]"));
}

TEST_CASE("every key is in the help, and no line of the text is wide") {
  const auto schema = sample_schema();
  const auto help = fmt::format("\n{}", help_text(schema, HelpFormat::text));
  for (const auto& key : schema.keys())
    CHECK_THAT(help, ContainsSubstring(fmt::format("\n{} = ", key.leaf())));
  std::size_t start = 0;
  while (start < help.size()) {
    const auto end = help.find('\n', start);
    CHECK(end - start <= 100);
    start = end + 1;
  }
}

}  // namespace
}  // namespace headcount

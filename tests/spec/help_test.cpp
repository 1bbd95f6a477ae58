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
      {"model.mask", type::choice({"a", "b"}), Default::by("model.layers", {{"1", "b"}}, "a"), ""},
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
  CHECK_THAT(help, ContainsSubstring("mask = a; b where model.layers = 1\n"));
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

TEST_CASE("the sections that act on keys have an example each, which is read as it stands") {
  const auto help = help_text(sample_schema(), HelpFormat::markdown);
  std::size_t examples = 0;
  const std::string fence = "```ini\n";
  for (auto at = help.find(fence); at != std::string::npos; at = help.find(fence, at)) {
    at += fence.size();
    const auto example = help.substr(at, help.find("```", at) - at);
    INFO(example);
    // Beside axes that the skip and the claim of the examples speak of.
    const bool has_axis = example.rfind("[axis]", 0) == 0;
    const std::string axes =
        has_axis ? "" : "[axis]\nmodel.heads = 1, 8, 16\nmodel.d-model = 64, 128\n";
    const bool zip = example.rfind("[zip", 0) == 0;
    CHECK(problems_of(kSampleData + (zip ? "" : axes) + example, {std::nullopt, {}, {"nll"}}) ==
          "");
    ++examples;
  }
  CHECK(examples == 6);
  CHECK_THAT(help_text(sample_schema(), HelpFormat::text),
             ContainsSubstring("        [zip.size]\n        model.layers  = 2, 4, 6\n"));
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

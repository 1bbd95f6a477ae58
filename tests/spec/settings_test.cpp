#include "spec/settings.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "catch.hpp"
#include "spec/laws.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

Settings sample() {
  return parse(
             "seed = 3\n[task]\ndata = austen\n[model]\nheads = (8 4)\nnorm = (pre "
             "post)\n[train]\nrate = 0.10\n"
             "shuffle = off\n[mask]\nheads = decoder_self:0:*\n"
             "[measure]\nmeasures = entropy,confidence\n")
      .trials.at(0)
      .settings;
}

TEST_CASE("getters are typed") {
  const auto settings = sample();
  CHECK(settings.integer("seed") == 3);
  CHECK(settings.integer("seed.init") == 3);
  CHECK(settings.real("train.rate") == 0.1);
  CHECK_FALSE(settings.boolean("train.shuffle"));
  CHECK(settings.text("task.data") == "austen");
  CHECK(settings.text("model.init") == "xavier-uniform");
  CHECK(settings.text("mask.heads") == "decoder_self:0:*");
  CHECK(settings.integers("model.heads") == std::vector<std::int64_t>{8, 4});
  CHECK(settings.list("model.heads") == std::vector<std::string>{"8", "4"});
  CHECK(settings.list("model.norm") == std::vector<std::string>{"pre", "post"});
  CHECK(settings.texts("measure.measures") == std::vector<std::string>{"entropy", "confidence"});
  CHECK(settings.texts("prune.methods").empty());
  CHECK(settings.is("attention.head-width", "auto"));
  CHECK(settings.canonical("train.shuffle") == "no");
  CHECK(settings.has("seed"));
  CHECK_FALSE(settings.has("experiment.name"));
}

TEST_CASE("asking for another type is a bug of ours") {
  const auto settings = sample();
  const auto fails = [](const auto& ask) {
    try {
      ask();
      return false;
    } catch (const Error& error) {
      return error.code() == ExitCode::internal;
    }
  };
  CHECK(fails([&] { settings.integer("train.rate"); }));
  CHECK(fails([&] { settings.real("seed"); }));
  CHECK(fails([&] { settings.boolean("task.data"); }));
  CHECK(fails([&] { settings.text("seed"); }));
  CHECK(fails([&] { settings.integers("seed"); }));
  CHECK(fails([&] { settings.integers("model.norm"); }));
  CHECK(fails([&] { settings.list("seed"); }));
  CHECK(fails([&] { settings.list("measure.measures"); }));
  CHECK(fails([&] { settings.texts("task.data"); }));
  CHECK(fails([&] { settings.integer("no.such"); }));
  CHECK(fails([&] { settings.canonical("no.such"); }));
  CHECK(fails([&] { settings.integer("attention.head-width"); }));  // holds `auto`
}

TEST_CASE("the text of a part, and its hash") {
  const auto part = sample().sections({"seed", "mask"});
  CHECK(part.to_text() ==
        "seed = 3\n"
        "\n"
        "[seed]\n"
        "init = 3\n"
        "data = 3\n"
        "\n"
        "[mask]\n"
        "heads = decoder_self:0:*\n"
        "kind = zero\n"
        "when = evaluate\n");
  CHECK(part.hash() == sha256_hex(part.to_text()));
  CHECK(part.hash() != sample().hash());
  CHECK(sample().sections({"prune"}).to_text() == "[prune]\nmethods =\n");
}

TEST_CASE("equal values in another spelling are equal settings") {
  const auto with = [](const std::string& rate) {
    return parse(std::string(kSampleData) + "[train]\nrate = " + rate + "\n").trials[0].settings;
  };
  CHECK(with("0.1") == with("0.10"));
  CHECK(with("1e-1").hash() == with("\"0.1\"").hash());
  CHECK_FALSE(with("0.1") == with("0.2"));
}

// A value of the key's type, spelled as a user might.
rc::Gen<std::string> spelled(const Key& key) {
  switch (key.type.kind()) {
    case ValueKind::integer:
      return rc::gen::map(rc::gen::inRange(1, 60), [](int n) { return std::to_string(n); });
    case ValueKind::real:
      return rc::gen::map(rc::gen::inRange(1, 99999),
                          [](int n) { return fmt::format("{:.7f}", n / 100000.0); });
    case ValueKind::boolean:
      return rc::gen::element<std::string>("yes", "off", "true", "no");
    case ValueKind::integers:
      return rc::gen::element<std::string>("3", "(3)", "( 8 4)", "(1 2 3)");
    case ValueKind::choices:
      return rc::gen::element<std::string>("pre", "(post)", "( pre post)", "(post pre post)");
    case ValueKind::heads:
      return rc::gen::element<std::string>("", "cross:*:1, decoder_self:0:00", "cross:1:*");
    case ValueKind::choice:
    case ValueKind::names: {
      const auto range = key.type.range();
      return rc::gen::just(range.substr(0, range.find(',')));
    }
    default:
      return rc::gen::container<std::string>(
          rc::gen::elementOf(std::string("ab =[]\"#;%,.()'\\é")));
  }
}

TEST_CASE("law: a printed spec reads back to equal settings") {
  const auto schema = sample_schema();
  REQUIRE(rc::check("any values", [&] {
    std::vector<std::string> sets{"task.data=x"};
    for (const auto& key : schema.keys()) {
      if (key.descriptive || *rc::gen::arbitrary<bool>()) continue;
      const auto value = *spelled(key);
      if (key.type.convert(value).ok()) sets.push_back(key.name + "=" + value);
    }
    const auto printed = parse("", {std::nullopt, sets}).trials.at(0).settings;
    const auto again = parse(printed.to_text()).trials.at(0).settings;
    RC_ASSERT(again == printed);
    RC_ASSERT(again.hash() == printed.hash());
  }));
}

}  // namespace
}  // namespace headcount

#include "spec/points.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "catch.hpp"
#include "spec/laws.hpp"
#include "spec/sample.hpp"

namespace headcount {
namespace {

using Texts = std::vector<std::string>;

const std::string kData = kSampleData;  // lines 1 and 2

Texts slugs(const std::string& text, const SpecOptions& options = {}) {
  Texts slugs;
  for (const auto& trial : parse(text, options).trials) slugs.push_back(trial.slug);
  return slugs;
}

SpecOptions set(const Texts& sets) { return {std::nullopt, sets, {}}; }

TEST_CASE("keys of a zip move together, as one factor where the section stands") {
  const auto experiment =
      parse(kData +
            "[axis]\nseed = 1, 2\n"
            "[zip.size]\nmodel.heads = (8 8 4 4), 4, 8\nmodel.layers = 4, 2, 2\n"
            "[axis]\ntrain.dropout = 0.0 .. 0.1 step 0.1\n");
  CHECK(experiment.axes == Texts{"seed", "model.heads", "model.layers", "train.dropout"});
  REQUIRE(experiment.trials.size() == 2 * 3 * 2);
  const auto& trial = experiment.trials[3];
  CHECK(
      trial.axis_values ==
      Point{{"seed", "1"}, {"model.heads", "4"}, {"model.layers", "2"}, {"train.dropout", "0.1"}});
  CHECK(trial.slug == "seed-1_heads-4_layers-2_dropout-0.1");
  CHECK(trial.case_name.empty());
  CHECK(trial.settings.integer("model.layers") == 2);
  CHECK(experiment.trials[0].settings.integers("model.heads") ==
        std::vector<std::int64_t>{8, 8, 4, 4});
}

TEST_CASE("a zip takes every form of range, and values that repeat") {
  const auto experiment = parse(kData +
                                "[zip.a]\nseed.init = 1 .. 3\ntrain.rate = log(1e-4 .. 1e-2, 3)\n"
                                "train.dropout = 0.1 .. 0.3 step 0.1\nmodel.layers = 2, 2, 4\n");
  REQUIRE(experiment.trials.size() == 3);
  CHECK(experiment.trials[1].settings.real("train.rate") == 0.001);
  CHECK(experiment.trials[1].settings.real("train.dropout") == 0.2);
  CHECK(experiment.trials[1].settings.integer("model.layers") == 2);
}

const std::string kZip = kData +
                         "[model]\nlayers = 7\n"
                         "[zip.size]\nmodel.layers = 2, 4, 4\nmodel.heads = 1, 2, 4\n"
                         "[scale.two]\nmodel.layers = 2, 3\nmodel.heads = 1, 2\n";

TEST_CASE("overriding a key of a zip") {
  // One value takes it out of the zip.
  CHECK(slugs(kZip, set({"model.layers=3"})) == Texts{"heads-1", "heads-2", "heads-4"});
  CHECK(parse(kZip, set({"model.layers=3"})).trials[2].settings.integer("model.layers") == 3);
  // Rows that are the same without it are one point.
  CHECK(slugs(kZip, set({"model.heads=8"})) == Texts{"layers-2", "layers-4"});
  CHECK(slugs(kZip, set({"model.heads=8", "model.layers=1"})) == Texts{"test"});
  const std::string three = kData +
                            "[zip.z]\nmodel.layers = 2, 2, 4\nmodel.heads = 1, 1, 4\n"
                            "train.steps = 1, 2, 3\n";
  CHECK(slugs(three, set({"train.steps=5"})) == Texts{"layers-2_heads-1", "layers-4_heads-4"});
  // Several replace its column; all columns together can get another length.
  CHECK(slugs(kZip, set({"model.heads=8, 8, 16"})) ==
        Texts{"layers-2_heads-8", "layers-4_heads-8", "layers-4_heads-16"});
  CHECK(slugs(kZip, {"two", {}, {}}) == Texts{"layers-2_heads-1", "layers-3_heads-2"});
  CHECK(problems_of(kZip, set({"model.layers=1, 2"})) ==
        "--set model.layers=1, 2: [zip.size]: model.layers has 2 values, model.heads (line 7) has "
        "3; keys that move together need equally many");
  CHECK(problems_of(kZip, set({"model.heads=1 .. 2"})) ==
        "--set model.heads=1 .. 2: [zip.size]: model.heads has 2 values, model.layers (line 6) has "
        "3; keys that move together need equally many");
}

TEST_CASE("cases are extra points, crossed with seeds only") {
  const auto experiment = parse(kData +
                                "[axis]\nmodel.heads = 1, 2\nseed = 1, 2\nseed.data = 5, 6\n"
                                "[model]\nlayers = 3\nheads = 16\n"
                                "[case.deep]\nmodel.layers = 12\n"
                                "[case.ragged]\nmodel.heads = (8 8 4)\nseed = 9\n");
  REQUIRE(experiment.trials.size() == 2 * 2 * 2 + 4 + 2);
  const auto& deep = experiment.trials[9];
  CHECK(deep.case_name == "deep");
  CHECK(deep.slug == "deep_seed-1_data-6");
  CHECK(deep.settings.integer("model.layers") == 12);
  CHECK(deep.settings.canonical("model.heads") == "16");  // what the file says outside its axis
  CHECK(deep.axis_values == Point{{"model.heads", "16"}, {"seed", "1"}, {"seed.data", "6"}});
  // Its own seed stands; the other is crossed.
  const auto& ragged = experiment.trials[13];
  CHECK(ragged.slug == "ragged_data-6");
  CHECK(ragged.settings.integer("seed") == 9);
  CHECK(ragged.settings.integer("seed.init") == 9);
  CHECK(ragged.settings.canonical("model.heads") == "(8 8 4)");
}

TEST_CASE("a case can hold lists and ranges, and seeds of a zip cross it") {
  CHECK(slugs(kData + "[zip.a]\nseed = 1, 1, 2\nmodel.heads = 1, 2, 2\n"
                      "[case.deep]\nmodel.layers = 8 .. 10 step 2\ntrain.steps = 5\n") ==
        Texts{"seed-1_heads-1", "seed-1_heads-2", "seed-2_heads-2", "deep_layers-8_seed-1",
              "deep_layers-8_seed-2", "deep_layers-10_seed-1", "deep_layers-10_seed-2"});
}

TEST_CASE("in a case: file < scale < case < --set") {
  const std::string spec = kData +
                           "[axis]\nseed = 1, 2\n[train]\nsteps = 9\n"
                           "[case.deep]\nmodel.layers = 12\nseed = 4\n"
                           "[scale.smoke]\ntrain.steps = 5\nmodel.layers = 2\nseed = 3\n";
  const auto last = [&](const std::optional<std::string>& scale, const Texts& sets) {
    return parse(spec, {scale, sets, {}}).trials.back();
  };
  CHECK(last(std::nullopt, {}).settings.integer("train.steps") == 9);
  const auto smoke = last("smoke", {});
  CHECK(smoke.settings.integer("train.steps") == 5);
  CHECK(smoke.settings.integer("model.layers") == 12);  // what makes it a case stays
  CHECK(smoke.settings.integer("seed") == 4);
  CHECK(last("smoke", {"model.layers=6"}).settings.integer("model.layers") == 6);
  CHECK(last(std::nullopt, {"seed=7, 8"}).slug == "deep_seed-8");
  // A new axis over a key that the case sets is not for the case.
  CHECK(last(std::nullopt, {"model.layers=1, 2"}).settings.integer("model.layers") == 12);
  CHECK(last(std::nullopt, {"train.steps=1"}).settings.integer("train.steps") == 1);
}

TEST_CASE("skips drop the points that match all of their lines") {
  const std::string axes = kData + "[axis]\nmodel.layers = 1 .. 3\nmodel.heads = (2 2), 4, 8\n";
  CHECK(slugs(axes + "[skip.a]\nmodel.layers = 2 .. 3\nmodel.heads = (2 2), 8\n") ==
        Texts{"layers-1_heads-2-2", "layers-1_heads-4", "layers-1_heads-8", "layers-2_heads-4",
              "layers-3_heads-4"});
  // A key that is not swept is compared too, also one that follows another.
  CHECK(slugs(axes + "[skip.a]\nmodel.layers = 1, 2\ntrain.dropout = 0.10\n").size() == 3);
  CHECK(slugs(kData + "[axis]\nseed = 1 .. 3\n[skip.a]\nseed.init = 2 .. 9\n") == Texts{"seed-1"});
  CHECK(slugs(kData + "[zip.a]\nseed = 1, 2\nmodel.layers = 1, 2\n[skip.a]\nmodel.layers = 2\n") ==
        Texts{"seed-1_layers-1"});
  // Where one skip covers another, both act; cases stay.
  CHECK(slugs(kData + "[axis]\nseed = 1, 2\n[skip.a]\nseed = 1, 2\n[skip.b]\nseed = 2\n"
                      "[case.c]\nmodel.layers = 1\n") == Texts{"c_seed-1", "c_seed-2"});
}

TEST_CASE("a skip that loses its points to --set is let be, one that never had any is not") {
  const std::string spec = kData + "[axis]\nmodel.heads = 1, 2\n[skip.a]\nmodel.heads = 2\n";
  CHECK(slugs(spec, set({"model.heads=1"})) == Texts{"test"});
  CHECK(problems_of(kData + "[axis]\nseed = 1\n[skip.a]\nmodel.heads = 2\n",
                    set({"model.layers=1"})) ==
        "test.ini:6: [skip.a] matches no point of the sweep");
}

TEST_CASE("limits hold after skips and before memory is taken") {
  const std::string axes = kData + "[axis]\nseed = 1 .. 100\nmodel.layers = 1 .. 64\n";
  const std::string skip = "[skip.a]\nmodel.layers = 2 .. 64\n";
  const auto limit = [](int trials) {
    return set({fmt::format("experiment.max-trials={}", trials)});
  };
  CHECK(problems_of(axes + skip, limit(100)) == "");
  CHECK(problems_of(axes + skip, limit(99)) ==
        "test.ini:5: the axes make more than 99 trials; leave values out, or raise "
        "experiment.max-trials");
  CHECK(problems_of(axes + skip + "[case.x]\nmodel.heads = 2\nmodel.layers = 5\n", limit(199)) ==
        "test.ini:8: the axes and cases make more than 199 trials; leave values out, or raise "
        "experiment.max-trials");
  CHECK(
      problems_of(axes + "train.steps = 1 .. 100000\n" + skip) ==
      "test.ini:6: the axes make more than 100000 points before any is skipped; leave values out");
  const std::string long_text(60'000, 'x');
  CHECK_THAT(
      problems_of("[task]\ndata = " + long_text + "\n[axis]\nseed = 1 .. 20000\n", limit(20000)),
      ContainsSubstring("test.ini:4: the axes make 20000 trials of 6"));
}

std::string lists(const std::string& section, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("[{}.x{}]\nseed = 1 .. 100000\n", section, i);
  return text;
}

TEST_CASE("hostile specs take neither time nor memory") {
  CHECK_THAT(problems_of(kData + lists("skip", 5000)),
             ContainsSubstring("the lists of a spec hold at most 200000 values in all"));
  CHECK_THAT(problems_of(kData + lists("scale", 5000)),
             ContainsSubstring("the lists of a spec hold at most 200000 values in all"));
  CHECK_THAT(problems_of(kData + lists("case", 1)),
             ContainsSubstring("the axes and cases make more than 10000 trials"));
  std::string skips = kData + "[axis]\nseed = 1 .. 9\n";
  for (int i = 0; i <= 500; ++i) skips += fmt::format("[skip.x{}]\nseed = 1\n", i);
  CHECK_THAT(problems_of(skips), ContainsSubstring("the skips have more than 500 lines in all"));
  std::string claims = kData;
  for (int i = 0; i <= 200; ++i) claims += fmt::format("[claim.x{}]\nleft = nll\n", i);
  CHECK_THAT(problems_of(claims), ContainsSubstring("a spec has at most 200 claims"));
  std::string zips = kData;
  for (int i = 0; i < 9000; ++i) zips += fmt::format("[zip.x{}]\nseed = 1\n", i);
  CHECK_THAT(problems_of(zips), ContainsSubstring("... and more"));
}

// A spec of random axes, a zip, a case and a skip, beside the number of trials it must make.
struct RandomSpec {
  std::string text;
  std::size_t trials = 0;
};

RandomSpec random_spec() {
  const auto heads = *rc::gen::inRange(1, 5);
  const auto seeds = *rc::gen::inRange(1, 4);
  const auto zipped = *rc::gen::inRange(1, 4);
  const auto skipped = *rc::gen::inRange(1, 5);  // heads up to this one, in the zip's first row
  const auto cases = *rc::gen::inRange(0, 3);
  std::string layers, widths;
  for (int i = 1; i <= zipped; ++i) {
    layers += fmt::format("{}{}", i > 1 ? ", " : "", i);
    widths += fmt::format("{}{}", i > 1 ? ", " : "", 64 * (i / 2 + 1));
  }
  RandomSpec spec;
  spec.text = kData + fmt::format(
                          "[axis]\nmodel.heads = 1 .. {}\nseed = 1 .. {}\n"
                          "[zip.size]\nmodel.layers = {}\nmodel.d-model = {}\n",
                          heads, seeds, layers, widths);
  spec.text += fmt::format("[skip.s]\nmodel.layers = 1\nmodel.heads = 1 .. {}\n", skipped);
  const int dropped = std::min(heads, skipped) * seeds;
  const int product = heads * seeds * zipped;
  for (int i = 0; i < cases; ++i)
    spec.text += fmt::format("[case.c{}]\ntrain.steps = {}\n", i, 5 + i);
  spec.trials = static_cast<std::size_t>(product - dropped + cases * seeds);
  return spec;
}

TEST_CASE("law: points are the product less the skips and the cases, all different") {
  REQUIRE(rc::check("random specs", [] {
    const auto spec = random_spec();
    if (spec.trials == 0) {
      RC_ASSERT(problems_of(spec.text).find("no trial is left") != std::string::npos);
      return;
    }
    const auto trials = parse(spec.text).trials;
    RC_ASSERT(trials.size() == spec.trials);
    std::set<std::string> hashes, names;
    for (const auto& trial : trials) {
      hashes.insert(trial.settings.hash());
      names.insert(trial.slug);
    }
    RC_ASSERT(hashes.size() == spec.trials);
    RC_ASSERT(names.size() == spec.trials);
    const auto limit = [&](std::size_t n) {
      return set({fmt::format("experiment.max-trials={}", n)});
    };
    RC_ASSERT(problems_of(spec.text, limit(spec.trials)).empty());
    if (spec.trials > 1) RC_ASSERT_FALSE(problems_of(spec.text, limit(spec.trials - 1)).empty());
  }));
}

TEST_CASE("law: the resolved text of every trial reads back to its settings") {
  REQUIRE(rc::check("random specs", [] {
    const auto spec = random_spec();
    if (spec.trials == 0) return;
    for (const auto& trial : parse(spec.text).trials) {
      const auto again = parse(trial.settings.to_text()).trials;
      RC_ASSERT(again.size() == 1u);
      RC_ASSERT(again[0].settings == trial.settings);
    }
  }));
}

TEST_CASE("law: ids do not depend on the order of keys within a section") {
  REQUIRE(rc::check("shuffled lines", [] {
    const auto shuffled = [](const std::string& section, Texts lines) {
      // Every order is reached by rotations and one swap.
      const auto turn = *rc::gen::inRange<std::size_t>(0, lines.size());
      std::rotate(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(turn), lines.end());
      if (*rc::gen::arbitrary<bool>()) std::swap(lines[0], lines[1]);
      std::string text = "[" + section + "]\n";
      for (const auto& line : lines) text += line + "\n";
      return text;
    };
    const auto spec = [&](auto order) {
      return kData + "[axis]\nseed = 1, 2\nmodel.heads = 2, 4\n" +
             order("model", {"layers = 2", "d-model = 64", "init = gaussian"}) +
             order("case.a", {"model.layers = 3", "train.steps = 5", "train.rate = 0.1"}) +
             order("skip.b", {"model.heads = 2", "seed = 1", "model.layers = 2"}) +
             order("zip.z", {"train.dropout = 0.1, 0.2", "measure.patterns = 1, 2"});
    };
    const auto ids = [](const std::string& text) {
      std::set<std::string> found;
      for (const auto& trial : parse(text).trials) {
        auto values = trial.axis_values;
        std::sort(values.begin(), values.end());
        found.insert(trial_id(trial.case_name + slug_of(values, "x"), trial.settings, "data"));
      }
      return found;
    };
    const auto as_is = [](const std::string& section, const Texts& lines) {
      std::string text = "[" + section + "]\n";
      for (const auto& line : lines) text += line + "\n";
      return text;
    };
    RC_ASSERT(ids(spec(shuffled)) == ids(spec(as_is)));
    RC_ASSERT(ids(spec(as_is)).size() == 8u - 2u + 2u);
  }));
}

TEST_CASE("law: a zip of unequal lengths is refused, of equal lengths it has that many points") {
  REQUIRE(rc::check("two columns", [] {
    const auto a = *rc::gen::inRange(1, 12);
    const auto b = *rc::gen::inRange(1, 12);
    const auto text =
        kData + fmt::format("[zip.z]\nmodel.layers = 1 .. {}\nmodel.heads = 1 .. {}\n", a, b);
    if (a == b) {
      RC_ASSERT(parse(text).trials.size() == static_cast<std::size_t>(a));
    } else {
      RC_ASSERT(problems_of(text) ==
                fmt::format("test.ini:5: [zip.z]: model.heads has {} values, model.layers (line 4) "
                            "has {}; keys that move together need equally many",
                            b, a));
    }
  }));
}

}  // namespace
}  // namespace headcount

#include "run/calibration.hpp"

#include <rapidcheck.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "catch.hpp"
#include "sample.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

// Little enough for a slow build.
const std::vector<ProbeModel> kTinyGrid{{8, 1, 8, 1, 16, 16}, {8, 2, 16, 2, 64, 16}};

Calibration made_up() {
  Calibration calibration;
  for (std::size_t i = 0; i < kFeatures; ++i)
    calibration.seconds.at(i) = 1e-9 * static_cast<double>(i);
  return calibration;
}

struct TemporaryFile {
  fs::path path = fresh_folder() / "calibration.json";
  ~TemporaryFile() { fs::remove_all(path.parent_path()); }
  static fs::path fresh_folder() {
    std::string name = (fs::temp_directory_path() / "headcount-calibration-XXXXXX").string();
    return ::mkdtemp(name.data());
  }
};

TEST_CASE("the fit finds the rates that made the times") {
  REQUIRE(rc::check("fit", [] {
    const auto rates = *rc::gen::container<std::vector<int>>(kFeatures, rc::gen::inRange(0, 5));
    std::vector<Probe> probes;
    for (int i = 0; i < 60; ++i) {
      Probe probe;
      const auto amounts = *rc::gen::container<std::vector<int>>(kFeatures, rc::gen::inRange(0, 9));
      for (const auto feature : all_features()) {
        const auto f = static_cast<std::size_t>(feature);
        probe.work[feature] = 1e6 * amounts[f];
        probe.seconds += 1e-3 * amounts[f] * rates[f];
      }
      if (probe.seconds > 0) probes.push_back(probe);
    }
    const auto calibration = fit(probes);
    for (const auto& probe : probes)
      RC_ASSERT(std::abs(calibration.time(probe.work) / probe.seconds - 1) < 1e-3);
  }));
}

TEST_CASE("no rate is negative, whatever the times say") {
  // The second does more of one thing than the first and takes less time.
  Probe first, second;
  first.work[Feature::products] = 1;
  first.work[Feature::updates] = 1;
  first.seconds = 2;
  second.work[Feature::products] = 1;
  second.work[Feature::updates] = 3;
  second.seconds = 1;
  const auto calibration = fit({first, second});
  CHECK(calibration.rate(Feature::updates) == 0);
  // The least of (r/2 - 1)² + (r - 1)² is at r = 6/5.
  CHECK(calibration.rate(Feature::products) == Approx(1.2));
  CHECK(calibration.rate(Feature::slices) == 0);  // nothing tells
}

TEST_CASE("real work is timed and told again") {
  const auto probes = run_probes(0, kTinyGrid);
  REQUIRE(probes.size() == 2 * 5);
  for (const auto& probe : probes) {
    CAPTURE(probe.name);
    CHECK(probe.seconds > 0);
    CHECK(probe.work.flops() > 0);
  }
  const auto calibration = fit(probes);
  for (const auto feature : all_features()) CHECK(calibration.rate(feature) >= 0);
  CHECK(calibration.time(probes.front().work) > 0);
}

TEST_CASE("every feature is in some probe, or it could not be fitted") {
  Work all;
  for (const auto& probe : calibration_grid()) {
    ModelConfig config;
    config.width = probe.width;
    config.vocabulary = config.longest = 8;
    config.feed_forward = 8;
    config.set_heads({probe.heads}, {1});
    config.activation = probe.activation;
    config.dropout = config.pattern_dropout = probe.dropout;
    CHECK(probe.width % probe.heads == 0);
    const auto shape = ModelShape::of(config);
    all += step_work(shape, {{1, 1, 1, 1}, 1, 1, probe.precision});
    all += observation_work("entropy", shape, {1, 1, 1, 1});
  }
  for (const auto feature : all_features()) {
    CAPTURE(name_of(feature));
    CHECK(all[feature] > 0);
  }
}

TEST_CASE("a calibration is read back as it was written") {
  const TemporaryFile file;
  write_calibration(made_up(), file.path);
  CHECK(read_calibration(file.path).seconds == made_up().seconds);
}

TEST_CASE("a calibration that is broken or of another build is refused") {
  const TemporaryFile file;
  const auto problem = [&] {
    try {
      read_calibration(file.path);
      return std::string("none");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(problem(), ContainsSubstring("no such file"));
  for (const char* text : {"", "[]", "{", "nul", "{\"holds_for\": 1}", "\xff\xfe", "3"}) {
    CAPTURE(text);
    write_text(file.path, text);
    CHECK_THAT(problem(), ContainsSubstring("this is no calibration"));
  }
  write_text(file.path, std::string(100'000, '['));
  CHECK_THAT(problem(), ContainsSubstring("100000 bytes"));

  write_calibration(made_up(), file.path);
  const auto sound = parse_json(read_file(file.path));
  const auto with = [&](const char* pointer, const Json& value) {
    auto changed = sound;
    changed[Json::json_pointer(pointer)] = value;
    write_text(file.path, changed.dump());
    return problem();
  };
  CHECK(with("/holds_for", sound["holds_for"]) == "none");
  CHECK_THAT(with("/holds_for/cpu", "abacus"), ContainsSubstring("another processor"));
  CHECK_THAT(with("/holds_for/flags", "-O0"), ContainsSubstring("another build"));
  for (const auto& value : std::vector<Json>{-1.0, 1e300, nullptr, "fast", {1}})
    CHECK_THAT(with("/seconds_per_unit/updates", value), ContainsSubstring("updates"));
  CHECK_THAT(with("/seconds_per_unit", {1, 2}), ContainsSubstring("no rate of"));
}

}  // namespace
}  // namespace headcount

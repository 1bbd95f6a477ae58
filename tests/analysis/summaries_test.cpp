#include "analysis/summaries.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "store/writer.hpp"

namespace headcount {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

VariableInfo about(const char* units) { return {.long_name = "of a test", .units = units}; }

// 20 steps of 2 layers; what is recorded rarely is at steps 1, 10 and 20.
void write_training(ResultWriter& writer) {
  std::vector<std::int64_t> steps;
  std::vector<double> loss, norm, saturation;
  for (int step = 1; step <= 20; ++step) {
    steps.push_back(step);
    loss.push_back(step);
    norm.insert(norm.end(), {step == 19 ? 8.0 : 2.0, 1.0});
    const bool recorded = step == 1 || step % 10 == 0;
    saturation.insert(saturation.end(), {recorded ? 0.1 * step : kNone, recorded ? 0.0 : kNone});
  }
  writer.dimension("/training", "step", steps, about("1"));
  writer.dimension("/training", "layer", std::vector<std::int64_t>{0, 1}, about("1"));
  writer.variable("/training", "loss", {"step"}, loss, about("nats per target"));
  writer.variable("/training", "layer_gradient_norm", {"step", "layer"}, norm, about("1"));
  writer.variable("/training", "layer_softmax_saturation", {"step", "layer"}, saturation,
                  about("1"));
}

void write_heads(ResultWriter& writer) {
  const std::string group = "/heads/decoder_self";
  writer.dimension(group, "layer", std::vector<std::int64_t>{0, 1}, about("1"));
  writer.dimension(group, "head", std::vector<std::int64_t>{0, 1, 2}, about("1"));
  writer.variable(group, "entropy", {"layer", "head"},
                  std::vector<double>{kNone, 1, kNone, 1, 2, 3}, about("nats"));
}

template <class Write>
std::map<std::string, TrialScore> summaries(const Write& write) {
  const TemporaryFolder folder;
  publish_result(folder / "trial.h5", write);
  return summaries_of(ResultFile(folder / "trial.h5"));
}

}  // namespace

TEST_CASE("curves are summed up over their last tenth, worked by hand") {
  const auto found = summaries(write_training);
  CHECK(found.at("training_loss").value == Approx(19.5));
  CHECK(found.at("training_loss").split == "train");
  CHECK(found.at("training_loss").unit == "nats per target");
  CHECK(found.at("gradient_ratio").value == Approx(4));  // of 8 and 2
  CHECK(found.at("gradient_ratio_at_start").value == Approx(2));
  CHECK(found.at("softmax_saturation").value == Approx(1));  // step 20 alone: 2 and 0
  CHECK_FALSE(found.contains("training_entropy"));
  CHECK_FALSE(found.contains("lowest_entropy_spread"));
}

TEST_CASE("heads are spread in the lowest layer that has two") {
  const auto found = summaries(write_heads);
  CHECK(found.at("lowest_entropy_spread").value == Approx(1));  // of 1, 2, 3
  CHECK(found.at("lowest_entropy_spread").split == "measured");
  CHECK(found.size() == 1);
}

TEST_CASE("curves of another shape are refused") {
  CHECK_THROWS_WITH(
      summaries([](ResultWriter& writer) {
        writer.dimension("/training", "step", std::vector<std::int64_t>{1, 2, 3}, about("1"));
        writer.dimension("/training", "other", std::size_t{2});
        writer.variable("/training", "loss", {"other"}, std::vector<double>{1, 2}, about("nats"));
      }),
      ContainsSubstring("not a curve"));
}

TEST_CASE("every summary says what it is") {
  for (const auto& summary : trial_summaries().entries()) {
    CAPTURE(summary.about.name);
    CHECK_FALSE(summary.about.definition.empty());
    CHECK_FALSE(summary.unit.empty());
  }
}

}  // namespace headcount

#include "analysis/summaries.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace headcount {
namespace {

constexpr const char* kStep = "/training/step";

// Rows of a dataset over training steps, [step, layer] or [step].
struct Curve {
  std::vector<std::int64_t> steps;
  std::vector<std::vector<double>> rows;

  bool is_recorded(std::size_t i) const {
    for (const double value : rows[i])
      if (!std::isfinite(value)) return false;
    return !rows[i].empty();
  }
  bool is_at_the_end(std::size_t i) const {
    return 10 * (steps.back() - steps[i]) < steps.back() - steps.front() + 1;
  }
};

std::optional<Curve> read_curve(const ResultFile& file, const std::string& name) {
  const std::string path = "/training/" + name;
  if (!file.exists(kStep) || !file.exists(path)) return std::nullopt;
  Curve curve{file.read<std::int64_t>(kStep), {}};
  const auto shape = file.shape(path);
  if (shape.empty() || shape.size() > 2 || shape[0] != curve.steps.size())
    throw Error(ExitCode::bad_data, fmt::format("{} is not a curve over {}", path, kStep));
  const auto values = file.read<double>(path);
  const std::size_t width = shape.size() == 2 ? shape[1] : 1;
  for (std::size_t i = 0; i < curve.steps.size(); ++i) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * width);
    curve.rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(width));
  }
  return curve;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double first_over_last(const std::vector<double>& layers) { return layers.front() / layers.back(); }

// The mean at the end of what `of` makes of each row.
template <class Of>
std::optional<double> at_the_end(const ResultFile& file, const char* name, const Of& of) {
  const auto curve = read_curve(file, name);
  if (!curve) return std::nullopt;
  std::vector<double> values;
  for (std::size_t i = 0; i < curve->rows.size(); ++i)
    if (curve->is_at_the_end(i) && curve->is_recorded(i)) values.push_back(of(curve->rows[i]));
  if (values.empty()) return std::nullopt;
  return mean_of(values);
}

std::optional<double> mean_at_the_end(const ResultFile& file, const char* name) {
  return at_the_end(file, name, mean_of);
}

std::optional<double> ratio_at_the_end(const ResultFile& file, const char* name) {
  const auto log_ratio = at_the_end(file, name, [](const std::vector<double>& layers) {
    return std::log(first_over_last(layers));
  });
  return log_ratio ? std::optional(std::exp(*log_ratio)) : std::nullopt;
}

std::optional<double> ratio_at_the_start(const ResultFile& file, const char* name) {
  const auto curve = read_curve(file, name);
  if (!curve || curve->rows.empty() || !curve->is_recorded(0)) return std::nullopt;
  return first_over_last(curve->rows.front());
}

// Standard deviation over the heads of the lowest layer that has at least two.
std::optional<double> spread_of_lowest_heads(const ResultFile& file, const std::string& measure) {
  if (!file.exists("/heads")) return std::nullopt;
  for (const auto& site : file.children("/heads")) {
    const std::string path = fmt::format("/heads/{}/{}", site, measure);
    if (!file.exists(path)) continue;
    const auto shape = file.shape(path);
    if (shape.size() != 2)
      throw Error(ExitCode::bad_data, fmt::format("{} is not a layer × head grid", path));
    const auto values = file.read<double>(path);
    for (std::size_t layer = 0; layer < shape[0]; ++layer) {
      std::vector<double> heads;
      for (std::size_t head = 0; head < shape[1]; ++head)
        if (const double value = values[layer * shape[1] + head]; std::isfinite(value))
          heads.push_back(value);
      if (heads.size() < 2) continue;
      const double mean = mean_of(heads);
      double squares = 0;
      for (const double value : heads) squares += (value - mean) * (value - mean);
      return std::sqrt(squares / static_cast<double>(heads.size() - 1));
    }
  }
  return std::nullopt;
}

}  // namespace

const Registry<TrialSummary>& trial_summaries() {
  using File = ResultFile;
  static const Registry<TrialSummary> registry(
      "trial summary",
      {{{"training_loss", "mean training loss at the end", ""},
        "nats per target",
        [](const File& file) { return mean_at_the_end(file, "loss"); }},
       {{"gradient_ratio",
         "gradient norm of the first layer over that of the last, geometric mean at the end",
         "Zhang, Titov & Sennrich 2019"},
        "1",
        [](const File& file) { return ratio_at_the_end(file, "layer_gradient_norm"); }},
       {{"gradient_ratio_at_start",
         "gradient norm of the first layer over that of the last, at the first step",
         "Zhang, Titov & Sennrich 2019"},
        "1",
        [](const File& file) { return ratio_at_the_start(file, "layer_gradient_norm"); }},
       {{"activation_variance_ratio",
         "variance of the residual stream after the first layer over that after the last, "
         "geometric "
         "mean at the end",
         ""},
        "1",
        [](const File& file) { return ratio_at_the_end(file, "layer_activation_variance"); }},
       {{"training_entropy", "attention entropy at the end, mean over layers", ""},
        "nats",
        [](const File& file) { return mean_at_the_end(file, "layer_attention_entropy"); }},
       {{"softmax_saturation", "Σ p(1-p) of a row of attention at the end, mean over layers", ""},
        "1",
        [](const File& file) { return mean_at_the_end(file, "layer_softmax_saturation"); }},
       {{"lowest_entropy_spread",
         "standard deviation of the entropy over the heads of the lowest layer", ""},
        "nats",
        [](const File& file) { return spread_of_lowest_heads(file, "entropy"); },
        "measured"}});
  return registry;
}

std::map<std::string, TrialScore> summaries_of(const ResultFile& file) {
  std::map<std::string, TrialScore> found;
  for (const auto& summary : trial_summaries().entries())
    if (const auto value = summary.value(file))
      found[summary.about.name] = {*value, summary.split, summary.about.definition, summary.unit};
  return found;
}

}  // namespace headcount

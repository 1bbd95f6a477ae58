#include "measure/measure.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace headcount {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

template <class Real>
auto pattern_of(const MeasureEntry& entry) {
  if constexpr (std::is_same_v<Real, float>)
    return entry.pattern_float;
  else
    return entry.pattern_double;
}

template <class Real>
HeadTerms compute(const MeasureEntry& entry, const MeasureInput<Real>& input) {
  if constexpr (std::is_same_v<Real, float>)
    return entry.compute_float(input);
  else
    return entry.compute_double(input);
}

// Gathers several pattern statistics in one pass.
template <class Real>
class PatternStatistics : public ExampleObserver<Real> {
 public:
  PatternStatistics(std::vector<const MeasureEntry*> entries, const MeasureInput<Real>& input)
      : entries_(std::move(entries)), slot_(input.evaluator->model().heads(), -1) {
    for (std::size_t i = 0; i < input.heads.size(); ++i)
      slot_.at(input.heads[i]) = static_cast<int>(i);
    const auto examples = static_cast<std::size_t>(input.evaluator->examples());
    terms_.assign(entries_.size(), HeadTerms(input.heads.size(), std::vector<RatioTerm>(examples)));
  }

  void observe(Index example, const HeadObservation<Real>& observation) override {
    const int slot = slot_.at(observation.id);
    if (slot < 0) return;
    for (std::size_t e = 0; e < entries_.size(); ++e)
      terms_[e][static_cast<std::size_t>(slot)][static_cast<std::size_t>(example)] =
          pattern_of<Real>(*entries_[e])(observation);
  }

  const HeadTerms& terms(std::size_t entry) const { return terms_[entry]; }

 private:
  std::vector<const MeasureEntry*> entries_;
  HeadMap<int> slot_;
  std::vector<HeadTerms> terms_;
};

template <class Real>
HeadScores pooled(const MeasureEntry& entry, const MeasureInput<Real>& input,
                  const HeadTerms& terms) {
  const auto& counts = input.evaluator->model().heads();
  HeadScores scores{entry.about,
                    entry.unit,
                    input.evaluator->split(),
                    input.evaluator->examples(),
                    HeadMap<double>(counts, kMissing),
                    HeadMap<double>(counts, kMissing)};
  for (std::size_t i = 0; i < input.heads.size(); ++i) {
    const auto ratio = pool(terms[i]);
    scores.value.at(input.heads[i]) = ratio.value;
    scores.standard_error.at(input.heads[i]) = ratio.standard_error;
  }
  return scores;
}

}  // namespace

PooledRatio pool(const std::vector<RatioTerm>& terms) {
  double sum = 0, weight = 0, squares = 0;
  for (const auto& term : terms) {
    sum += term.sum;
    weight += term.weight;
  }
  if (weight == 0) return {kMissing, kMissing};
  const double ratio = sum / weight, n = static_cast<double>(terms.size());
  for (const auto& term : terms) squares += std::pow(term.sum - ratio * term.weight, 2);
  return {ratio, n > 1 ? std::sqrt(n / (n - 1) * squares) / weight : kMissing};
}

template <class Real>
MeasureInput<Real> MeasureInput<Real>::of(const Evaluator<Real>& evaluator,
                                          const HeadTreatment<Real>& treatment) {
  MeasureInput input{&evaluator, &treatment, {}};
  for (const auto& id : evaluator.model().present_heads())
    if (treatment.is_intact(id)) input.heads.push_back(id);
  return input;
}

template <class Real>
std::vector<HeadScores> measure_heads(const std::vector<std::string>& names,
                                      const MeasureInput<Real>& input) {
  std::vector<const MeasureEntry*> patterns;
  for (const auto& name : names)
    if (const auto& entry = measures().at(name); pattern_of<Real>(entry))
      patterns.push_back(&entry);
  PatternStatistics<Real> statistics(patterns, input);
  if (!patterns.empty()) input.evaluator->run(*input.treatment, &statistics);

  std::vector<HeadScores> scores;
  std::size_t pattern = 0;
  for (const auto& name : names) {
    const auto& entry = measures().at(name);
    scores.push_back(pooled(
        entry, input,
        pattern_of<Real>(entry) ? statistics.terms(pattern++) : compute<Real>(entry, input)));
  }
  return scores;
}

template struct MeasureInput<float>;
template struct MeasureInput<double>;
template std::vector<HeadScores> measure_heads(const std::vector<std::string>&,
                                               const MeasureInput<float>&);
template std::vector<HeadScores> measure_heads(const std::vector<std::string>&,
                                               const MeasureInput<double>&);

}  // namespace headcount

#include "measure/mean_context.hpp"

namespace headcount {
namespace {

// Sums per example, so that the total does not depend on which thread saw which example.
template <class Real>
class ContextSums : public ExampleObserver<Real> {
 public:
  explicit ContextSums(const Evaluator<Real>& evaluator)
      : counts_(evaluator.model().heads()),
        columns_(counts_),
        positions_(static_cast<std::size_t>(evaluator.examples()), 0) {
    Index width = 0;
    for (const auto& id : counts_.all()) {
      const Index k = evaluator.model().attention(id.site, id.layer).config().head_width;
      columns_.at(id) = {width, k};
      width += k;
    }
    sums_ = Matrix<double>::Zero(evaluator.examples(), width);
  }

  void observe(Index example, const HeadObservation<Real>& seen) override {
    const auto [first, width] = columns_.at(seen.id);
    for (Index i = 0; i < seen.context.rows(); ++i)
      sums_.row(example).segment(first, width) += seen.context.row(i).template cast<double>();
    positions_[static_cast<std::size_t>(example)] = seen.context.rows();
  }

  HeadMap<RowVector<Real>> means() const {
    RowVector<double> total = RowVector<double>::Zero(sums_.cols());
    Index positions = 0;
    for (Index x = 0; x < sums_.rows(); ++x) {
      total += sums_.row(x);
      positions += positions_[static_cast<std::size_t>(x)];
    }
    total /= static_cast<double>(positions);
    HeadMap<RowVector<Real>> means(counts_);
    for (const auto& id : counts_.all()) {
      const auto [first, width] = columns_.at(id);
      means.at(id) = total.segment(first, width).template cast<Real>();
    }
    return means;
  }

 private:
  struct Columns {
    Index first = 0, width = 0;
  };
  HeadCounts counts_;
  HeadMap<Columns> columns_;
  Matrix<double> sums_;  // [examples, Σ K over all heads]
  std::vector<Index> positions_;
};

}  // namespace

template <class Real>
HeadMap<RowVector<Real>> mean_contexts(const Evaluator<Real>& evaluator,
                                       const HeadTreatment<Real>& treatment) {
  ContextSums<Real> sums(evaluator);
  evaluator.run(treatment, &sums);
  return sums.means();
}

template HeadMap<RowVector<float>> mean_contexts(const Evaluator<float>&,
                                                 const HeadTreatment<float>&);
template HeadMap<RowVector<double>> mean_contexts(const Evaluator<double>&,
                                                  const HeadTreatment<double>&);

}  // namespace headcount

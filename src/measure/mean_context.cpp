#include "measure/mean_context.hpp"

namespace headcount {
namespace {

// Sums per example, so that the total does not depend on which thread saw which example.
template <class Real>
class ContextSums : public ExampleObserver<Real> {
 public:
  explicit ContextSums(const Evaluator<Real>& evaluator)
      : counts_(evaluator.model().heads()),
        width_(evaluator.model().config().head_width),
        sums_(Matrix<double>::Zero(evaluator.examples(), counts_.total() * width_)),
        positions_(static_cast<std::size_t>(evaluator.examples()), 0) {}

  void observe(Index example, const HeadObservation<Real>& seen) override {
    const Index column = (counts_.first_index(seen.id.site, seen.id.layer) + seen.id.head) * width_;
    for (Index i = 0; i < seen.context.rows(); ++i)
      sums_.row(example).segment(column, width_) += seen.context.row(i).template cast<double>();
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
    Index column = 0;
    for (const auto& id : counts_.all()) {
      means.at(id) = total.segment(column, width_).template cast<Real>();
      column += width_;
    }
    return means;
  }

 private:
  HeadCounts counts_;
  Index width_;
  Matrix<double> sums_;  // [examples, all heads · K]
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

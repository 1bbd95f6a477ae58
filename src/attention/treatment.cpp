#include "attention/treatment.hpp"

#include <array>

#include "base/text.hpp"

namespace headcount {
namespace {
constexpr std::array<std::string_view, 3> kKinds{"zero", "mean", "uniform"};
}

std::string_view name_of(MaskKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::vector<std::string> mask_kind_names() { return {kKinds.begin(), kKinds.end()}; }

MaskKind parse_mask_kind(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == text) return static_cast<MaskKind>(i);
  throw Error(ExitCode::bad_data,
              fmt::format("unknown mask kind '{}'{} (known: {})", text,
                          did_you_mean(text, mask_kind_names()), join(mask_kind_names(), ", ")));
}

template <class Real>
HeadTreatment<Real> HeadTreatment<Real>::intact(const HeadCounts& counts) {
  return {HeadMap<Real>(counts, Real{1}), HeadMap<Context>(counts, Context::own),
          HeadMap<RowVector<Real>>(counts)};
}

template <class Real>
void HeadTreatment<Real>::mask(const HeadId& id, MaskKind kind,
                               const RowVector<Real>* mean_context) {
  switch (kind) {
    case MaskKind::zero:
      gate.at(id) = 0;
      break;
    case MaskKind::mean:
      if (!mean_context)
        throw Error(ExitCode::internal,
                    fmt::format("masking {} by its mean needs the mean", to_string(id)));
      context.at(id) = Context::mean;
      mean.at(id) = *mean_context;
      break;
    case MaskKind::uniform:
      context.at(id) = Context::uniform;
      break;
  }
}

template <class Real>
void HeadTreatment<Real>::mask(const std::vector<HeadId>& ids, MaskKind kind,
                               const HeadMap<RowVector<Real>>* means) {
  for (const auto& id : ids) mask(id, kind, means ? &means->at(id) : nullptr);
}

template struct HeadTreatment<float>;
template struct HeadTreatment<double>;

}  // namespace headcount

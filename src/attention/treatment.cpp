#include "attention/treatment.hpp"

#include "base/enumeration.hpp"

namespace headcount {
namespace {
constexpr auto kKinds = enumeration<MaskKind>("mask kind", "zero", "mean", "uniform");
}

std::string_view name_of(MaskKind kind) { return kKinds.name(kind); }
std::vector<std::string> mask_kind_names() { return kKinds.names(); }
MaskKind parse_mask_kind(std::string_view text) { return kKinds.parse(text); }

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

#include "math/product.hpp"

#include <new>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"

#ifdef HEADCOUNT_HAS_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace headcount {
namespace {

#ifdef HEADCOUNT_HAS_ONEDNN
// c = op(a) op(b) + beta c, row-major.
void sgemm(char op_a, char op_b, ConstMatrixRef<float> a, ConstMatrixRef<float> b,
           MatrixRef<float> c, Index k, Accumulate accumulate) {
  // oneDNN cuts a product by OpenMP's thread count, and its bits follow the cut: one thread,
  // whatever OMP_NUM_THREADS is.
  static thread_local const bool one_thread = (omp_set_num_threads(1), true);
  static_cast<void>(one_thread);
  const auto status = dnnl_sgemm(
      op_a, op_b, c.rows(), c.cols(), k, 1.0F, a.data(), a.outerStride(), b.data(), b.outerStride(),
      accumulate == Accumulate::yes ? 1.0F : 0.0F, c.data(), c.outerStride());
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  if (status != dnnl_success)
    throw Error(ExitCode::internal,
                fmt::format("oneDNN could not multiply (status {})", static_cast<int>(status)));
}
#endif

template <class Real, class Product>
void assign(const Product& expression, MatrixRef<Real>& c, Accumulate accumulate) {
  if (accumulate == Accumulate::yes)
    c.noalias() += expression;
  else
    c.noalias() = expression;
}

// Products with nothing in them (an emptied layer) are zero, not undefined.
template <class Real>
bool is_empty(MatrixRef<Real>& c, Index k, Accumulate accumulate) {
  if (c.size() == 0) return true;
  if (k > 0) return false;
  if (accumulate == Accumulate::no) c.setZero();
  return true;
}

}  // namespace

std::string_view product_library() {
#ifdef HEADCOUNT_HAS_ONEDNN
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }();
  return name;
#else
  return "Eigen";
#endif
}

std::string product_level() {
#ifdef HEADCOUNT_HAS_ONEDNN
  return fmt::format("isa {:#x}", static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
#else
  return "";
#endif
}

template <class Real>
void product(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
             Accumulate accumulate) {
  if (is_empty<Real>(c, a.cols(), accumulate)) return;
#ifdef HEADCOUNT_HAS_ONEDNN
  if constexpr (std::is_same_v<Real, float>) return sgemm('N', 'N', a, b, c, a.cols(), accumulate);
#endif
  assign<Real>(a * b, c, accumulate);
}

template <class Real>
void product_bt(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
                Accumulate accumulate) {
  if (is_empty<Real>(c, a.cols(), accumulate)) return;
#ifdef HEADCOUNT_HAS_ONEDNN
  if constexpr (std::is_same_v<Real, float>) return sgemm('N', 'T', a, b, c, a.cols(), accumulate);
#endif
  assign<Real>(a * b.transpose(), c, accumulate);
}

template <class Real>
void product_at(ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
                Accumulate accumulate) {
  if (is_empty<Real>(c, a.rows(), accumulate)) return;
#ifdef HEADCOUNT_HAS_ONEDNN
  if constexpr (std::is_same_v<Real, float>) return sgemm('T', 'N', a, b, c, a.rows(), accumulate);
#endif
  assign<Real>(a.transpose() * b, c, accumulate);
}

template <class Real>
void add_column_sums(ConstMatrixRef<Real> x, MatrixRef<Real> bias) {
  kernels<Real>().add_column_sums(const_rows_of<Real>(x), bias.data());
}

template <class Real>
void add_to_rows(ConstMatrixRef<Real> bias, MatrixRef<Real> x) {
  kernels<Real>().add_row(bias.data(), rows_of<Real>(x));
}

#define HEADCOUNT_INSTANTIATE(Real)                                                           \
  template void product<Real>(ConstMatrixRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>,    \
                              Accumulate);                                                    \
  template void product_bt<Real>(ConstMatrixRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>, \
                                 Accumulate);                                                 \
  template void product_at<Real>(ConstMatrixRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>, \
                                 Accumulate);                                                 \
  template void add_column_sums<Real>(ConstMatrixRef<Real>, MatrixRef<Real>);                 \
  template void add_to_rows<Real>(ConstMatrixRef<Real>, MatrixRef<Real>);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount

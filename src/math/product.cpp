#include "math/product.hpp"

#include <bit>
#include <map>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/enumeration.hpp"
#include "base/error.hpp"

#ifdef HEADCOUNT_HAS_ONEDNN
#include <dnnl.hpp>

// Of the OpenMP runtime that oneDNN brings; clang has no omp.h of its own.
extern "C" void omp_set_num_threads(int threads);
#endif

namespace headcount {
namespace {

constexpr auto kPrecisions = enumeration<Precision>("precision", "float32", "bfloat16");

#ifdef HEADCOUNT_HAS_ONEDNN
// oneDNN cuts a product by OpenMP's thread count, and its bits follow the cut: one thread, whatever
// OMP_NUM_THREADS is.
void use_one_thread() {
  static thread_local const bool done = (omp_set_num_threads(1), true);
  static_cast<void>(done);
}

// c = op(a) op(b) + beta c, row-major.
void sgemm(char op_a, char op_b, ConstMatrixRef<float> a, ConstMatrixRef<float> b,
           MatrixRef<float> c, Index k, Accumulate accumulate) {
  use_one_thread();
  const auto status = dnnl_sgemm(
      op_a, op_b, c.rows(), c.cols(), k, 1.0F, a.data(), a.outerStride(), b.data(), b.outerStride(),
      accumulate == Accumulate::yes ? 1.0F : 0.0F, c.data(), c.outerStride());
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  if (status != dnnl_success)
    throw Error(ExitCode::internal,
                fmt::format("oneDNN could not multiply (status {})", static_cast<int>(status)));
}

// One thread's products in bfloat16, made once for every shape.
class Bfloat16Products {
 public:
  // c = op(a) op(b) (+ c); op(a) [m, k], op(b) [k, n].
  void multiply(char op_a, char op_b, const Factor<float>& a, const Factor<float>& b,
                MatrixRef<float> c, Index k, Accumulate accumulate) {
    const Key key{op_a == 'T', op_b == 'T', accumulate == Accumulate::yes,
                  c.rows(),    c.cols(),    k,
                  a.stride,    b.stride,    c.outerStride()};
    auto at = made_.find(key);
    if (at == made_.end()) at = made_.emplace(key, make(key)).first;
    const Made& made = at->second;
    // Sources are only read.
    dnnl::memory left(made.left, engine_, const_cast<std::uint16_t*>(a.rounded));
    dnnl::memory right(made.right, engine_, const_cast<std::uint16_t*>(b.rounded));
    dnnl::memory sum(made.sum, engine_, c.data());
    made.product.execute(stream_,
                         {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, sum}});
    stream_.wait();
  }

 private:
  using Key = std::tuple<bool, bool, bool, Index, Index, Index, Index, Index, Index>;
  struct Made {
    dnnl::memory::desc left, right, sum;
    dnnl::matmul product;
  };

  Made make(const Key& key) const {
    const auto& [turn_a, turn_b, accumulate, m, n, k, stride_a, stride_b, stride_c] = key;
    using Dims = dnnl::memory::dims;
    const auto type = dnnl::memory::data_type::bf16;
    const dnnl::memory::desc left({m, k}, type, turn_a ? Dims{1, stride_a} : Dims{stride_a, 1});
    const dnnl::memory::desc right({k, n}, type, turn_b ? Dims{1, stride_b} : Dims{stride_b, 1});
    const dnnl::memory::desc sum({m, n}, dnnl::memory::data_type::f32, Dims{stride_c, 1});
    dnnl::primitive_attr attributes;
    if (accumulate) {
      dnnl::post_ops add;
      add.append_sum(1);
      attributes.set_post_ops(add);
    }
    return {left, right, sum,
            dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(left, right, sum),
                                                      attributes, engine_))};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<Key, Made> made_;
};
#endif

// Rounded numbers as floats.
ConstMatrixView<float> widened(const Factor<float>& x, Buffer<float>& memory) {
  const Index rows = x.values.rows(), cols = x.values.cols();
  auto wide = memory.resize(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      wide(i, j) = std::bit_cast<float>(std::uint32_t{x.rounded[i * x.stride + j]} << 16);
  return std::as_const(memory).view();
}

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

std::string_view name_of(Precision precision) { return kPrecisions.name(precision); }
std::vector<std::string> precision_names() { return kPrecisions.names(); }
Precision parse_precision(std::string_view text) { return kPrecisions.parse(text); }

bool has_fast_bfloat16() {
#ifdef HEADCOUNT_HAS_ONEDNN
  constexpr unsigned kWanted = dnnl_cpu_isa_avx512_core_bf16;
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & kWanted) == kWanted;
#else
  return false;
#endif
}

namespace {

// c = op(a) op(b) (+ c) of rounded factors, op(a) [m, k].
void bfloat16_product(char op_a, char op_b, const Factor<float>& a, const Factor<float>& b,
                      MatrixRef<float>& c, Index k, Accumulate accumulate) {
#ifdef HEADCOUNT_HAS_ONEDNN
  if (has_fast_bfloat16()) {
    use_one_thread();
    static thread_local Bfloat16Products products;
    products.multiply(op_a, op_b, a, b, c, k, accumulate);
    return;
  }
#else
  static_cast<void>(k);
#endif
  static thread_local Buffer<float> wide_a, wide_b;
  const auto left = widened(a, wide_a), right = widened(b, wide_b);
  if (op_a == 'T')
    product_at<float>(left, right, c, accumulate);
  else if (op_b == 'T')
    product_bt<float>(left, right, c, accumulate);
  else
    product<float>(left, right, c, accumulate);
}

// Whether both are rounded.
bool in_bfloat16(const Factor<float>& a, const Factor<float>& b) {
  if (!a.rounded != !b.rounded)
    throw Error(ExitCode::internal, "one factor of a product is rounded and the other is not");
  return a.rounded;
}

}  // namespace

template <class Real>
void Rounding<Real>::start(Precision precision, Index rows, Index cols) {
  rounded_ = is_rounded<Real>(precision);
  if (rounded_) memory_.resize(rows, cols);
}

template <class Real>
Factor<Real> Rounding<Real>::of(Precision precision, ConstMatrixRef<Real> x) {
  start(precision, x.rows(), x.cols());
  if (rounded_) kernels<Real>().to_bfloat16(const_rows_of<Real>(x), memory_.data());
  return again(x);
}

template <class Real>
void product(const Factor<Real>& a, const Factor<Real>& b, MatrixRef<Real> c,
             Accumulate accumulate) {
  const Index k = a.values.cols();
  if (is_empty<Real>(c, k, accumulate)) return;
  if constexpr (std::is_same_v<Real, float>) {
    if (in_bfloat16(a, b)) return bfloat16_product('N', 'N', a, b, c, k, accumulate);
#ifdef HEADCOUNT_HAS_ONEDNN
    return sgemm('N', 'N', a.values, b.values, c, k, accumulate);
#endif
  }
  assign<Real>(a.values * b.values, c, accumulate);
}

template <class Real>
void product_bt(const Factor<Real>& a, const Factor<Real>& b, MatrixRef<Real> c,
                Accumulate accumulate) {
  const Index k = a.values.cols();
  if (is_empty<Real>(c, k, accumulate)) return;
  if constexpr (std::is_same_v<Real, float>) {
    if (in_bfloat16(a, b)) return bfloat16_product('N', 'T', a, b, c, k, accumulate);
#ifdef HEADCOUNT_HAS_ONEDNN
    return sgemm('N', 'T', a.values, b.values, c, k, accumulate);
#endif
  }
  assign<Real>(a.values * b.values.transpose(), c, accumulate);
}

template <class Real>
void product_at(const Factor<Real>& a, const Factor<Real>& b, MatrixRef<Real> c,
                Accumulate accumulate) {
  const Index k = a.values.rows();
  if (is_empty<Real>(c, k, accumulate)) return;
  if constexpr (std::is_same_v<Real, float>) {
    if (in_bfloat16(a, b)) return bfloat16_product('T', 'N', a, b, c, k, accumulate);
#ifdef HEADCOUNT_HAS_ONEDNN
    return sgemm('T', 'N', a.values, b.values, c, k, accumulate);
#endif
  }
  assign<Real>(a.values.transpose() * b.values, c, accumulate);
}

template <class Real>
void add_column_sums(ConstMatrixRef<Real> x, MatrixRef<Real> bias) {
  kernels<Real>().add_column_sums(const_rows_of<Real>(x), bias.data());
}

template <class Real>
void add_to_rows(ConstMatrixRef<Real> bias, MatrixRef<Real> x) {
  kernels<Real>().add_row(bias.data(), rows_of<Real>(x));
}

#define HEADCOUNT_INSTANTIATE(Real)                                                         \
  template class Rounding<Real>;                                                            \
  template void product<Real>(const Factor<Real>&, const Factor<Real>&, MatrixRef<Real>,    \
                              Accumulate);                                                  \
  template void product_bt<Real>(const Factor<Real>&, const Factor<Real>&, MatrixRef<Real>, \
                                 Accumulate);                                               \
  template void product_at<Real>(const Factor<Real>&, const Factor<Real>&, MatrixRef<Real>, \
                                 Accumulate);                                               \
  template void add_column_sums<Real>(ConstMatrixRef<Real>, MatrixRef<Real>);               \
  template void add_to_rows<Real>(ConstMatrixRef<Real>, MatrixRef<Real>);
HEADCOUNT_INSTANTIATE(float)
HEADCOUNT_INSTANTIATE(double)
#undef HEADCOUNT_INSTANTIATE

}  // namespace headcount

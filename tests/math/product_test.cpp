#include "math/product.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

enum class Form { plain, bt, at };
constexpr std::array kForms{Form::plain, Form::bt, Form::at};

// op(a) op(b), straight from the definition, in double.
template <class Real>
Matrix<double> by_loops(Form form, const Matrix<Real>& a, const Matrix<Real>& b) {
  const Index m = form == Form::at ? a.cols() : a.rows();
  const Index k = form == Form::at ? a.rows() : a.cols();
  const Index n = form == Form::bt ? b.rows() : b.cols();
  Matrix<double> c = Matrix<double>::Zero(m, n);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < k; ++l)
        c(i, j) += static_cast<double>(form == Form::at ? a(l, i) : a(i, l)) *
                   static_cast<double>(form == Form::bt ? b(j, l) : b(l, j));
  return c;
}

template <class Real>
void multiply(Form form, ConstMatrixRef<Real> a, ConstMatrixRef<Real> b, MatrixRef<Real> c,
              Accumulate accumulate, Precision precision = Precision::float32) {
  Rounding<Real> rounding_a, rounding_b;
  const auto left = rounding_a.of(precision, a), right = rounding_b.of(precision, b);
  switch (form) {
    case Form::plain:
      return product<Real>(left, right, c, accumulate);
    case Form::bt:
      return product_bt<Real>(left, right, c, accumulate);
    case Form::at:
      return product_at<Real>(left, right, c, accumulate);
  }
}

struct Sizes {
  Index m, k, n;
};

template <class Real>
Matrix<Real> left(Form form, const Sizes& s) {
  return form == Form::at ? random_matrix<Real>(s.k, s.m, 1) : random_matrix<Real>(s.m, s.k, 1);
}
template <class Real>
Matrix<Real> right(Form form, const Sizes& s) {
  return form == Form::bt ? random_matrix<Real>(s.n, s.k, 2) : random_matrix<Real>(s.k, s.n, 2);
}

// A matrix as a block inside a larger one whose other entries are NaN: rows lie further apart than
// they are long, and nothing around the block may be read or written.
template <class Real>
struct Framed {
  explicit Framed(const Matrix<Real>& inner)
      : rows(inner.rows()),
        cols(inner.cols()),
        all(Matrix<Real>::Constant(rows + 2, cols + 5, std::numeric_limits<Real>::quiet_NaN())) {
    block() = inner;
  }
  auto block() { return all.block(1, 3, rows, cols); }
  Index numbers() const { return (all.array() == all.array()).count(); }
  Index rows, cols;
  Matrix<Real> all;
};

}  // namespace

TEMPLATE_TEST_CASE("products equal plain loops", "", float, double) {
  const double bound = std::is_same_v<TestType, float> ? 2e-6 : 1e-14;
  for (const Sizes s : {Sizes{1, 1, 1},
                        {1, 7, 5},
                        {5, 7, 1},
                        {3, 1, 4},
                        {7, 5, 3},
                        {17, 33, 9},
                        {64, 65, 63},
                        {2, 300, 31}})
    for (const Form form : kForms) {
      CAPTURE(s.m, s.k, s.n, static_cast<int>(form));
      const auto a = left<TestType>(form, s), b = right<TestType>(form, s);
      const Matrix<double> expected = by_loops(form, a, b);
      // Memory that is to be replaced may hold anything.
      Matrix<TestType> c =
          Matrix<TestType>::Constant(s.m, s.n, std::numeric_limits<TestType>::quiet_NaN());
      multiply<TestType>(form, a, b, c, Accumulate::no);
      CHECK(relative_difference(c, expected) < bound);

      const auto start = random_matrix<TestType>(s.m, s.n, 3);
      c = start;
      multiply<TestType>(form, a, b, c, Accumulate::yes);
      CHECK(relative_difference(c, expected + start.template cast<double>()) < bound);
    }
}

TEMPLATE_TEST_CASE("products keep to strided views", "", float, double) {
  const Sizes s{9, 13, 11};
  for (const Form form : kForms)
    for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes}) {
      CAPTURE(static_cast<int>(form), static_cast<int>(accumulate));
      const auto a = left<TestType>(form, s), b = right<TestType>(form, s);
      const auto start = random_matrix<TestType>(s.m, s.n, 3);
      Framed<TestType> framed_a(a), framed_b(b), framed_c(start);
      multiply<TestType>(form, framed_a.block(), framed_b.block(), framed_c.block(), accumulate);
      Matrix<double> expected = by_loops(form, a, b);
      if (accumulate == Accumulate::yes) expected += start.template cast<double>();
      CHECK(relative_difference(framed_c.block(), expected) < kRounding<TestType>);
      CHECK(framed_c.numbers() == s.m * s.n);
    }
}

TEMPLATE_TEST_CASE("a product over nothing is zero", "", float, double) {
  for (const Form form : kForms) {
    const Sizes s{3, 0, 4};
    const auto a = left<TestType>(form, s), b = right<TestType>(form, s);
    Matrix<TestType> c =
        Matrix<TestType>::Constant(3, 4, std::numeric_limits<TestType>::quiet_NaN());
    multiply<TestType>(form, a, b, c, Accumulate::no);
    CHECK(c == Matrix<TestType>::Zero(3, 4));
    c.setConstant(2);
    multiply<TestType>(form, a, b, c, Accumulate::yes);
    CHECK(c == Matrix<TestType>::Constant(3, 4, 2));

    for (const Sizes empty : {Sizes{0, 5, 4}, {3, 5, 0}}) {
      Matrix<TestType> nothing(empty.m, empty.n);
      CHECK_NOTHROW(multiply<TestType>(form, left<TestType>(form, empty),
                                       right<TestType>(form, empty), nothing, Accumulate::no));
    }
  }
}

TEMPLATE_TEST_CASE("rows and columns of biases", "", float, double) {
  Matrix<TestType> x(2, 3), bias(1, 3);
  x << 1, 2, 3, 10, 20, 30;
  bias << 100, 200, 300;
  Matrix<TestType> sums = bias;
  add_column_sums<TestType>(x, sums);
  CHECK(sums == (Matrix<TestType>(1, 3) << 111, 222, 333).finished());
  add_to_rows<TestType>(bias, x);
  CHECK(x == (Matrix<TestType>(2, 3) << 101, 202, 303, 110, 220, 330).finished());
}

// Run in a process of its own by the test below, which sets OMP_NUM_THREADS: OpenMP reads it once.
TEST_CASE("print the hash of some products", "[.hash]") {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto threads_before = threads();
  Sha256 hash;
  const auto add = [&]<class Real>(Real, Form form, const Sizes& s) {
    Matrix<Real> c(s.m, s.n);
    multiply<Real>(form, left<Real>(form, s), right<Real>(form, s), c, Accumulate::no);
    hash.add(c.data(), static_cast<std::size_t>(c.size()) * sizeof(Real));
  };
  constexpr Sizes kSizes[] = {{48, 64, 96},   {16, 2048, 16}, {8, 12000, 8},
                              {256, 384, 40}, {37, 1031, 29}, {130, 700, 130}};
  // Doubles first: once a float product has set OpenMP to one thread it is so for both.
  for (const Form form : kForms)
    for (const Sizes& s : kSizes) add(double{}, form, s);
  for (const Form form : kForms)
    for (const Sizes& s : kSizes) add(float{}, form, s);
  CHECK(threads() == threads_before);  // OpenMP keeps the threads it once made
  std::fputs(fmt::format("hash {}\n", hash.hex()).c_str(), stdout);
}

TEST_CASE("products stay on one thread, with the same bits, under any OMP_NUM_THREADS") {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string first;
  for (const int threads : {1, 2, 8}) {
    const auto command = fmt::format("OMP_NUM_THREADS={} '{}' '[.hash]' 2>&1", threads, self);
    std::string output;
    std::FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe))
      output += buffer.data();
    INFO(output);
    REQUIRE(pclose(pipe) == 0);
    const auto at = output.find("hash ");
    REQUIRE(at != std::string::npos);
    const auto hash = output.substr(at, 5 + 64);
    if (first.empty()) first = hash;
    CHECK(hash == first);
  }
}

namespace {

// To nearest, ties to even, from the definition: the neighbours with 8 bits of significand.
double to_bfloat16(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // 0.5 <= |fraction| < 1
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

}  // namespace

TEST_CASE("a product in bfloat16 is that of its rounded inputs, summed in float32") {
  for (const Form form : kForms)
    for (const Sizes s : {Sizes{3, 2, 5}, Sizes{5, 7, 3}, Sizes{33, 65, 17}, Sizes{96, 128, 64}}) {
      CAPTURE(static_cast<int>(form), s.m, s.n, s.k);
      const auto a = left<float>(form, s), b = right<float>(form, s);
      const Matrix<float> start = random_matrix<float>(s.m, s.n, 9);
      const auto rounded = [](const Matrix<float>& x) {
        return Matrix<float>(x.unaryExpr(
            [](float v) { return static_cast<float>(to_bfloat16(static_cast<double>(v))); }));
      };
      for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes}) {
        Matrix<float> c = start, expected = start;
        multiply<float>(form, a, b, c, accumulate, Precision::bfloat16);
        multiply<float>(form, rounded(a), rounded(b), expected, accumulate);
        CHECK(relative_difference(c, expected) < 1e-6);
        // And they do lose something, so that this is another product.
        Matrix<float> exact = start;
        multiply<float>(form, a, b, exact, accumulate);
        CHECK(relative_difference(c, exact) > 1e-5);
        Matrix<float> again = start;
        multiply<float>(form, a, b, again, accumulate, Precision::bfloat16);
        CHECK(same_bits(again, c));
      }
    }
}

TEST_CASE("precisions go by their names") {
  for (const auto& name : precision_names()) CHECK(name_of(parse_precision(name)) == name);
  CHECK(precision_names() == std::vector<std::string>{"float32", "bfloat16"});
}

TEST_CASE("a factor is rounded once for several products, and both factors are or none") {
  const Matrix<float> a = random_matrix<float>(9, 9, 1), b = random_matrix<float>(9, 9, 2);
  Rounding<float> rounding_a, rounding_b;
  const auto left = rounding_a.of(Precision::bfloat16, a);
  const auto right = rounding_b.of(Precision::bfloat16, b);
  Matrix<float> first(9, 9), second(9, 9);
  product<float>(left, right, first);
  product<float>(rounding_a.again(a), rounding_b.again(b), second);
  CHECK(same_bits(first, second));
  CHECK_THROWS_WITH(product<float>(left, b, first), ContainsSubstring("rounded"));
  // Numbers that a kernel rounded itself.
  rounding_a.start(Precision::bfloat16, 9, 9);
  kernels<float>().to_bfloat16(const_rows_of<float>(a), rounding_a.row(0));
  product<float>(rounding_a.again(a), right, second);
  CHECK(same_bits(first, second));
  // Some rows of it.
  const auto rows = rounding_a.again(a.middleRows(2, 3), 2);
  CHECK(rows.rounded == rounding_a.row(2));
  CHECK(rows.values.rows() == 3);
  Matrix<float> some(3, 9);
  product<float>(rows, right, some);
  CHECK(relative_difference(some, first.middleRows(2, 3)) < 1e-6);
  // Factors that are columns of something wider.
  const Factor<float> columns(a.middleCols(4, 5), left.rounded + 4, left.stride);
  Matrix<float> of_columns(9, 9);
  product<float>(columns, rounding_b.again(b.middleRows(4, 5), 4), of_columns);
  Rounding<float> rounding_cut;
  const Matrix<float> cut_out = a.middleCols(4, 5), rest = b.middleRows(4, 5);
  Rounding<float> rounding_rest;
  product<float>(rounding_cut.of(Precision::bfloat16, cut_out),
                 rounding_rest.of(Precision::bfloat16, rest), second);
  CHECK(relative_difference(of_columns, second) < 1e-6);
  rounding_a.start(Precision::float32, 9, 9);
  CHECK(rounding_a.row(0) == nullptr);
  // In float32, and in double, a factor is the matrix itself.
  const auto itself = rounding_a.of(Precision::float32, a);
  CHECK(itself.values.data() == a.data());
  CHECK(itself.rounded == nullptr);
  CHECK(rounding_a.again(a).rounded == nullptr);
  const Matrix<double> wide = a.cast<double>();
  CHECK(Rounding<double>().of(Precision::bfloat16, wide).rounded == nullptr);
}

#include "math/matrix.hpp"

#include <cstdint>

#include "catch.hpp"

using namespace headcount;

TEMPLATE_TEST_CASE("a buffer grows, never shrinks, and is aligned", "", float, double) {
  Buffer<TestType> buffer;
  CHECK(buffer.rows() == 0);
  CHECK(buffer.data() == nullptr);
  auto view = buffer.resize(5, 7);
  REQUIRE(view.rows() == 5);
  REQUIRE(view.cols() == 7);
  view.setConstant(3);
  const auto* data = buffer.data();
  CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);

  // Smaller shapes, and back to the first, stay in the same memory.
  CHECK(buffer.resize(2, 3).data() == data);
  CHECK(buffer.view().cols() == 3);
  CHECK(buffer.view().outerStride() == 3);
  CHECK(buffer.resize(7, 5).data() == data);
  CHECK(buffer.view().sum() == TestType{3 * 35});

  const auto zeros = buffer.zeros(40, 41);
  CHECK(zeros.rows() == 40);
  CHECK(zeros.cwiseAbs().maxCoeff() == TestType{0});
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);

  const auto& read = buffer;
  CHECK(read.view().data() == read.data());
  CHECK(read.view().cols() == 41);
  CHECK(buffer.resize(0, 9).size() == 0);
}

TEST_CASE("a view of a block reads through its stride") {
  Matrix<double> all(3, 4);
  all << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  const MatrixView<double> view(all.data() + 1, 3, 2, Eigen::OuterStride<>(4));
  const ConstMatrixView<double> read = read_only(view);
  CHECK(read == (Matrix<double>(3, 2) << 2, 3, 6, 7, 10, 11).finished());
  all(2, 1) = -1;
  CHECK(read(2, 0) == -1);
}

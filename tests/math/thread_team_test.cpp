#include "math/thread_team.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "catch.hpp"
#include "support/matrices.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Makes pieces end in another order than they start in.
void dawdle(int piece) {
  std::this_thread::sleep_for(std::chrono::microseconds((7 - piece % 8) * 300));
}

// The sum of one vector per piece, added in order: the pattern of a training step.
Matrix<float> sum_of_pieces(int threads, int pieces) {
  ThreadTeam team(threads);
  std::vector<Matrix<float>> scratch(static_cast<std::size_t>(team.size()));
  Matrix<float> total = Matrix<float>::Zero(1, 100);
  team.run(
      pieces,
      [&](int piece, int worker) {
        dawdle(piece);
        scratch[static_cast<std::size_t>(worker)] =
            random_matrix<float>(1, 100, static_cast<std::uint32_t>(piece), piece % 2 ? 1e4 : 1e-3);
      },
      [&](int, int worker) { total += scratch[static_cast<std::size_t>(worker)]; });
  return total;
}

}  // namespace

TEST_CASE("a team does every piece once, on workers of its own") {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadTeam team(threads);
    REQUIRE(team.size() == threads);
    for (const int pieces : {0, 1, 2, 7, 100}) {
      CAPTURE(threads, pieces);
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
      std::atomic<int> strangers = 0;
      team.run(pieces, [&](int piece, int worker) {
        ++done[static_cast<std::size_t>(piece)];
        if (worker < 0 || worker >= threads) ++strangers;
      });
      for (const auto& times : done) CHECK(times == 1);
      CHECK(strangers == 0);
    }
  }
  CHECK_THROWS_AS(ThreadTeam(0), Error);
}

TEST_CASE("in_order goes by pieces, one at a time, on the piece's worker") {
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    ThreadTeam team(threads);
    std::vector<int> order, worker_of(24, -1);
    std::atomic<int> inside = 0;
    bool alone = true, same_worker = true;
    team.run(
        24,
        [&](int piece, int worker) {
          dawdle(piece);
          worker_of[static_cast<std::size_t>(piece)] = worker;
        },
        [&](int piece, int worker) {
          alone &= ++inside == 1;
          same_worker &= worker_of[static_cast<std::size_t>(piece)] == worker;
          order.push_back(piece);
          --inside;
        });
    std::vector<int> expected(24);
    for (int i = 0; i < 24; ++i) expected[static_cast<std::size_t>(i)] = i;
    CHECK(order == expected);
    CHECK(alone);
    CHECK(same_worker);
  }
}

TEST_CASE("sums made in order have the same bits for any number of threads") {
  const Matrix<float> alone = sum_of_pieces(1, 24);
  for (const int threads : {2, 3, 8}) {
    CAPTURE(threads);
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(same_bits(sum_of_pieces(threads, 24), alone));
  }
}

TEST_CASE("a team rethrows what the lowest piece threw, and goes on") {
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    ThreadTeam team(threads);
    std::set<int> added;
    const auto run = [&](bool fail_in_order) {
      added.clear();
      team.run(
          16,
          [&](int piece, int) {
            dawdle(piece);
            if (!fail_in_order && (piece == 5 || piece == 11 || piece == 6))
              throw std::runtime_error(std::to_string(piece));
          },
          [&](int piece, int) {
            if (fail_in_order && (piece == 9 || piece == 3))
              throw std::runtime_error(std::to_string(piece));
            added.insert(piece);
          });
    };
    CHECK_THROWS_WITH(run(false), "5");
    CHECK(added.count(5) + added.count(6) + added.count(11) == 0);
    CHECK(added.size() == 13);
    CHECK_THROWS_WITH(run(true), "3");
    CHECK(added.size() == 14);

    std::atomic<int> done = 0;
    CHECK_NOTHROW(team.run(10, [&](int, int) { ++done; }));
    CHECK(done == 10);
  }
}

// SPDX-License-Identifier: BSD-3-Clause
// Grids over communicators of several kinds and orders.
#include <tessera/blas.hpp>
#include <tessera/error.hpp>

#include "whole.hpp"

namespace tessera::test::grids_cpp {

namespace {

constexpr TileSize square{8, 8};

/// The processes of a grid in reverse order.
class Backwards {
 public:
  explicit Backwards(const Grid& grid) { MPI_Comm_split(grid.comm(), 0, -grid.rank(), &comm_); }
  ~Backwards() { MPI_Comm_free(&comm_); }
  Backwards(const Backwards&) = delete;
  Backwards& operator=(const Backwards&) = delete;
  MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

TEST(GridInAnotherOrder, HasThePlacesOfItsCommunicator) {
  const auto g = grid();
  const Backwards backwards(g);
  const Grid other(g.q(), g.p(), backwards.comm());
  const int last = g.p() * g.q() - 1;
  EXPECT_EQ(other.rank(), g.rank());
  EXPECT_EQ(other.row() * other.q() + other.column(), last - g.rank());
  const DistributedMatrix<double> A(other, 30, 20, square);
  for (Index j = 0; j < A.nt(); j++)
    for (Index i = 0; i < A.mt(); i++) {
      EXPECT_EQ(A.owner(i, j), last - (i % other.p() * other.q() + j % other.q()));
      EXPECT_EQ(A.is_mine(i, j), A.owner(i, j) == g.rank());
    }
}

TEST(GridInAnotherOrder, Computes) {  // also with matrices in the usual order
  const auto g = grid();
  const Backwards backwards(g);
  const Grid other(g.p(), g.q(), backwards.comm());
  constexpr Index n = 40;
  const Whole<double> a(n, n, 1), b(n, n, 2);
  for (const auto& [of_a, of_c] : {std::pair{&other, &other}, {&g, &other}, {&other, &g}}) {
    Whole<double> c(n, n, 3), l = Whole<double>(n, n, 4).dominant();
    const auto A = distributed(*of_a, a, square), B = distributed(*of_a, b, square), C = distributed(*of_c, c, square),
               L = distributed(*of_a, l, square);
    gemm(Op::NoTrans, Op::Trans, 1., A, B, 1., C);
    trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, 1., L, C);
    gemm(Op::NoTrans, Op::Trans, n, n, n, 1., a.data.data(), n, b.data.data(), n, 1., c.data.data(), n);
    trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, n, n, 1., l.data.data(), n, c.data.data(), n);
    expect_near(C, c, 2 * n);
  }
}

TEST(Grid, SaysHowManyProcessesItNeeds) {
  const auto all = grid();
  const int size = all.p() * all.q(), more = size + 1;
  try {
    const Grid too_large(1, more);
    FAIL() << "not refused";
  } catch (const ArgumentError& error) {
    const auto needs = std::to_string(more);
    EXPECT_EQ(error.what(), "Grid: 1x" + needs + " needs " + needs + " processes, but there " +
                                (size == 1 ? "is 1" : "are " + std::to_string(size)) +
                                ": start the program with mpirun -n " + needs);
  }
  EXPECT_THROW(Grid(1, 2, MPI_COMM_SELF), ArgumentError);
}

TEST(Grid, RefusesCommunicatorsItCannotUse) {
  EXPECT_THROW(Grid(1, 1, MPI_COMM_NULL), ArgumentError);
  EXPECT_THROW(Grid(1 << 16, 1 << 16), ArgumentError);  // whose product does not fit into an int
  const auto g = grid();
  const int size = g.p() * g.q();
  if (size == 1) return;
  const bool first = g.rank() == 0;
  MPI_Comm mine = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(g.comm(), first ? 0 : 1, 0, &mine);
  constexpr int tag = 3;
  MPI_Intercomm_create(mine, 0, g.comm(), first ? 1 : 0, tag, &both);
  EXPECT_THROW(Grid(1, first ? 1 : size - 1, both), ArgumentError);
  EXPECT_THROW(Grid(1, first ? 1 : size - 1, mine), RuntimeError) << "another group than that of the test's grid";
  MPI_Comm_free(&both);
  MPI_Comm_free(&mine);
}

}  // namespace

}  // namespace tessera::test::grids_cpp

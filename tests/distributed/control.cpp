// SPDX-License-Identifier: BSD-3-Clause
// gemm in blocks and chunks: its results and its traffic.
#include <limits>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>

#include "tile/process_blocks.hpp"
#include "whole.hpp"

namespace tessera::test::control_cpp {

namespace {

constexpr Index m = 45, n = 38, k = 31, tile = 8;  // 6×5 tiles of C, 4 terms
constexpr TileSize square{tile, tile};

constexpr ProductControl some_controls[] = {
    {.holds_back = true, .block_rows = 1, .block_columns = 1, .chunk = 1, .look_ahead = 1},
    {.holds_back = true, .block_rows = 2, .block_columns = 1, .chunk = 3, .look_ahead = 2},
    {.holds_back = true, .block_rows = 9, .block_columns = 2, .chunk = 2, .look_ahead = 1},
    {.holds_back = true, .block_rows = 1, .block_columns = 9, .chunk = 1, .look_ahead = 5},
    {.holds_back = true, .look_ahead = std::numeric_limits<Index>::max()},
    {.holds_back = false, .block_rows = 1, .block_columns = 2, .chunk = 2, .look_ahead = 1},
};

/// Tiles that all processes have sent.
class TilesSent {
 public:
  explicit TilesSent(const Grid& grid) : grid_(grid), before_(bytes()) {}  // messages are counted when they arrive
  std::uint64_t so_far() const {
    // The one-byte messages that hold inputs back add up to less than the size of a tile.
    return (bytes() - before_) / (tile * tile * sizeof(double));
  }

 private:
  std::uint64_t bytes() const {
    grid_.wait();
    std::uint64_t mine = 0, all = 0;
    for (const auto sent : grid_.bytes_sent()) mine += sent;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, grid_.comm());
    return all;
  }
  Grid grid_;
  std::uint64_t before_;
};

TEST(ControlledGemm, IsRight) {
  const auto g = grid();
  const Whole<double> a(k, m, 1), b(k, n, 2);
  for (const auto& control : some_controls) {
    const Controlled controlled(g, control);
    Whole<double> c(m, n, 3);
    const auto A = distributed(g, a, square), B = distributed(g, b, square), C = distributed(g, c, square);
    gemm(Op::Trans, Op::NoTrans, 0.7, A, B, -0.4, C);  // tiles of Aᵀ are not in the process rows of their readers
    gemm(Op::Trans, Op::NoTrans, 0.7, A, B, 1., C);    // while the first product runs
    for (const double beta : {-0.4, 1.})
      gemm(Op::Trans, Op::NoTrans, m, n, k, 0.7, a.data.data(), k, b.data.data(), k, beta, c.data.data(), m);
    expect_near(C, c, 2 * k);
    EXPECT_EQ(g.control().chunk, control.chunk);
  }
}

TEST(ControlledGemm, SeesWhatItsInputsBecome) {  // B is written between two products that read it
  const auto g = grid();
  const Whole<double> a(40, 40, 1), d = Whole<double>(40, 40, 4).dominant();
  const Controlled controlled(g, some_controls[0]);
  Whole<double> b(40, 40, 2), c(40, 40, 3);
  const auto A = distributed(g, a, square), B = distributed(g, b, square), C = distributed(g, c, square),
             D = distributed(g, d, square);
  gemm(Op::NoTrans, Op::NoTrans, 1., A, B, 0., C);
  trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, 1., D, B);
  gemm(Op::NoTrans, Op::NoTrans, 1., A, B, 1., C);
  gemm(Op::NoTrans, Op::NoTrans, 40, 40, 40, 1., a.data.data(), 40, b.data.data(), 40, 0., c.data.data(), 40);
  trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, 40, 40, 1., d.data.data(), 40, b.data.data(), 40);
  gemm(Op::NoTrans, Op::NoTrans, 40, 40, 40, 1., a.data.data(), 40, b.data.data(), 40, 1., c.data.data(), 40);
  expect_near(C, c, 80);
}

TEST(ControlledGemm, MultipliesAMatrixWithItself) {
  const auto g = grid();
  const Controlled controlled(g, some_controls[0]);
  const Whole<double> a(40, 40, 1);
  Whole<double> c(40, 40, 3);
  const auto A = distributed(g, a, square), C = distributed(g, c, square);
  gemm(Op::NoTrans, Op::Trans, 1., A, A, 0., C);
  gemm(Op::NoTrans, Op::Trans, 40, 40, 40, 1., a.data.data(), 40, a.data.data(), 40, 0., c.data.data(), 40);
  expect_near(C, c, 40);
}

TEST(ControlledGemm, SendsWhatTheModelSays) {
  const auto g = grid();
  constexpr Index tiles = 12, order = tiles * tile;
  const DistributedMatrix<double> A(g, order, order, square), B(g, order, order, square), C(g, order, order, square);
  for (const auto* x : {&A, &B, &C}) std::fill_n(x->local(), x->local_m() * x->local_n(), 1.0);
  const tile::ProcessModel processes{.p = g.p(), .q = g.q(), .gpus = 0, .gpu_memory = 0, .host_memory = 0};
  for (const Index chunk : {1, 2}) {  // 12 and 6 chunks: tiles are sent again for each block
    const Controlled controlled(
        g, {.holds_back = true, .block_rows = 2, .block_columns = 3, .chunk = chunk, .look_ahead = 1});
    const tile::TiledProduct product{tiles, tiles, tiles, 1, 1, 1};
    const auto loads = predicted_loads(processes, product, choose_process_blocks(processes, product, {2, 3, chunk, 1}));
    const TilesSent sent(g);
    gemm(Op::NoTrans, Op::NoTrans, 1., A, B, 1., C);
    EXPECT_EQ(sent.so_far(), static_cast<std::uint64_t>(std::llround(loads.received * g.p() * g.q())));
  }
  // With a look-ahead of all chunks, or without control, each tile is sent once.
  for (const bool holds_back : {true, false}) {
    const Controlled controlled(
        g, {.holds_back = holds_back, .block_rows = 2, .block_columns = 3, .chunk = 1, .look_ahead = 1000});
    const TilesSent sent(g);
    gemm(Op::NoTrans, Op::NoTrans, 1., A, B, 1., C);
    EXPECT_EQ(sent.so_far(), static_cast<std::uint64_t>(tiles * tiles * (g.p() + g.q() - 2)));
  }
}

TEST(ControlledGemm, RefusesNegativeSizes) {
  const auto g = grid();
  for (const auto& bad :
       {ProductControl{.block_rows = -1}, ProductControl{.chunk = -2}, ProductControl{.look_ahead = -1}})
    EXPECT_THROW(g.control(bad), ArgumentError);
}

}  // namespace

}  // namespace tessera::test::control_cpp

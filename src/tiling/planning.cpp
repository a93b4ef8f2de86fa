// SPDX-License-Identifier: BSD-3-Clause
#include "planning.hpp"

#include "runtime/session.hpp"

namespace tessera::detail {

template <Scalar T>
TileProblem tile_problem(const Session& session) {
  return {machine_rates<T>(session), session.cpu_workers(), session.gpu_count(), sizeof(T),
          flops_per_multiply_add<T>, session.gpu_memory()};
}

namespace {

Transposed stored(Op op_a, Op op_b) { return {op_a != Op::NoTrans, op_b != Op::NoTrans}; }

}  // namespace

template <Scalar T>
ProductTiles plan_product(const Session& session, Op op_a, Op op_b, Index m, Index n, Index k) {
  return choose_product_tiles(tile_problem<T>(session), stored(op_a, op_b), m, n, k, session.tile());
}

template <Scalar T>
ProductTiles plan_triangle(const Session& session, Op op_a, Op op_b, Index n, Index k, TriangleOf what) {
  return choose_triangle_tiles(tile_problem<T>(session), stored(op_a, op_b), n, k, what, session.tile());
}

template <Scalar T>
ProductTiles plan_symmetric(const Session& session, Side side, Index m, Index n) {
  return choose_symmetric_tiles(tile_problem<T>(session), side, m, n, session.tile());
}

template <Scalar T>
ProductTiles plan_triangular(const Session& session, Side side, bool inverse, Index m, Index n) {
  return choose_triangular_tiles(tile_problem<T>(session), side, inverse, m, n, session.tile());
}

template <Scalar T>
Block block_of_tiles(const Session& session, TileExtents tile) {
  auto block = choose_block(tile_problem<T>(session), tile);
  block.in_turn = session.gpus_alike();
  return block;
}

template <Scalar T>
Index default_tile(const Session& session) {
  return session.tile() > 0 ? session.tile() : choose_default_tile(tile_problem<T>(session));
}

#define INSTANTIATE(T)                                                                      \
  template TileProblem tile_problem<T>(const Session&);                                     \
  template ProductTiles plan_product<T>(const Session&, Op, Op, Index, Index, Index);       \
  template ProductTiles plan_triangle<T>(const Session&, Op, Op, Index, Index, TriangleOf); \
  template ProductTiles plan_symmetric<T>(const Session&, Side, Index, Index);              \
  template ProductTiles plan_triangular<T>(const Session&, Side, bool, Index, Index);       \
  template Block block_of_tiles<T>(const Session&, TileExtents);                            \
  template Index default_tile<T>(const Session&);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera::detail

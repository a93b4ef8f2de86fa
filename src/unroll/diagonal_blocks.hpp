// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "submit.hpp"

namespace tessera::unroll {

/// Whether trsm with a tile of this order is blocked: GPUs then solve with inverses of its diagonal blocks.
inline bool is_blocked(const detail::Session& session, Index order) {
  return session.machine().gpu_count() > 0 && order > codelets::diagonal_block;
}

/// Submits the task that inverts the diagonal blocks of tile (i, i) of a triangular A.
/// @return  the inverses, which a blocked trsm with this tile reads
template <Scalar T>
TemporaryTile submit_diagonal_blocks(Submitter& submitter, const Matrix<T>& A, Index i, Uplo uplo, Diag diag,
                                     int owner) {
  const Index order = A.tile_m(i);
  TemporaryTile blocks(codelets::diagonal_block, 2 * order, sizeof(T));
  blocks.stand_for(detail::MatrixAccess::grid(A), i, i);
  const double flops =
      flops_per_multiply_add<T> * static_cast<double>(order) * codelets::diagonal_block * codelets::diagonal_block;
  const codelets::DiagonalBlocksArgs<T> args{{flops, type_letter<T>}, uplo, diag};
  submitter.submit(codelets::diagonal_blocks<T>(), {{A.handle(i, i), STARPU_R}, {blocks.handle(), STARPU_W}}, args,
                   owner);
  return blocks;
}

}  // namespace tessera::unroll

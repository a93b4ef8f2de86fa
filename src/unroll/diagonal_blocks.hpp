// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "submit.hpp"

namespace tessera::unroll {

/// Whether trsm with a tile of this order is blocked: GPUs of CUDA then solve with inverses of its diagonal blocks.
/// OpenCL devices solve with these blocks by substitution.
inline bool is_blocked(const detail::Session& session, Index order) {
  return session.machine().has_cuda() && order > codelets::diagonal_block;
}

/// Submits the task that inverts the diagonal blocks of tile (i, j) of a triangular A.
/// @param first_row  row of the tile in which the diagonal enters it
/// @return  the inverses, which a blocked trsm with this tile reads
template <Scalar T>
TemporaryTile submit_diagonal_blocks(Submitter& submitter, const Matrix<T>& A, Index i, Index j, Index first_row,
                                     Uplo uplo, Diag diag, int owner) {
  const Index order = A.tile_n(j);
  TemporaryTile blocks(codelets::diagonal_block, 2 * order, sizeof(T));
  blocks.stand_for(detail::MatrixAccess::grid(A), i, j);
  submitter.own_like(A.handle(i, j), blocks);
  const double flops =
      flops_per_multiply_add<T> * static_cast<double>(order) * codelets::diagonal_block * codelets::diagonal_block;
  const codelets::DiagonalBlocksArgs<T> args{{flops, type_letter<T>}, uplo, diag, static_cast<int>(first_row)};
  submitter.submit(codelets::diagonal_blocks<T>(), {{A.handle(i, j), STARPU_R}, {blocks.handle(), STARPU_W}}, args,
                   owner);
  return blocks;
}

/// The same for the square tile (i, i).
template <Scalar T>
TemporaryTile submit_diagonal_blocks(Submitter& submitter, const Matrix<T>& A, Index i, Uplo uplo, Diag diag,
                                     int owner) {
  return submit_diagonal_blocks(submitter, A, i, i, 0, uplo, diag, owner);
}

}  // namespace tessera::unroll

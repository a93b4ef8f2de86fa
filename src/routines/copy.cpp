// SPDX-License-Identifier: BSD-3-Clause
// copy: B ← A, tile by tile.
#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

#include "algorithms/run.hpp"
#include "blas/shapes.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/session.hpp"
#include "tile/views.hpp"

namespace tessera {

template <Scalar T>
void copy(const Matrix<T>& A, const Matrix<T>& B) {
  using namespace routines;
  const MatrixArgument at_a{"copy", 1, "A"}, at_b{"copy", 2, "B"};
  require_equal(at_b, "rows", B.m(), "A", A.m());
  require_equal(at_b, "columns", B.n(), "A", A.n());
  require_writable(at_b, B);
  if (B.m() == 0 || B.n() == 0) return;
  if (A.op() != B.op())
    throw ArgumentError(at_b.routine, at_b.position, at_b.name, "must be seen through the same transpose as A");
  require_same_tiles(at_b, "rows", row_cut(B), "A", row_cut(A));
  require_same_tiles(at_b, "columns", column_cut(B), "A", column_cut(A));
  require_disjoint(at_b, B, "A", A);
  require_values(at_a, A);
  routines::name_operand(A, 'A'), routines::name_operand(B, 'B');
  const auto& session = detail::MatrixAccess::session(B);
  const auto from = A.stored(), to = B.stored();
  const tile::FactorView of_a(from, Op::NoTrans);
  const tile::FullView of_b(to, tile::owner_grid(session.machine().gpu_count()));
  sinks::Submitter submitter(session, to);
  algorithms::submit(submitter, [&](auto& ops) {
    for (Index j = 0; j < to.nt(); j++)
      for (Index i = 0; i < to.mt(); i++) ops.copy(of_a(i, j), of_b(i, j));
  });
}

#define INSTANTIATE_COPY(letter, T, ...) template void copy<T>(const Matrix<T>&, const Matrix<T>&);
FOR_SDCZ(INSTANTIATE_COPY, )

}  // namespace tessera

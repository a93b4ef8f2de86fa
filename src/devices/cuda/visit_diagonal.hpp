// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "devices/kernel_tile.hpp"
#include "on_cuda.hpp"
#include "solver.hpp"

namespace tessera::device {

/// Shows the diagonal of A to the host, piece by piece, when the GPU has done what was submitted before.
/// @param visit  (const T* diagonal, int first, int count): sees `count` elements, of which the first is in row `first`
/// @pre  the worker's solver has started
template <Scalar T, typename Visit>
void visit_diagonal(const OnDevice& on, const Tile<const T>& A, Visit visit) {
  auto* const diagonal = static_cast<T*>(cuda::local_solver().diagonal);
  const int all = std::min(A.m, A.n);
  for (int first = 0; first < all; first += cuda::longest_diagonal) {
    const int count = std::min(cuda::longest_diagonal, all - first);
    // A kernel copies this, because a cudaMemcpy would queue behind tiles that are being written back.
    check("copy", cuda::copy<T>(on.handle, count, element(A, first, first), A.ld + Index{1}, diagonal));
    then_on_host(cuda::local_stream(), [=] { visit(diagonal, first, count); });
  }
}

}  // namespace tessera::device

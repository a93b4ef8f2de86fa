// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "tile/process_blocks.hpp"
#include "tile/processes.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::detail {

/// Whether a solve over processes holds back the tiles of A that it sends: as the program wishes, otherwise if a
/// process has no memory for copies of all of them.
/// @param copies  the most bytes of A that a process receives
template <Scalar T>
bool holds_back(const Share& share, double copies, const Matrix<T>& A, const Matrix<T>& B) {
  const auto elements = [](const Matrix<T>& X) { return static_cast<double>(X.m()) * static_cast<double>(X.n()); };
  const double matrices = sizeof(T) * (elements(A) + elements(B)) / (share.p * share.q);
  return share.processes->control().blocks.holds_back.value_or(
      copies > tile::memory_for_copies(share.processes->model(), matrices));
}

}  // namespace tessera::detail

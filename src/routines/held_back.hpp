// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <tessera/matrix.hpp>

#include "tile/process_blocks.hpp"
#include "tile/processes.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::routines {

/// The bytes of a process's parts of A and B.
template <Scalar T>
double own_bytes(const tile::Share& share, const Matrix<T>& A, const Matrix<T>& B) {
  const auto elements = [](const Matrix<T>& X) { return static_cast<double>(X.m()) * static_cast<double>(X.n()); };
  return sizeof(T) * (elements(A) + elements(B)) / (share.p * share.q);
}

/// For how much of the copies that a process receives in a solve it has memory; 1: for all of them.
template <Scalar T>
double share_that_fits(const tile::Share& share, double copies, const Matrix<T>& A, const Matrix<T>& B) {
  const double room = tile::memory_for_copies(share.processes->model(), own_bytes(share, A, B));
  return copies > 0 ? room / copies : std::numeric_limits<double>::infinity();
}

/// Whether a solve over processes holds back the tiles that it sends: as the program wishes, otherwise if a process has
/// no memory for copies of all of them.
/// @param copies  the most bytes that a process receives
/// @param most    the most bytes that copies may take
template <Scalar T>
bool holds_back(const tile::Share& share, double copies, const Matrix<T>& A, const Matrix<T>& B,
                double most = std::numeric_limits<double>::infinity()) {
  const bool lacks_room = share_that_fits(share, copies, A, B) < 1;
  return share.processes->control().blocks.holds_back.value_or(lacks_room || copies > most);
}

}  // namespace tessera::routines

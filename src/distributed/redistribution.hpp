// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include <tessera/distributed.hpp>

namespace tessera::distributed {

/// How the elements of one dimension are dealt to processes, block by block.
struct Dealing {
  Index block;           ///< elements
  int processes, first;  ///< number of processes, and the one with the first block
  Index begin = 0;       ///< index in the matrix of the first element of the part

  /// The process of element i of the part.
  int process(Index i) const noexcept { return static_cast<int>(((begin + i) / block + first) % processes); }
  /// The place of element i among the elements of its process.
  Index place(Index i) const noexcept { return (begin + i) / block / processes * block + (begin + i) % block; }
};

/// A part of a block-cyclic matrix, with the array of this process.
template <Scalar T>
struct DealtMatrix {
  Dealing rows, columns;
  std::shared_ptr<const std::vector<int>> ranks;  ///< ranks of the grid, row by row; null: 0, 1, 2, …
  T* data;
  Index ld;

  int rank(int row, int column) const {
    const int place = row * columns.processes + column;
    return ranks ? (*ranks)[static_cast<std::size_t>(place)] : place;
  }
};

/// The elements of a distributed matrix or view that is not transposed. The caller must first wait until all tasks on
/// the matrix have ended.
template <Scalar T>
DealtMatrix<T> dealt(const DistributedMatrix<T>& A);

/// to ← from, for two parts of m×n elements with any blocks on any grids of the same processes. Each process exchanges
/// messages with each other one. Collective.
/// @param comm  used for nothing else at the same time
template <Scalar T>
void redistribute(MPI_Comm comm, Index m, Index n, const DealtMatrix<T>& from, const DealtMatrix<T>& to);

}  // namespace tessera::distributed

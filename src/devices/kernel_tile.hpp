// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <tessera/types.hpp>

namespace tessera::device {

/// A tile as kernels see it: column-major, in the memory of the worker that runs the task.
template <typename T>
struct Tile {
  T* data;
  int m, n, ld;  // int, as in the BLAS; Matrix refuses tiles with larger sizes
};

template <typename T>
Tile<T> tile(void* buffer) {
  return {reinterpret_cast<T*>(STARPU_MATRIX_GET_PTR(buffer)), static_cast<int>(STARPU_MATRIX_GET_NX(buffer)),
          static_cast<int>(STARPU_MATRIX_GET_NY(buffer)), static_cast<int>(STARPU_MATRIX_GET_LD(buffer))};
}

template <typename T>
T* element(const Tile<T>& C, int i, int j) {
  return C.data + i + static_cast<Index>(j) * C.ld;
}

/// Half the order of the diagonal blocks of a triangle that GPUs invert (see `DiagonalBlocksArgs`).
inline constexpr int diagonal_block = 256;

/// The address of element (i, j) of op(A).
template <typename T>
const T* element_of(Op op, const Tile<const T>& A, int i, int j) {
  return op == Op::NoTrans ? element(A, i, j) : element(A, j, i);
}

/// The address of row i of op(A), or of column j of op(B).
template <typename T>
const T* row(Op op, const Tile<const T>& A, int i) {
  return element_of(op, A, i, 0);
}
template <typename T>
const T* column(Op op, const Tile<const T>& B, int j) {
  return element_of(op, B, 0, j);
}

}  // namespace tessera::device

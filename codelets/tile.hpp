// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <tessera/types.hpp>

namespace tessera::codelets {

/// One tile as a kernel sees it: column-major, in the memory of the worker that runs the task.
template <typename T>
struct Tile {
  T* data;
  int m, n, ld;  // the BLAS count in int; a Matrix refuses tiles that would not fit
};

template <typename T>
Tile<T> tile(void* buffer) {
  return {reinterpret_cast<T*>(STARPU_MATRIX_GET_PTR(buffer)), static_cast<int>(STARPU_MATRIX_GET_NX(buffer)),
          static_cast<int>(STARPU_MATRIX_GET_NY(buffer)), static_cast<int>(STARPU_MATRIX_GET_LD(buffer))};
}

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// @file
/// Keeping matrices on the GPUs between calls on pointers. docs/matrices.md has an example.

namespace tessera {

/// Keeps a matrix: from now on, calls of the level-3 BLAS on pointers into this memory leave the tiles that they have
/// copied to GPUs there, and the tiles of a result that they have computed there. A later call that cuts the same part
/// of the matrix into the same tiles copies nothing to these GPUs. When a call returns, its result is in the caller's
/// memory, as without `keep`.
///
/// The program promises to call `changed` after anything else has written the memory: the program itself, another
/// library, the level-3 BLAS of the host, or ScaLAPACK's names in <tessera/distributed.h>. Tessera knows what else it
/// writes: calls on pointers, and a Matrix that has ended. While a Matrix over the memory exists, do not use the memory
/// in calls on pointers.
///
/// Call `forget` before the memory is freed. If the memory of a GPU is needed, kept tiles leave it, and are copied
/// again when a call uses them. Without GPUs, and in a StarPU that the program has started, nothing is kept.
///
/// Thread-safe. A process that was forked while a Runtime exists cannot call these functions.
/// @param A   column-major, in host memory; a row-major matrix is the transpose of a column-major one
/// @param ld  at least max(1, m)
/// @throws ArgumentError if an argument is illegal, A is in memory of a GPU or managed by CUDA, or the matrix shares
///                       memory with another kept matrix. To keep the same matrix again has no effect.
/// @throws RuntimeError  in a process that was forked while a Runtime existed
template <Scalar T>
void keep(const T* A, Index m, Index n, Index ld);

/// Says that a kept matrix has been written: later calls copy its tiles again.
/// @param A  the pointer that was passed to `keep`
/// @throws ArgumentError if no kept matrix begins there
/// @throws RuntimeError  in such a process, or within a StarPU task or its callback
void changed(const void* A);

/// Says that a part has been written: later calls copy again the tiles that have elements of the part. The memory may
/// be that of several kept matrices, or of none.
/// @param A  the first element of the part
/// @throws ArgumentError if an argument is illegal
/// @throws RuntimeError  in such a process, or within a StarPU task or its callback
template <Scalar T>
void changed(const T* A, Index m, Index n, Index ld);

/// Ends the effect of `keep`, and frees the tiles on the GPUs.
/// @param A  the pointer that was passed to `keep`
/// @throws ArgumentError if no kept matrix begins there
/// @throws RuntimeError  in such a process, or within a StarPU task or its callback
void forget(const void* A);

}  // namespace tessera

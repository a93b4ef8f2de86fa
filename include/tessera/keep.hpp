// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// @file
/// Keeping matrices on the GPUs between calls on pointers. docs/matrices.md has an example.

namespace tessera {

/// Keeps a matrix. From now on, if a call of the level-3 BLAS on pointers uses this memory, its tiles stay on the GPUs
/// that have loaded or computed them. A later call that cuts the same part of the matrix into the same tiles finds them
/// there. When a call returns, its result is in the caller's memory, as without `keep`.
///
/// The program must call `changed` after the memory has been written by the program itself, by another library such as
/// the host BLAS, or by the routines of <tessera/distributed.h>. No such call is needed after Tessera's other routines
/// on pointers, or after the last view of a Matrix over the memory has been destroyed. While such a Matrix exists, do
/// not use the memory in calls on pointers.
///
/// Call `forget` before the memory is freed. If the memory of a GPU is needed, kept tiles are evicted, and copied again
/// when a call uses them. Without GPUs, and in a StarPU that the program has started, nothing is kept.
///
/// The functions of this header are thread-safe. A process that was forked while a Runtime existed cannot call them.
/// @param A   column-major, in host memory; a row-major matrix is the transpose of a column-major one
/// @param ld  at least max(1, m)
/// @throws ArgumentError if an argument is illegal, A is in memory of a GPU or managed by CUDA, or the matrix shares
///                       memory with another kept matrix. Keeping the same matrix again has no effect. An empty
///                       matrix is not kept, and must not be passed to `changed` and `forget`.
/// @throws RuntimeError  in a process that was forked while a Runtime existed
template <Scalar T>
void keep(const T* A, Index m, Index n, Index ld);

/// Tells Tessera that a kept matrix has been written. Later calls copy its tiles again.
/// @param A  the pointer that was passed to `keep`
/// @throws ArgumentError if no kept matrix begins there
/// @throws RuntimeError  in a process that was forked while a Runtime existed, or within a StarPU task or its callback
void changed(const void* A);

/// Tells Tessera that the m×n elements at A have been written. If they are few, this copies them to the GPUs that have
/// their tiles. Otherwise, later calls copy these tiles again. The memory may belong to several kept matrices, or to
/// none.
/// @param A  the first element
/// @throws ArgumentError if an argument is illegal
/// @throws RuntimeError  as the other `changed`
template <Scalar T>
void changed(const T* A, Index m, Index n, Index ld);

/// Ends the effect of `keep`, and frees the tiles on the GPUs.
/// @param A  the pointer that was passed to `keep`
/// @throws ArgumentError if no kept matrix begins there
/// @throws RuntimeError  as `changed`
void forget(const void* A);

}  // namespace tessera

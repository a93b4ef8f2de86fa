// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/call.hpp"

/// Products whose operands are all in the memory of one GPU, computed by the calling thread. A task would take longer
/// to start and to end.
namespace tessera::device::cuda {

/// Computes a call of gemm on a GPU, which becomes the thread's current device, and waits for its end.
/// @param gpu  CUDA's number
/// @pre    the call is column-major, reads its inputs and obeys the rules of the BLAS, and sizes fit into int
/// @return  false if nothing has been done: another thread computes a product in this way on this GPU, or there is no
///          memory for cuBLAS
/// @throws RuntimeError
bool compute_product(const blas::Call& call, int gpu);

/// Frees what `compute_product` keeps. @pre  no thread is in it
void destroy_products();

}  // namespace tessera::device::cuda

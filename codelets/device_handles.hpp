// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>

/// A cuBLAS handle for each CUDA worker, on the worker's stream. Our own, not StarPU's: those belong to the program
/// that has started StarPU, and survive its shutdown as dangling pointers.
namespace tessera::device {

/// Creates them. @throws RuntimeError if cuBLAS cannot start on a device
void create_handles();
void destroy_handles();

/// Of the CUDA worker that calls.
cublasHandle_t local_handle();

}  // namespace tessera::device

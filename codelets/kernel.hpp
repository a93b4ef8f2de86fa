// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <string>

#include "common/failure.hpp"
#include "tile.hpp"

#ifdef TESSERA_WITH_CUDA
#include "device_blas.hpp"
#include "device_handles.hpp"
#endif

/// Helpers that the implementations of several tile operations share.
namespace tessera::codelets {

/// The CUDA implementation in builds without CUDA: null, so that tasks run on CPUs only. Simulated GPUs need a value
/// that is not null, but never call it.
#ifdef STARPU_SIMGRID
inline const auto no_cuda = reinterpret_cast<starpu_cuda_func_t>(1);
#else
inline constexpr starpu_cuda_func_t no_cuda = nullptr;
#endif

#ifdef TESSERA_WITH_CUDA
inline void check(const char* operation, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    report_failure(std::string(operation) + " on a GPU: " + cublasGetStatusString(status));
}

inline void check(const char* operation, cudaError_t status) {
  if (status != cudaSuccess) report_failure(std::string(operation) + " on a GPU: " + cudaGetErrorString(status));
}
#endif

}  // namespace tessera::codelets

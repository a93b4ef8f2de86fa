// SPDX-License-Identifier: BSD-3-Clause
#include "workload/libraries.hpp"

#include <string>

#include <tessera/error.hpp>

#include "devices/cuda/resources.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::bench {

void require(cublasStatus_t status, const std::string& what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw RuntimeError(what + ": " + cublasGetStatusString(status));
}

bool CublasXt::available() { return true; }

CublasXt::CublasXt(std::vector<int> devices) {
  const device::gpu::KeepCurrentDevice keep;
  require(cublasXtCreate(&handle_), "starting cuBLAS-XT");
  require(cublasXtDeviceSelect(handle_, static_cast<int>(devices.size()), devices.data()),
          "selecting cuBLAS-XT's GPUs");
}

CublasXt::~CublasXt() {
  const device::gpu::KeepCurrentDevice keep;
  cublasXtDestroy(handle_);
}

void CublasXt::set_block(Index block) {
  require(cublasXtSetBlockDim(handle_, static_cast<int>(block)), "setting cuBLAS-XT's block size");
}

CuBlas::CuBlas(int device) {
  device::gpu::require(cudaSetDevice(device), "cudaSetDevice");
  require(cublasCreate(&handle_), "starting cuBLAS");
}

CuBlas::~CuBlas() { cublasDestroy(handle_); }

void CuBlas::wait() { device::gpu::require(cudaDeviceSynchronize(), "cuBLAS"); }

}  // namespace tessera::bench

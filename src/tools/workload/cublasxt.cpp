// SPDX-License-Identifier: BSD-3-Clause
#include "cublasxt.hpp"

#include <string>

#include <tessera/error.hpp>

#include "gpu.hpp"
#include "other_libraries.hpp"

namespace tessera::bench {

void xt::require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw RuntimeError(std::string(what) + ": " + cublasGetStatusString(status));
}

bool CublasXt::available() { return true; }

CublasXt::CublasXt(std::vector<int> devices) {
  const gpu::KeepCurrentDevice keep;
  xt::require(cublasXtCreate(&handle_), "starting cuBLAS-XT");
  xt::require(cublasXtDeviceSelect(handle_, static_cast<int>(devices.size()), devices.data()),
              "selecting cuBLAS-XT's GPUs");
}

CublasXt::~CublasXt() {
  const gpu::KeepCurrentDevice keep;
  cublasXtDestroy(handle_);
}

void CublasXt::set_block(Index block) {
  xt::require(cublasXtSetBlockDim(handle_, static_cast<int>(block)), "setting cuBLAS-XT's block size");
}

}  // namespace tessera::bench

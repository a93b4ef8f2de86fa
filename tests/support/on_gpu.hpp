// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "support/matrices.hpp"

namespace tessera::test {

inline void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// A matrix in the memory of the first GPU, with the elements of one on the host, including those between columns.
template <Scalar T>
class OnGpu {
 public:
  explicit OnGpu(const HostMatrix<T>& A) : bytes_(static_cast<std::size_t>(A.ld() * A.n()) * sizeof(T)) {
    require(cudaMalloc(&data_, std::max<std::size_t>(bytes_, 1)));
    require(cudaMemcpy(data_, A.data(), bytes_, cudaMemcpyHostToDevice));
  }
  ~OnGpu() { cudaFree(data_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  void bring_back(HostMatrix<T>& A) const { require(cudaMemcpy(A.data(), data_, bytes_, cudaMemcpyDeviceToHost)); }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/error.hpp>

#include "common/not_copyable.hpp"
#include "cublas.hpp"
#include "resources.hpp"

/// Shared parts of the measurements on GPUs.
namespace tessera::device::gpu {

inline void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw RuntimeError(std::string(what) + ": " + cublasGetStatusString(status));
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct DestroyHandle {
  int device;
  void operator()(cublasHandle_t handle) const {
    cudaSetDevice(device);
    cublasDestroy(handle);
  }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, DestroyHandle>;

/// Enables direct access of one device to another's memory during the lifetime of this object. The destructor disables
/// it unless it was enabled before: StarPU treats a link as indirect if it cannot enable the access itself.
class PeerAccess : common::NotCopyable {
 public:
  PeerAccess(int from, int to) : from_(from), to_(to) {
    int can = 0;
    require(cudaSetDevice(to), "cudaSetDevice");
    if (cudaDeviceCanAccessPeer(&can, to, from) == cudaSuccess && can != 0)
      ours_ = cudaDeviceEnablePeerAccess(from, 0) == cudaSuccess;
    if (!ours_) cudaGetLastError();  // the copy then goes through the host
  }
  ~PeerAccess() {
    if (ours_ && cudaSetDevice(to_) == cudaSuccess) cudaDeviceDisablePeerAccess(from_);
  }

 private:
  int from_, to_;
  bool ours_ = false;
};

/// Fills device memory with numbers of both signs from one short random sequence. All their bits are random, because
/// the data affects the power consumption of the arithmetic, and thereby the clock.
template <Scalar T>
void fill_random(void* device_data, std::size_t elements) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<Real<T>> uniform(Real<T>(-0.5), Real<T>(0.5));
  std::vector<Real<T>> block(std::size_t{1} << 20);
  std::ranges::generate(block, [&] { return uniform(engine); });
  const std::size_t total = elements * sizeof(T), chunk = block.size() * sizeof(block[0]);
  for (std::size_t done = 0; done < total; done += chunk)
    require(cudaMemcpy(static_cast<char*>(device_data) + done, block.data(), std::min(chunk, total - done),
                       cudaMemcpyHostToDevice),
            "filling a measured operand");
}

/// A repeatable product on one device.
template <Scalar T>
class Product {
 public:
  Product(int device, int n)
      : device_(device), n_(n), A_(operand(device, n)), B_(operand(device, n)), C_(operand(device, n)) {
    cublasHandle_t handle = nullptr;
    require(cublasCreate(&handle), "cublasCreate");
    handle_ = Handle(handle, DestroyHandle{device});
  }

  void start() {
    require(cudaSetDevice(device_), "cudaSetDevice");
    require(
        cuda::gemm<T>(handle_.get(), Op::NoTrans, Op::NoTrans, n_, n_, n_, T(Real<T>(1.1)), static_cast<T*>(A_.get()),
                      n_, static_cast<T*>(B_.get()), n_, T(Real<T>(0.3)), static_cast<T*>(C_.get()), n_),
        "a measured product");
  }
  void wait() {
    require(cudaSetDevice(device_), "cudaSetDevice");
    require(cudaStreamSynchronize(nullptr), "a measured product");
  }

 private:
  static DeviceMemory operand(int device, int n) {
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    auto memory = allocate(device, elements * sizeof(T));
    fill_random<T>(memory.get(), elements);
    return memory;
  }

  int device_, n_;
  DeviceMemory A_, B_, C_;
  Handle handle_;
};

}  // namespace tessera::device::gpu

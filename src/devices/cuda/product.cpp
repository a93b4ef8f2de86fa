// SPDX-License-Identifier: BSD-3-Clause
#include "product.hpp"

#include <starpu.h>

#include <array>
#include <mutex>
#include <string>

#include <tessera/error.hpp>

#include "cublas.hpp"

namespace tessera::device::cuda {

namespace {

/// The stream and the cuBLAS handle of one GPU, which one thread uses at a time.
struct Caller {
  std::mutex mutex;
  cudaStream_t stream = nullptr;
  cublasHandle_t handle = nullptr;

  bool start() {
    if (handle != nullptr) return true;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
        cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS && cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS)
      return true;
    stop();
    return false;
  }
  void stop() {
    if (handle != nullptr) cublasDestroy(handle);
    if (stream != nullptr) cudaStreamDestroy(stream);
    handle = nullptr, stream = nullptr;
    cudaGetLastError();  // otherwise the next check of cuBLAS or StarPU would report it
  }
};
std::array<Caller, STARPU_MAXCUDADEVS> callers;

void require(bool done, const char* why) {
  if (!done) throw RuntimeError(std::string("gemm on a GPU: ") + why);
}

}  // namespace

bool compute_product(const blas::Call& c, int gpu) {
  auto& caller = callers[static_cast<std::size_t>(gpu)];
  const std::unique_lock alone(caller.mutex, std::try_to_lock);
  if (!alone || cudaSetDevice(gpu) != cudaSuccess || !caller.start()) return false;
  const auto to_int = [](Index x) { return static_cast<int>(x); };
  const auto status = common::with_type(c.type, [&]<Scalar T>(T) {
    return gemm<T>(caller.handle, c.op_a, c.op_b, to_int(c.m), to_int(c.n), to_int(c.k),
                   *static_cast<const T*>(c.alpha), static_cast<const T*>(c.A), to_int(c.lda),
                   static_cast<const T*>(c.B), to_int(c.ldb), *static_cast<const T*>(c.beta), static_cast<T*>(c.C),
                   to_int(c.ldc));
  });
  const auto ended = cudaStreamSynchronize(caller.stream);
  if (status == CUBLAS_STATUS_ALLOC_FAILED && ended == cudaSuccess) return false;
  require(status == CUBLAS_STATUS_SUCCESS, cublasGetStatusString(status));
  require(ended == cudaSuccess, cudaGetErrorString(ended));
  return true;
}

void destroy_products() {
  for (int gpu = 0; auto& caller : callers)
    if (const int device = gpu++; caller.handle != nullptr) cudaSetDevice(device), caller.stop();
}

}  // namespace tessera::device::cuda

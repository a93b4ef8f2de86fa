// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "codelets/device_solver.hpp"
#include "machine/cuda_resources.hpp"
#include "machine/gpu.hpp"
#include "shared/types.hpp"
#include "workload/other_libraries.hpp"
#include "workload/routines.hpp"

namespace tessera::bench {

namespace {

using gpu::require;
void require(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw RuntimeError(std::string(what) + ": cuSOLVER's status " + std::to_string(status));
}

/// The number of workspace elements that `unmqr` needs.
template <Scalar T>
cusolverStatus_t unmqr_workspace(cusolverDnHandle_t handle, int m, int n, int k, const T* A, int lda, const T* tau,
                                 const T* C, int ldc, int* elements) {
  return of_type<T>(cusolverDnSormqr_bufferSize, cusolverDnDormqr_bufferSize, cusolverDnCunmqr_bufferSize,
                    cusolverDnZunmqr_bufferSize)(handle, CUBLAS_SIDE_LEFT, is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T, m,
                                                 n, k, device::cublas(A), lda, device::cublas(tau), device::cublas(C),
                                                 ldc, elements);
}

/// C, m×n, ← Qᴴ C, with k reflectors that `geqrf` has computed.
template <Scalar T>
cusolverStatus_t unmqr(cusolverDnHandle_t handle, int m, int n, int k, const T* A, int lda, const T* tau, T* C, int ldc,
                       T* workspace, int elements, int* info) {
  return of_type<T>(cusolverDnSormqr, cusolverDnDormqr, cusolverDnCunmqr, cusolverDnZunmqr)(
      handle, CUBLAS_SIDE_LEFT, is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T, m, n, k, device::cublas(A), lda,
      device::cublas(tau), device::cublas(C), ldc, device::cublas(workspace), elements, info);
}

enum class To { Device, Host };

/// Copies one triangle, panel by panel.
void copy_triangle(To to, Uplo uplo, Index n, std::size_t element, char* host, Index ld, char* device) {
  constexpr Index panel = 1024;
  const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element; };
  for (Index j = 0; j < n; j += panel) {
    const Index columns = std::min(panel, n - j), first = uplo == Uplo::Lower ? j : 0,
                rows = uplo == Uplo::Lower ? n - j : j + columns;
    char *const h = host + bytes(first + j * ld), *const d = device + bytes(first + j * n);
    if (to == To::Device)
      require(cudaMemcpy2DAsync(d, bytes(n), h, bytes(ld), bytes(rows), static_cast<std::size_t>(columns),
                                cudaMemcpyDefault),
              "cudaMemcpy2D");
    else
      require(cudaMemcpy2DAsync(h, bytes(ld), d, bytes(n), bytes(rows), static_cast<std::size_t>(columns),
                                cudaMemcpyDefault),
              "cudaMemcpy2D");
  }
}

}  // namespace

struct CuSolver::State {
  /// Device memory that grows.
  class Memory {
   public:
    ~Memory() { cudaFree(data_); }
    void* at_least(std::size_t bytes) {
      if (bytes > bytes_) {
        cudaFree(data_);
        data_ = nullptr, bytes_ = 0;
        require(cudaMalloc(&data_, bytes), "memory for cuSOLVER");
        bytes_ = bytes;
      }
      return data_;
    }

   private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
  };

  ~State() {
    if (blas_ != nullptr) cublasDestroy(blas_);
  }
  /// cuBLAS, started in the first call.
  cublasHandle_t blas() {
    if (blas_ == nullptr && cublasCreate(&blas_) != CUBLAS_STATUS_SUCCESS) throw RuntimeError("starting cuBLAS failed");
    return blas_;
  }

  int device = 0;
  cusolverDnHandle_t handle = nullptr;
  cublasHandle_t blas_ = nullptr;
  Memory A, B, workspace, info, pivots;
};

CuSolver::CuSolver(int device) : state_(std::make_unique<State>()) {
  const gpu::KeepCurrentDevice keep;
  state_->device = device;
  require(cudaSetDevice(device), "cudaSetDevice");
  require(cusolverDnCreate(&state_->handle), "starting cuSOLVER");
}

CuSolver::~CuSolver() {
  const gpu::KeepCurrentDevice keep;
  cudaSetDevice(state_->device);
  cusolverDnDestroy(state_->handle);
  state_.reset();
}

void CuSolver::factorize(char type, Uplo uplo, Index n, void* A, Index lda, Index nrhs, void* B, Index ldb) {
  if (n == 0) return;
  const gpu::KeepCurrentDevice keep;
  require(cudaSetDevice(state_->device), "cudaSetDevice");
  tools::with_type(type, [&]<Scalar T>(T) {
    const auto order = static_cast<int>(n);
    const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    auto* const a = static_cast<T*>(state_->A.at_least(bytes(n * n)));
    auto* const info = static_cast<int*>(state_->info.at_least(2 * sizeof(int)));
    int elements = 0;
    require(device::potrf_workspace<T>(state_->handle, uplo, order, a, order, &elements), "potrf");
    auto* const workspace = static_cast<T*>(state_->workspace.at_least(bytes(elements)));
    copy_triangle(To::Device, uplo, n, sizeof(T), static_cast<char*>(A), lda, reinterpret_cast<char*>(a));
    require(device::potrf<T>(state_->handle, uplo, order, a, order, workspace, elements, info), "potrf");
    if (nrhs > 0) {
      const auto columns = static_cast<std::size_t>(nrhs);
      auto* const b = static_cast<T*>(state_->B.at_least(bytes(n * nrhs)));
      require(cudaMemcpy2DAsync(b, bytes(n), B, bytes(ldb), bytes(n), columns, cudaMemcpyDefault), "cudaMemcpy2D");
      require(device::potrs<T>(state_->handle, uplo, order, static_cast<int>(nrhs), a, order, b, order, info + 1),
              "potrs");
      require(cudaMemcpy2DAsync(B, bytes(ldb), b, bytes(n), bytes(n), columns, cudaMemcpyDefault), "cudaMemcpy2D");
    }
    copy_triangle(To::Host, uplo, n, sizeof(T), static_cast<char*>(A), lda, reinterpret_cast<char*>(a));
    int failed = 0;
    require(cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDefault), "cudaMemcpy");
    if (failed != 0) throw RuntimeError("cuSOLVER found the matrix not positive definite");
  });
}

void CuSolver::invert(char type, Inversion which, Uplo uplo, Diag diag, Index n, void* A, Index lda) {
  if (n == 0) return;
  const gpu::KeepCurrentDevice keep;
  require(cudaSetDevice(state_->device), "cudaSetDevice");
  tools::with_type(type, [&]<Scalar T>(T) {
    const auto order = static_cast<int>(n);
    const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    auto* const a = static_cast<T*>(state_->A.at_least(bytes(n * n)));
    auto* const info = static_cast<int*>(state_->info.at_least(2 * sizeof(int)));
    copy_triangle(To::Device, uplo, n, sizeof(T), static_cast<char*>(A), lda, reinterpret_cast<char*>(a));
    if (which == Inversion::Trtri) {
      std::size_t on_device = 0, on_host = 0;
      require(device::trtri_workspace<T>(state_->handle, uplo, diag, order, a, order, &on_device, &on_host), "trtri");
      std::vector<std::byte> host(on_host);
      require(device::trtri<T>(state_->handle, uplo, diag, order, a, order, state_->workspace.at_least(on_device),
                               on_device, host.data(), on_host, info),
              "trtri");
      require(cudaDeviceSynchronize(), "trtri");  // it may use the workspace on the host until then
    } else {
      const bool inverts = which == Inversion::Potri;
      int elements = 0;
      require(inverts ? device::potri_workspace<T>(state_->handle, uplo, order, a, order, &elements)
                      : device::lauum_workspace<T>(state_->handle, uplo, order, a, order, &elements),
              "the workspace of an inverse");
      auto* const workspace = static_cast<T*>(state_->workspace.at_least(bytes(elements)));
      require(inverts ? device::potri<T>(state_->handle, uplo, order, a, order, workspace, elements, info)
                      : device::lauum<T>(state_->handle, uplo, order, a, order, workspace, elements, info),
              "an inverse");
    }
    copy_triangle(To::Host, uplo, n, sizeof(T), static_cast<char*>(A), lda, reinterpret_cast<char*>(a));
    int failed = 0;
    require(cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDefault), "cudaMemcpy");
    if (failed != 0) throw RuntimeError("cuSOLVER found the matrix singular");
  });
}

void CuSolver::factorize_with_pivots(char type, Index m, Index n, void* A, Index lda, int* pivots, Index nrhs, void* B,
                                     Index ldb) {
  if (m == 0 || n == 0) return;
  const gpu::KeepCurrentDevice keep;
  require(cudaSetDevice(state_->device), "cudaSetDevice");
  tools::with_type(type, [&]<Scalar T>(T) {
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n);
    const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    const auto count = static_cast<std::size_t>(std::min(m, n));
    auto* const a = static_cast<T*>(state_->A.at_least(bytes(m * n)));
    auto* const info = static_cast<int*>(state_->info.at_least(2 * sizeof(int)));
    auto* const p = pivots == nullptr ? nullptr : static_cast<int*>(state_->pivots.at_least(count * sizeof(int)));
    int elements = 0;
    require(device::getrf_workspace<T>(state_->handle, rows, columns, a, rows, &elements), "getrf");
    auto* const workspace = static_cast<T*>(state_->workspace.at_least(bytes(elements)));
    const auto copy = [&](void* to, Index to_ld, const void* from, Index from_ld, Index width, cudaMemcpyKind kind) {
      require(
          cudaMemcpy2DAsync(to, bytes(to_ld), from, bytes(from_ld), bytes(m), static_cast<std::size_t>(width), kind),
          "cudaMemcpy2D");
    };
    copy(a, m, A, lda, n, cudaMemcpyDefault);
    require(device::getrf<T>(state_->handle, rows, columns, a, rows, workspace, p, info), "getrf");
    if (nrhs > 0) {
      auto* const b = static_cast<T*>(state_->B.at_least(bytes(n * nrhs)));
      copy(b, n, B, ldb, nrhs, cudaMemcpyDefault);
      require(device::getrs<T>(state_->handle, columns, static_cast<int>(nrhs), a, rows, p, b, columns, info + 1),
              "getrs");
      copy(B, ldb, b, n, nrhs, cudaMemcpyDefault);
    }
    copy(A, lda, a, m, n, cudaMemcpyDefault);
    if (p != nullptr) require(cudaMemcpyAsync(pivots, p, count * sizeof(int), cudaMemcpyDefault), "cudaMemcpy");
    int failed = 0;
    require(cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDefault), "cudaMemcpy");
    if (failed != 0) throw RuntimeError("cuSOLVER found the matrix singular");
  });
}

void CuSolver::factorize_by_reflectors(char type, Index m, Index n, void* A, Index lda, void* tau, Index nrhs, void* B,
                                       Index ldb) {
  if (m == 0 || n == 0) return;
  if (nrhs > 0 && m < n) throw RuntimeError("cuSOLVER has no LQ factorization");
  const gpu::KeepCurrentDevice keep;
  require(cudaSetDevice(state_->device), "cudaSetDevice");
  tools::with_type(type, [&]<Scalar T>(T) {
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n), right = static_cast<int>(nrhs);
    const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    const Index count = std::min(m, n);
    auto* const a = static_cast<T*>(state_->A.at_least(bytes(m * n)));
    auto* const b = static_cast<T*>(state_->B.at_least(bytes(m * nrhs)));
    auto* const info = static_cast<int*>(state_->info.at_least(2 * sizeof(int)));
    auto* const factors = static_cast<T*>(state_->pivots.at_least(bytes(count)));
    int elements = 0, for_product = 0;
    require(device::geqrf_workspace<T>(state_->handle, rows, columns, a, rows, &elements), "geqrf");
    if (nrhs > 0)
      require(unmqr_workspace<T>(state_->handle, rows, right, columns, a, rows, factors, b, rows, &for_product),
              "unmqr");
    elements = std::max(elements, for_product);
    auto* const workspace = static_cast<T*>(state_->workspace.at_least(bytes(elements)));
    const auto copy = [&](void* to, Index to_ld, const void* from, Index from_ld, Index width, cudaMemcpyKind kind) {
      require(
          cudaMemcpy2DAsync(to, bytes(to_ld), from, bytes(from_ld), bytes(m), static_cast<std::size_t>(width), kind),
          "cudaMemcpy2D");
    };
    copy(a, m, A, lda, n, cudaMemcpyDefault);
    require(device::geqrf<T>(state_->handle, rows, columns, a, rows, factors, workspace, elements, info), "geqrf");
    if (nrhs > 0) {
      copy(b, m, B, ldb, nrhs, cudaMemcpyDefault);
      require(unmqr<T>(state_->handle, rows, right, columns, a, rows, factors, b, rows, workspace, elements, info + 1),
              "unmqr");
      if (device::trsm<T>(state_->blas(), Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, columns, right, T(1), a,
                          rows, b, rows) != CUBLAS_STATUS_SUCCESS)
        throw RuntimeError("trsm: cuBLAS failed");
      copy(B, ldb, b, m, nrhs, cudaMemcpyDefault);
    }
    copy(A, lda, a, m, n, cudaMemcpyDefault);
    require(cudaMemcpy(tau, factors, bytes(count), cudaMemcpyDefault), "cudaMemcpy");
  });
}

}  // namespace tessera::bench

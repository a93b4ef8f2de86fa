// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "common/of_type.hpp"
#include "devices/cuda/resources.hpp"
#include "devices/cuda/solver.hpp"
#include "devices/gpu.hpp"
#include "workload/other_libraries.hpp"
#include "workload/routine.hpp"

namespace tessera::bench {

namespace {

using device::gpu::require;
void require(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw RuntimeError(std::string(what) + ": cuSOLVER's status " + std::to_string(status));
}

template <Scalar T>
constexpr Op adjoint = is_complex<T> ? Op::ConjTrans : Op::Trans;

/// The number of workspace elements that `unmqr` needs.
template <Scalar T>
cusolverStatus_t unmqr_workspace(cusolverDnHandle_t handle, int m, int n, int k, const T* A, int lda, const T* tau,
                                 const T* C, int ldc, int* elements) {
  return device::cuda::call(common::of_type<T>(cusolverDnSormqr_bufferSize, cusolverDnDormqr_bufferSize,
                                               cusolverDnCunmqr_bufferSize, cusolverDnZunmqr_bufferSize),
                            handle, Side::Left, adjoint<T>, m, n, k, A, lda, tau, C, ldc, elements);
}

/// C, m×n, ← Qᴴ C, with k reflectors that `geqrf` has computed.
template <Scalar T>
cusolverStatus_t unmqr(cusolverDnHandle_t handle, int m, int n, int k, const T* A, int lda, const T* tau, T* C, int ldc,
                       T* workspace, int elements, int* info) {
  return device::cuda::call(common::of_type<T>(cusolverDnSormqr, cusolverDnDormqr, cusolverDnCunmqr, cusolverDnZunmqr),
                            handle, Side::Left, adjoint<T>, m, n, k, A, lda, tau, C, ldc, workspace, elements, info);
}

}  // namespace

struct CuSolver::State {
  /// An m×n matrix in the memory of the current GPU: the matrix itself if it is there, otherwise a copy.
  template <Scalar T>
  class OnGpu {
   public:
    /// @param copies    holds the copy, if one is needed
    /// @param triangle  if not empty, only this triangle is copied
    OnGpu(device::gpu::GrowingMemory& copies, int device, void* home, Index m, Index n, Index ld,
          std::optional<Uplo> triangle = {})
        : home_(static_cast<T*>(home)), home_ld_(ld), m_(m), n_(n), triangle_(triangle) {
      if (device::gpu::device_of(home) == device) return;
      copy_ = static_cast<T*>(copies.at_least(bytes(m * n)));
      copy(copy_, m_, home_, home_ld_);
    }
    T* data() const { return copy_ != nullptr ? copy_ : home_; }
    int ld() const { return static_cast<int>(copy_ != nullptr ? m_ : home_ld_); }
    void bring_home() const {
      if (copy_ != nullptr) copy(home_, home_ld_, copy_, m_);
    }

   private:
    static std::size_t bytes(Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); }

    /// Copies a triangle panel by panel.
    void copy(T* to, Index to_ld, const T* from, Index from_ld) const {
      const Index panel = triangle_ ? 1024 : n_;
      for (Index j = 0; j < n_; j += panel) {
        const Index columns = std::min(panel, n_ - j), first = triangle_ == Uplo::Lower ? j : 0,
                    rows = triangle_ == Uplo::Upper ? j + columns : m_ - first;
        require(cudaMemcpy2DAsync(to + first + j * to_ld, bytes(to_ld), from + first + j * from_ld, bytes(from_ld),
                                  bytes(rows), static_cast<std::size_t>(columns), cudaMemcpyDefault),
                "cudaMemcpy2D");
      }
    }

    T *home_, *copy_ = nullptr;
    Index home_ld_, m_, n_;
    std::optional<Uplo> triangle_;
  };

  ~State() {
    if (blas_ != nullptr) cublasDestroy(blas_);
  }
  /// cuBLAS, started in the first call.
  cublasHandle_t blas() {
    if (blas_ == nullptr && cublasCreate(&blas_) != CUBLAS_STATUS_SUCCESS) throw RuntimeError("starting cuBLAS failed");
    return blas_;
  }

  /// Calls make_call(T{}) with this object's GPU as the current device.
  template <typename Call>
  void on_gpu(char type, Call make_call) const {
    const device::gpu::KeepCurrentDevice keep;
    require(cudaSetDevice(device), "cudaSetDevice");
    common::with_type(type, make_call);
  }

  int* new_info() { return static_cast<int*>(info.at_least(2 * sizeof(int))); }
  template <Scalar T>
  T* work(int elements) {
    return static_cast<T*>(workspace.at_least(static_cast<std::size_t>(elements) * sizeof(T)));
  }
  /// Waits for the GPU, and checks the info of a call.
  static void check(const int* info, const char* problem) {
    int failed = 0;
    require(cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDefault), "cudaMemcpy");
    if (failed != 0) throw RuntimeError(std::string("cuSOLVER found ") + problem);
  }

  int device = 0;
  cusolverDnHandle_t handle = nullptr;
  cublasHandle_t blas_ = nullptr;
  device::gpu::GrowingMemory A, B, workspace, info, pivots;
};

CuSolver::CuSolver(int device) : state_(std::make_unique<State>()) {
  const device::gpu::KeepCurrentDevice keep;
  state_->device = device;
  require(cudaSetDevice(device), "cudaSetDevice");
  require(cusolverDnCreate(&state_->handle), "starting cuSOLVER");
}

CuSolver::~CuSolver() {
  const device::gpu::KeepCurrentDevice keep;
  cudaSetDevice(state_->device);
  cusolverDnDestroy(state_->handle);
  state_.reset();
}

void CuSolver::factorize(char type, Uplo uplo, Index n, void* A, Index lda, Index nrhs, void* B, Index ldb) {
  if (n == 0) return;
  state_->on_gpu(type, [&]<Scalar T>(T) {
    const auto order = static_cast<int>(n);
    const State::OnGpu<T> a(state_->A, state_->device, A, n, n, lda, uplo),
        b(state_->B, state_->device, B, n, nrhs, ldb);
    auto* const info = state_->new_info();
    int elements = 0;
    require(device::cuda::potrf_workspace<T>(state_->handle, uplo, order, a.data(), a.ld(), &elements), "potrf");
    require(device::cuda::potrf<T>(state_->handle, uplo, order, a.data(), a.ld(), state_->work<T>(elements), elements,
                                   info),
            "potrf");
    if (nrhs > 0)
      require(device::cuda::potrs<T>(state_->handle, uplo, order, static_cast<int>(nrhs), a.data(), a.ld(), b.data(),
                                     b.ld(), info + 1),
              "potrs");
    a.bring_home(), b.bring_home();
    state_->check(info, "the matrix not positive definite");
  });
}

void CuSolver::invert(char type, Inversion which, Uplo uplo, Diag diag, Index n, void* A, Index lda) {
  if (n == 0) return;
  state_->on_gpu(type, [&]<Scalar T>(T) {
    const auto order = static_cast<int>(n);
    const State::OnGpu<T> a(state_->A, state_->device, A, n, n, lda, uplo);
    auto* const info = state_->new_info();
    if (which == Inversion::Trtri) {
      std::size_t on_device = 0, on_host = 0;
      require(
          device::cuda::trtri_workspace<T>(state_->handle, uplo, diag, order, a.data(), a.ld(), &on_device, &on_host),
          "trtri");
      std::vector<std::byte> host(on_host);
      require(device::cuda::trtri<T>(state_->handle, uplo, diag, order, a.data(), a.ld(),
                                     state_->workspace.at_least(on_device), on_device, host.data(), on_host, info),
              "trtri");
      require(cudaDeviceSynchronize(), "trtri");  // trtri may use the host workspace until then
    } else {
      const bool inverts = which == Inversion::Potri;
      int elements = 0;
      require((inverts ? device::cuda::potri_workspace<T>
                       : device::cuda::lauum_workspace<T>)(state_->handle, uplo, order, a.data(), a.ld(), &elements),
              "the workspace of an inverse");
      require((inverts ? device::cuda::potri<T> : device::cuda::lauum<T>)(state_->handle, uplo, order, a.data(), a.ld(),
                                                                          state_->work<T>(elements), elements, info),
              "an inverse");
    }
    a.bring_home();
    state_->check(info, "the matrix singular");
  });
}

void CuSolver::factorize_with_pivots(char type, Index m, Index n, void* A, Index lda, int* pivots, Index nrhs, void* B,
                                     Index ldb) {
  if (m == 0 || n == 0) return;
  state_->on_gpu(type, [&]<Scalar T>(T) {
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n);
    const auto bytes = static_cast<std::size_t>(std::min(m, n)) * sizeof(int);
    const State::OnGpu<T> a(state_->A, state_->device, A, m, n, lda), b(state_->B, state_->device, B, n, nrhs, ldb);
    auto* const info = state_->new_info();
    auto* const p = pivots == nullptr ? nullptr : static_cast<int*>(state_->pivots.at_least(bytes));
    int elements = 0;
    require(device::cuda::getrf_workspace<T>(state_->handle, rows, columns, a.data(), a.ld(), &elements), "getrf");
    require(device::cuda::getrf<T>(state_->handle, rows, columns, a.data(), a.ld(), state_->work<T>(elements), p, info),
            "getrf");
    if (nrhs > 0)
      require(device::cuda::getrs<T>(state_->handle, columns, static_cast<int>(nrhs), a.data(), a.ld(), p, b.data(),
                                     b.ld(), info + 1),
              "getrs");
    a.bring_home(), b.bring_home();
    if (p != nullptr) require(cudaMemcpyAsync(pivots, p, bytes, cudaMemcpyDefault), "cudaMemcpy");
    state_->check(info, "the matrix singular");
  });
}

void CuSolver::factorize_by_reflectors(char type, Index m, Index n, void* A, Index lda, void* tau, Index nrhs, void* B,
                                       Index ldb) {
  if (m == 0 || n == 0) return;
  state_->on_gpu(type, [&]<Scalar T>(T) {
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n), right = static_cast<int>(nrhs);
    const auto bytes = static_cast<std::size_t>(std::min(m, n)) * sizeof(T);
    const State::OnGpu<T> a(state_->A, state_->device, A, m, n, lda), b(state_->B, state_->device, B, m, nrhs, ldb);
    auto* const info = state_->new_info();
    auto* const factors = static_cast<T*>(state_->pivots.at_least(bytes));
    int elements = 0, for_product = 0;
    require(device::cuda::geqrf_workspace<T>(state_->handle, rows, columns, a.data(), a.ld(), &elements), "geqrf");
    if (nrhs > 0)
      require(unmqr_workspace<T>(state_->handle, rows, right, columns, a.data(), a.ld(), factors, b.data(), b.ld(),
                                 &for_product),
              "unmqr");
    elements = std::max(elements, for_product);
    auto* const workspace = state_->work<T>(elements);
    require(device::cuda::geqrf<T>(state_->handle, rows, columns, a.data(), a.ld(), factors, workspace, elements, info),
            "geqrf");
    if (nrhs > 0) {
      require(unmqr<T>(state_->handle, rows, right, columns, a.data(), a.ld(), factors, b.data(), b.ld(), workspace,
                       elements, info + 1),
              "unmqr");
      if (device::cuda::trsm<T>(state_->blas(), Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, columns, right,
                                T(1), a.data(), a.ld(), b.data(), b.ld()) != CUBLAS_STATUS_SUCCESS)
        throw RuntimeError("trsm: cuBLAS failed");
    }
    a.bring_home(), b.bring_home();
    require(cudaMemcpy(tau, factors, bytes, cudaMemcpyDefault), "cudaMemcpy");
  });
}

}  // namespace tessera::bench

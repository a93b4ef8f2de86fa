// SPDX-License-Identifier: BSD-3-Clause
// Factorizations on a GPU: cuSOLVER cannot tell how much workspace they need; the largest leading dimension.
#include <cusolverDn.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <starpu.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tessera/lapack.hpp>

#include "codelets/panel_steps.hpp"
#include "devices/cuda/magnitude.hpp"
#include "devices/cuda/panel.hpp"
#include "support/error_of.hpp"
#include "support/on_gpu.hpp"

namespace tessera::test::cuda_solver_cpp {
namespace {

std::atomic<bool> queries_fail = false;
std::atomic<int> factorizations = 0;
int stand_in = 0;  ///< for a handle, where there is no cuSOLVER

bool is_stand_in(cusolverDnHandle_t handle) { return reinterpret_cast<int*>(handle) == &stand_in; }

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The functions of this program are found before those of cuSOLVER.
extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  const auto status = next<decltype(cusolverDnCreate)>("cusolverDnCreate")(handle);
  if (status == CUSOLVER_STATUS_SUCCESS || !queries_fail) return status;
  *handle = reinterpret_cast<cusolverDnHandle_t>(&stand_in);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  if (is_stand_in(handle)) return CUSOLVER_STATUS_SUCCESS;
  return next<decltype(cusolverDnDestroy)>("cusolverDnDestroy")(handle);
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (is_stand_in(handle)) return CUSOLVER_STATUS_SUCCESS;
  return next<decltype(cusolverDnSetStream)>("cusolverDnSetStream")(handle, stream);
}

#define QUERY(name, parameters, arguments)                                                        \
  cusolverStatus_t name parameters {                                                              \
    return queries_fail ? CUSOLVER_STATUS_INTERNAL_ERROR : next<decltype(name)>(#name) arguments; \
  }
#define FACTORIZATION(name, parameters, arguments)                                         \
  cusolverStatus_t name parameters {                                                       \
    factorizations++;                                                                      \
    return queries_fail ? CUSOLVER_STATUS_SUCCESS : next<decltype(name)>(#name) arguments; \
  }
QUERY(cusolverDnDpotrf_bufferSize,
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, double* A, int lda, int* elements),
      (handle, uplo, n, A, lda, elements))
QUERY(cusolverDnDgetrf_bufferSize, (cusolverDnHandle_t handle, int m, int n, double* A, int lda, int* elements),
      (handle, m, n, A, lda, elements))
QUERY(cusolverDnDgeqrf_bufferSize, (cusolverDnHandle_t handle, int m, int n, double* A, int lda, int* elements),
      (handle, m, n, A, lda, elements))
FACTORIZATION(cusolverDnDpotrf,
              (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, double* A, int lda, double* workspace,
               int elements, int* info),
              (handle, uplo, n, A, lda, workspace, elements, info))
FACTORIZATION(cusolverDnDgetrf,
              (cusolverDnHandle_t handle, int m, int n, double* A, int lda, double* workspace, int* pivots, int* info),
              (handle, m, n, A, lda, workspace, pivots, info))
FACTORIZATION(cusolverDnDgeqrf,
              (cusolverDnHandle_t handle, int m, int n, double* A, int lda, double* tau, double* workspace,
               int elements, int* info),
              (handle, m, n, A, lda, tau, workspace, elements, info))

}  // extern "C"

namespace {

/// The rows of a panel that is too tall for the kernels of Tessera.
Index too_tall() {
  int multiprocessors = 0, m = 1000;
  require(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  while (device::cuda::leaf_width<double>(m, multiprocessors) > 0) m *= 2;
  return m;
}

/// The error of a factorization of ones on a GPU.
template <typename Factorize>
std::string error_on_gpu(Index m, Index n, Factorize factorize) {
  HostMatrix<double> ones(m, n);
  std::fill_n(ones.data(), ones.ld() * n, 1.0);
  const OnGpu<double> there(ones);
  const Matrix<double> A(there.data(), m, n, ones.ld(), {m, n});
  queries_fail = true;
  factorizations = 0;
  const auto error = error_of([&] {
    factorize(A);
    A.wait();
  });
  queries_fail = false;
  EXPECT_EQ(factorizations, 0) << "without workspace";
  return error;
}

/// Calls the function on a worker of each GPU, and waits for the GPU.
template <typename Function>
void on_each_gpu(Function function) {
  starpu_execute_on_each_worker(
      [](void* argument) {
        (*static_cast<Function*>(argument))();
        EXPECT_EQ(cudaStreamSynchronize(device::cuda::local_stream()), cudaSuccess);
      },
      &function, STARPU_CUDA);
}

/// The largest leading dimension, in memory of which nearly nothing is used.
TEST(LargestLeadingDimension, OfADiagonal) {
  constexpr int ld = std::numeric_limits<int>::max();
  constexpr std::size_t last = ld + std::size_t{1};
  void* memory = nullptr;
  if (cudaMallocManaged(&memory, (last + 1 + 2) * sizeof(float)) != cudaSuccess) {
    cudaGetLastError();
    GTEST_SKIP() << "too little memory";
  }
  const std::unique_ptr<void, cudaError_t (*)(void*)> owned(memory, cudaFree);
  auto* const A = static_cast<float*>(memory);
  float* const copy = A + last + 1;
  A[0] = 1, A[last] = 2;
  const device::Tile<const float> tile{A, 2, 2, ld};
  const auto search = [&](auto first) {
    int found = -1;
    on_each_gpu([&] {
      auto* const pinned = static_cast<int*>(device::cuda::local_results());
      require(first(device::cuda::local_stream(), tile.n, tile.data, tile.ld, pinned));
      require(device::cuda::wait_for(device::cuda::local_stream()));
      found = *pinned;
    });
    return found;
  };
  on_each_gpu([&] { codelets::PanelOnDevice<float>(device::OnDevice{}).copy_diagonal(tile, copy); });
  EXPECT_EQ(std::vector<float>(copy, copy + 2), (std::vector<float>{1, 2}));
  EXPECT_EQ(search(device::cuda::first_zero<float>), 2) << "none";
  EXPECT_EQ(search(device::cuda::first_not_positive<float>), 2) << "none";
  A[last] = -1;
  EXPECT_EQ(search(device::cuda::first_zero<float>), 2) << "none";
  EXPECT_EQ(search(device::cuda::first_not_positive<float>), 1);
  A[last] = 0;
  EXPECT_EQ(search(device::cuda::first_zero<float>), 1);
}

TEST(WorkspaceQueries, FailInPotrf) {
  EXPECT_THAT(error_on_gpu(64, 64, [](const auto& A) { potrf(Uplo::Lower, A); }), testing::HasSubstr("potrf on a GPU"));
}

TEST(WorkspaceQueries, FailInGetrf) {
  EXPECT_THAT(error_on_gpu(too_tall(), 4, [](const auto& A) { getrf(A); }), testing::HasSubstr("getrf on a GPU"));
}

TEST(WorkspaceQueries, FailInGetrfNopiv) {
  EXPECT_THAT(error_on_gpu(64, 64, [](const auto& A) { getrf_nopiv(A); }), testing::HasSubstr("getrf_nopiv on a GPU"));
}

TEST(WorkspaceQueries, FailInGeqrf) {
  for (const Index m : {64, 64 * 64}) {  // also one for Cholesky QR
    EXPECT_NE(error_on_gpu(m, 64, [](const auto& A) { geqrf(A); }), "") << m;
  }
}

}  // namespace
}  // namespace tessera::test::cuda_solver_cpp

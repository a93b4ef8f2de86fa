// SPDX-License-Identifier: BSD-3-Clause
// Real GPU memory as an operand. device_operands.cpp checks the same with a stand-in for CUDA's driver.
#include "common/device_memory.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tessera/tessera.h>
#include <tessera/keep.hpp>
#include <tessera/lapack.hpp>

#include "devices/gpu.hpp"
#include "support/on_gpu.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"

namespace tessera::test::device_memory_cpp {
namespace {

const auto* const runtime = share_runtime();

namespace device_memory = common::device_memory;

constexpr Index n = 64;
constexpr std::size_t bytes = n * n * sizeof(double), page = 4096;

/// Memory that CUDA has allocated, and its deleter.
struct Memory {
  std::string name;
  bool of_gpu_alone;
  double* data = nullptr;
  std::function<void(void*)> free;
};

std::vector<Memory> all_kinds() {
  std::vector<Memory> all{{"cudaMalloc", true, nullptr, cudaFree},
                          {"cudaMallocAsync", true, nullptr, [](void* data) { cudaFreeAsync(data, nullptr); }},
                          {"cudaMallocManaged", false, nullptr, cudaFree},
                          {"cudaMallocHost", false, nullptr, cudaFreeHost}};
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&all[0].data), bytes), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&all[1].data), bytes, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&all[2].data), bytes), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&all[3].data), bytes), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return all;
}

TEST(DeviceMemory, IsRecognized) {
  ASSERT_TRUE(device_memory::may_exist());
  for (const auto& memory : all_kinds()) {
    for (const double* data : {memory.data, memory.data + n * n - 1})
      EXPECT_EQ(device_memory::gpu_of(data).has_value(), memory.of_gpu_alone) << memory.name;
    if (memory.name == "cudaMalloc") {
      EXPECT_EQ(device_memory::bytes_from(memory.data + 3, bytes), bytes - 3 * sizeof(double));
    }
    memory.free(memory.data);
  }
}

TEST(DeviceMemory, IsNotWhatTheHostHas) {
  const std::vector<double> heap(n * n);
  const double stack = 0;
  EXPECT_TRUE(device_memory::may_exist());
  EXPECT_FALSE(device_memory::gpu_of(heap.data()));
  EXPECT_FALSE(device_memory::gpu_of(&stack));
}

// Prints the cost of a look-up. It is not checked, since other programs may be running.
TEST(DeviceMemory, IsLookedUp) {
  const std::vector<double> heap(n * n);
  constexpr int count = 100000;
  int found = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; i++) found += device_memory::gpu_of(heap.data() + i % (n * n)) ? 1 : 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(found, 0);
  std::printf("a look-up takes %.3f microseconds\n", 1e6 * seconds.count() / count);
}

// Without a tile size, the calling thread computes gemm, unless another thread does so.
class ProductsOnGpu : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, ProductsOnGpu, each_routine(), its_name);

TEST_P(ProductsOnGpu, AreExact) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options<T>(routine, [&](const Options& options) {
      for (const auto& size : {Extent{5, 3, 4}, Extent{130, 70, 90}})
        expect_right_on_copies<OnGpu>(routine, options, size, 7);
    });
  });
}

TEST_P(ProductsOnGpu, AreExactInSeveralThreads) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 0; seed < 3; seed++)
      threads.emplace_back([&, seed] {
        for (std::uint64_t i = 0; i < 10; i++)
          expect_right_on_copies<OnGpu>(routine, Options{}, {300, 200, 100}, 10 * seed + i);
      });
  });
}

/// Columns that are so far apart that indices of elements do not fit into 32 bits.
TEST(ColumnsFarApart, AreFound) {
  constexpr Index apart = Index{1} << 27, k = 18;  // the last column begins after 2^31 elements
  constexpr std::size_t pitch = apart * sizeof(float);
  std::size_t free = 0, total = 0;
  require(cudaMemGetInfo(&free, &total));
  if (free < k * pitch + (std::size_t{1} << 30)) GTEST_SKIP() << "too little memory";
  void* memory = nullptr;
  if (cudaMalloc(&memory, (k - 1) * pitch + n * sizeof(float)) != cudaSuccess) {
    cudaGetLastError();
    GTEST_SKIP() << "too little memory";
  }
  const std::unique_ptr<void, cudaError_t (*)(void*)> owned(memory, cudaFree);
  auto* const wide = static_cast<float*>(memory);
  HostMatrix<float> A(n, k), ones(k, n), C(n, n);
  for (Index j = 0; j < k; j++)
    for (Index i = 0; i < n; i++) A.data()[i + j * A.ld()] = static_cast<float>(i % 7 + j);
  std::fill_n(ones.data(), ones.ld() * n, 1.0F);
  const OnGpu<float> B(ones), result(C);
  const auto copy = [&](float* to, std::size_t to_pitch, const float* from, std::size_t from_pitch) {
    require(cudaMemcpy2D(to, to_pitch, from, from_pitch, n * sizeof(float), k, cudaMemcpyDefault));
  };
  copy(wide, pitch, A.data(), static_cast<std::size_t>(A.ld()) * sizeof(float));
  gemm(Op::NoTrans, Op::NoTrans, n, n, k, 1.0F, wide, apart, B.data(), ones.ld(), 0.0F, result.data(), C.ld());
  result.bring_back(C);
  for (Index i = 0; i < n; i++)
    ASSERT_EQ(C.data()[i + (n - 1) * C.ld()], static_cast<float>(k * (i % 7) + k * (k - 1) / 2)) << i;
}

/// Pinned columns that are further apart than CUDA's 2D copies allow.
TEST(ColumnsFarApart, AreCopied) {
  constexpr Index apart = (Index{1} << 28) + 8, k = 2;
  double* pinned = nullptr;
  if (cudaMallocHost(reinterpret_cast<void**>(&pinned), (apart + n) * sizeof(double)) != cudaSuccess) {
    cudaGetLastError();
    GTEST_SKIP() << "too little memory";
  }
  const std::unique_ptr<void, cudaError_t (*)(void*)> owned(pinned, cudaFreeHost);
  HostMatrix<double> ones(n, n);
  std::fill_n(ones.data(), n * n, 1.0);
  for (Index j = 0; j < k; j++)
    for (Index i = 0; i < n; i++) pinned[i + j * apart] = static_cast<double>(i + 100 * j);
  const OnGpu<double> B(ones);  // its GPU computes, and copies the pinned operand to itself and back
  const Matrix<double> wide(pinned, n, k, apart, {n, k}), b(B.data(), k, k, n, {k, k});
  trmm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1.0, b, wide);
  wide.wait();
  for (Index i = 0; i < n; i++) {
    ASSERT_EQ(pinned[i], static_cast<double>(i));
    ASSERT_EQ(pinned[i + apart], static_cast<double>(2 * i + 100));
  }
}

/// While it exists, the beginning and the end of a matrix are pinned, each by itself.
class PinnedInParts {
 public:
  /// @param gap  bytes between the two, which are not pinned: whole pages
  PinnedInParts(HostMatrix<double>& A, std::size_t gap)
      : first_(A.data(), bytes_of(A) - rest(A)), last_(end(A) - rest(A) + gap, rest(A) - gap) {}

 private:
  static std::size_t bytes_of(const HostMatrix<double>& A) {
    return static_cast<std::size_t>(A.ld() * A.n()) * sizeof(double);
  }
  static std::byte* end(HostMatrix<double>& A) { return reinterpret_cast<std::byte*>(A.data()) + bytes_of(A); }
  /// Bytes from about the middle, where a page begins.
  static std::size_t rest(HostMatrix<double>& A) {
    return bytes_of(A) / 2 / page * page + reinterpret_cast<std::uintptr_t>(end(A)) % page;
  }

  device::gpu::PinnedMemory first_, last_;
};

TEST(MatrixPinnedInParts, IsAnOperand) {
  constexpr Index order = 400;
  auto A = integer_matrix<double>(1, order, order);
  HostMatrix<double> C(order, order), right(order, order);
  const auto update = [&](HostMatrix<double>& to) {
    syrk(Uplo::Lower, Op::NoTrans, order, order, 1.0, A.data(), A.ld(), 0.0, to.data(), to.ld());
  };
  update(right);
  for (const std::size_t gap : {std::size_t{0}, 20 * page}) {
    const PinnedInParts a(A, gap), c(C, gap);
    update(C);
    EXPECT_TRUE(C == right) << gap;
  }
}

/// Its columns are larger than a staging buffer.
TEST(MatrixPinnedInParts, MayBeTall) {
  constexpr Index tall = 300'000, k = 4;
  auto A = integer_matrix<double>(2, tall, k);
  const auto before = A;
  const PinnedInParts pinned(A, page);
  HostMatrix<double> ones(k, k);
  std::fill_n(ones.data(), k * k, 1.0);
  const OnGpu<double> B(ones);
  const Matrix<double> a(A.data(), tall, k, A.ld(), {tall, k}), b(B.data(), k, k, k, {k, k});
  trmm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1.0, b, a);
  a.wait();
  for (Index i = 0; i < tall; i++)
    ASSERT_EQ(A(i, k - 1), before(i, 0) + before(i, 1) + before(i, 2) + before(i, 3)) << i;
}

/// A column has changed of which only the beginning is pinned.
TEST(MatrixPinnedInParts, MayBeKept) {
  auto A = integer_matrix<double>(3, n, n), B = integer_matrix<double>(4, n, n);
  HostMatrix<double> C(n, n), right(n, n);
  const auto multiply = [&](HostMatrix<double>& to) {
    gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, to.data(), n);
  };
  keep(A.data(), n, n, n);
  multiply(C);
  {
    const device::gpu::PinnedMemory pinned(A.data(), bytes / 2 + bytes / n / 2);
    for (Index i = 0; i < n; i++) A(i, n / 2) += 1;
    changed(&A(0, n / 2), n, 1, n);
    multiply(C);
  }
  forget(A.data());
  multiply(right);
  EXPECT_TRUE(C == right);
}

/// A function of the stand-in for CUDA; see support/stand_in_cuda.
using Count = int (*)(const char* what);

/// Columns of GPU memory that a call copies to the host and back.
TEST(ColumnsFarApart, AreCopiedTogether) {
  const auto count = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, "stand_in_count"));
  if (count == nullptr) GTEST_SKIP() << "needs the stand-in for CUDA";
  constexpr Index order = 600, apart = 17000;
  HostMatrix<double> A(order, order, apart - order);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) A(i, j) = i == j ? 2 : 0;
  const OnGpu<double> on_gpu(A);
  const int before = count("copies");
  EXPECT_EQ(trtri(Uplo::Lower, Diag::NonUnit, order, on_gpu.data(), apart), 0);
  EXPECT_LT(count("copies") - before, 20);
  on_gpu.bring_back(A);
  EXPECT_EQ(A(order - 1, order - 1), 0.5);
}

TEST(Streams, AreWaitedFor) {
  struct Destroy {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  cudaStream_t created = nullptr;
  require(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
  const std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream(created);
  HostMatrix<double> zeros(n, n), ones(n, n), C(n, n);
  std::fill_n(zeros.data(), n * n, 0.0);
  std::fill_n(ones.data(), n * n, 1.0);
  for (const bool in_c : {false, true}) {
    const OnGpu<double> A(zeros), B(ones), result(zeros);
    require(cudaLaunchHostFunc(
        stream.get(), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }, nullptr));
    require(cudaMemcpyAsync(A.data(), B.data(), bytes, cudaMemcpyDeviceToDevice, stream.get()));
    if (in_c) EXPECT_EQ(tessera_after(stream.get()), TESSERA_SUCCESS);
    else after(stream.get());
    gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, result.data(), n);
    result.bring_back(C);
    EXPECT_EQ(C.data()[0], n);
  }
}

}  // namespace
}  // namespace tessera::test::device_memory_cpp

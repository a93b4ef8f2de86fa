// SPDX-License-Identifier: BSD-3-Clause
// Pinned memory. Without a GPU nothing is pinned, but wrong calls are refused as on a machine with a GPU.
#include <gmock/gmock.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include <tessera/tessera.h>
#include <tessera/blas.hpp>
#include <tessera/error.hpp>
#include <tessera/pinned.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"
#include "support/runtime.hpp"

namespace tessera::test::pinned_cpp {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

const auto* const runtime = share_runtime();

TEST(PinnedBuffer, IsPinnedExactlyIfThereIsAGpu) {
  const PinnedBuffer<double> buffer(1000);
  EXPECT_EQ(buffer.pinned(), device::gpu::can_pin());
  EXPECT_EQ(buffer.pinned(), device::gpu::is_pinned(buffer.data()) && device::gpu::is_pinned(buffer.end() - 1));
  if (gpu_count() > 0) {
    EXPECT_TRUE(buffer.pinned());
  }
}

TEST(PinnedBuffer, HoldsOperands) {
  constexpr Index n = 40;
  PinnedBuffer<double> A(n * n), B(n * n), C(n * n);
  EXPECT_THAT(std::vector<double>(A.begin(), A.end()), Each(0.0));
  for (Index i = 0; i < n; i++) A[i + i * n] = 2, B[i + i * n] = static_cast<double>(i);
  gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n);
  for (Index i = 0; i < n; i++) EXPECT_EQ(C[i + i * n], 2.0 * static_cast<double>(i));
  EXPECT_EQ(C[1], 0.0);
}

TEST(PinnedBuffer, Moves) {
  PinnedBuffer<float> a(10), b;
  EXPECT_EQ(b.data(), nullptr);
  const float* const memory = a.data();
  b = std::move(a);
  const PinnedBuffer<float> c(std::move(b));
  EXPECT_EQ(c.data(), memory);
  EXPECT_EQ(c.size(), 10);
  EXPECT_EQ(PinnedBuffer<float>(0).data(), nullptr);
}

TEST(PinnedBuffer, RefusesWhatNoMemoryHas) {
  EXPECT_THROW(PinnedBuffer<double>(-1), ArgumentError);
  EXPECT_THROW(PinnedBuffer<double>(std::numeric_limits<Index>::max()), RuntimeError);
  EXPECT_THROW(PinnedBuffer<float>(Index{1} << 50), RuntimeError);
}

/// Memory that is registered again after its destructor has unregistered it.
TEST(PinnedBuffer, UnregistersItsMemory) {
  for (int i = 0; i < 3; i++) {
    const PinnedBuffer<double> buffer(1 << 16);
    EXPECT_THROW(host_register(buffer.data(), 8), ArgumentError);
  }
}

TEST(HostRegister, PinsUntilItIsUnregistered) {
  std::vector<double> memory(1 << 18);
  const auto bytes = memory.size() * sizeof(double);
  EXPECT_EQ(host_register(memory.data(), bytes), device::gpu::can_pin());
  EXPECT_EQ(device::gpu::is_pinned(memory.data()), device::gpu::can_pin());
  host_unregister(memory.data());
  EXPECT_FALSE(device::gpu::is_pinned(memory.data()));
  EXPECT_EQ(host_register(memory.data(), bytes), device::gpu::can_pin());
  host_unregister(memory.data());
}

TEST(HostRegister, PinsPartsSeparately) {
  constexpr std::size_t page = 4096;
  struct Pages {
    alignas(page) std::byte first[page], second[page];
  };
  const auto pages = std::make_unique<Pages>();
  for (auto* part : {pages->first, pages->second}) host_register(part, page);
  for (auto* part : {pages->first, pages->second})
    EXPECT_EQ(device::gpu::is_pinned(part, page), device::gpu::can_pin());
  EXPECT_FALSE(device::gpu::is_pinned(pages.get(), 2 * page));
  for (auto* part : {pages->first, pages->second}) host_unregister(part);
}

TEST(HostRegister, RefusesWrongCalls) {
  std::vector<char> memory(100);
  EXPECT_THROW(host_register(nullptr, 1), ArgumentError);
  EXPECT_THROW(host_register(memory.data(), 0), ArgumentError);
  EXPECT_THROW(host_register(memory.data(), std::numeric_limits<std::size_t>::max()), ArgumentError);
  EXPECT_THROW(host_unregister(memory.data()), ArgumentError);
  host_register(&memory[20], 30);
  EXPECT_THROW(host_register(&memory[20], 30), ArgumentError);
  EXPECT_THROW(host_register(memory.data(), 21), ArgumentError);
  EXPECT_THROW(host_register(&memory[49], 1), ArgumentError);
  EXPECT_THROW(host_unregister(&memory[21]), ArgumentError);
  host_unregister(&memory[20]);
}

TEST(HostRegister, InC) {
  std::vector<double> memory(1 << 16);
  EXPECT_EQ(tessera_host_register(nullptr, 8), -1);
  EXPECT_EQ(tessera_host_register(memory.data(), -8), -2);
  EXPECT_STREQ(tessera_last_error(), "tessera_host_register: argument 2 (bytes) is -8, must be at least 1");
  EXPECT_EQ(tessera_host_unregister(memory.data()), -1);
  EXPECT_THAT(tessera_last_error(),
              HasSubstr("tessera_host_unregister: argument 1 (data) is not the start of registered memory"));
  ASSERT_EQ(tessera_host_register(memory.data(), 8 << 16), TESSERA_SUCCESS);
  EXPECT_EQ(device::gpu::is_pinned(memory.data()), device::gpu::can_pin());
  EXPECT_EQ(tessera_host_unregister(memory.data()), TESSERA_SUCCESS);
}

}  // namespace
}  // namespace tessera::test::pinned_cpp

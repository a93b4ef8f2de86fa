// SPDX-License-Identifier: BSD-3-Clause
// Real GPU memory as an operand. device_operands.cpp checks the same with a stand-in for CUDA's driver.
#include "common/device_memory.hpp"

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <tessera/lapack.hpp>

#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"

namespace tessera::test::device_memory_cpp {
namespace {

const auto* const runtime = share_runtime();

namespace device_memory = detail::device_memory;

constexpr Index n = 64;
constexpr std::size_t bytes = n * n * sizeof(double);

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
      EXPECT_EQ(device_memory::bytes_from(memory.data + 3), bytes - 3 * sizeof(double));
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

}  // namespace
}  // namespace tessera::test::device_memory_cpp

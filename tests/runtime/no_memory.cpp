// SPDX-License-Identifier: BSD-3-Clause
// Memory runs out while a Runtime starts. The exception leaves no StarPU running.
#include <starpu.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include <tessera/runtime.hpp>

namespace {

/// The number of allocations of this thread that succeed after StarPU has started; the next one fails. Negative: none
/// fails.
thread_local int allocations_left = -1;
thread_local bool failed = false;

void* allocate(std::size_t size) {
  if (allocations_left >= 0 && starpu_is_initialized() != 0 && allocations_left-- == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace tessera::test {
namespace {

/// Whether a Runtime starts if only this many allocations succeed after StarPU has started.
bool starts_with(int allocations) {
  RuntimeOptions options;
  options.policy = "eager";  // StarPU's own policy: it makes no C++ allocations while StarPU starts
  failed = false;
  allocations_left = allocations;
  try {
    const Runtime runtime(options);
    allocations_left = -1;
  } catch (const std::bad_alloc&) {
  }
  return !failed;
}

TEST(RuntimeWithoutMemory, StopsTheStarpuThatItHasStarted) {
  for (int allocations = 0; !starts_with(allocations); allocations++) ASSERT_EQ(starpu_is_initialized(), 0);
  EXPECT_EQ(starpu_is_initialized(), 0);
}

TEST(RuntimeWithoutMemory, LeavesTheStarpuThatItHasJoined) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1;
  conf.ncuda = 0;
  conf.catch_signals = 0;
  ASSERT_EQ(starpu_init(&conf), 0);
  int allocations = 0;
  while (!starts_with(allocations)) allocations++;
  EXPECT_GT(allocations, 0);
  starpu_shutdown();
  EXPECT_EQ(starpu_is_initialized(), 0) << "somebody else still holds it";
}

}  // namespace
}  // namespace tessera::test

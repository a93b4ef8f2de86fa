// SPDX-License-Identifier: BSD-3-Clause
// A process with a limit on threads: a Runtime that does not get enough of them is refused, and leaves nothing behind.
// A thread with little stack starts StarPU in another thread.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <starpu.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "common/roomy_stack.hpp"

namespace {

std::atomic<int> threads_left = 1000;  ///< number of threads that this process may still create
std::atomic<int> deep = 0;             ///< number of threads that threads with 2 MiB of stack left have created

}  // namespace

/// Replaces the C library's function for all libraries of this process, to impose a limit that also holds for root.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (tessera::common::has_stack(2 << 20)) deep++;
  return threads_left-- > 0 ? create(thread, attributes, function, argument) : EAGAIN;
}

namespace tessera::test {
namespace {

void multiply() {
  const std::vector<double> A(100, 1), B(100, 1);
  std::vector<double> C(100);
  gemm<double>(Op::NoTrans, Op::NoTrans, 10, 10, 10, 1, A.data(), 10, B.data(), 10, 0, C.data(), 10);
  EXPECT_EQ(C[7], 10);
}

template <typename Run>
void in_little_stack(Run run) {
  pthread_attr_t little;
  pthread_attr_init(&little);
  ASSERT_EQ(pthread_attr_setstacksize(&little, 512 << 10), 0);
  const auto call = [](void* argument) -> void* {
    (*static_cast<Run*>(argument))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &little, call, &run), 0);
  pthread_attr_destroy(&little);
  pthread_join(thread, nullptr);
}

TEST(RuntimeInLittleStack, IsStartedByAThreadWithMore) {
  in_little_stack([] {
    RuntimeOptions options;
    options.gpus = options.cpus = 0;
    EXPECT_THROW(const Runtime impossible(options), ArgumentError);
    options.cpus = 1;
    deep = 0;
    const Runtime runtime(options);
    EXPECT_GT(deep, 0) << "threads with little stack create StarPU's";
    deep = 0;
    const Runtime same(options);
    EXPECT_EQ(deep, 0);
  });
}

TEST(RuntimeWithoutThreads, IsRefused) {
  for (const int few : {0, 1}) {
    threads_left = few;
    try {
      multiply();
      ADD_FAILURE() << "starts two workers with " << few << " threads";
    } catch (const RuntimeError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("StarPU cannot start: it needs "));
    }
    EXPECT_EQ(starpu_is_initialized(), 0);
  }
  threads_left = 1000;
  multiply();
}

}  // namespace
}  // namespace tessera::test

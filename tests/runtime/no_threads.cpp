// SPDX-License-Identifier: BSD-3-Clause
// A process with a limit on threads: a Runtime that does not get enough of them is refused, and leaves nothing behind.
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

namespace {

std::atomic<int> threads_left = 1000;  ///< number of threads that this process may still create

}  // namespace

/// Replaces the C library's function for all libraries of this process, to impose a limit that also holds for root.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
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

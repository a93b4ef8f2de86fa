// SPDX-License-Identifier: BSD-3-Clause
// Programs whose own xerbla exits through a C++ exception or longjmp. Both pass through the drop-in's functions to the
// program's own frames, and all later results are right.
#include <sys/mman.h>
#include <sys/resource.h>

#include <csetjmp>
#include <thread>

#include "products.hpp"

namespace {

struct Illegal {
  int position;
};
std::jmp_buf place;
bool jumps = false;

}  // namespace

extern "C" {
void xerbla_(const char*, const int* position, std::size_t) {
  if (jumps) std::longjmp(place, *position);
  throw Illegal{*position};
}
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void dgemm_64_(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*, const double*,
               const double*, const std::int64_t*, const double*, const std::int64_t*, const double*, double*,
               const std::int64_t*) __attribute__((weak));
void dgemmt_(const char*, const char*, const char*, const int*, const int*, const double*, const double*, const int*,
             const double*, const int*, const double*, double*, const int*) __attribute__((weak));
}

namespace tessera::test {
namespace {

const double factor = 1;
double C[4];

void by_fortran() {
  const int two = 2, wrong = -1;
  dgemm_("N", "N", &two, &wrong, &two, &factor, C, &two, C, &two, &factor, C, &two);
}
void by_cblas() { cblas_dgemm(102, 111, 111, 2, -1, 2, 1, C, 2, C, 2, 1, C, 2); }
void by_64_bits() {
  const std::int64_t two = 2, wrong = -1;
  dgemm_64_("N", "N", &two, &wrong, &two, &factor, C, &two, C, &two, &factor, C, &two);
}
void by_64_bits_that_are_needed() {
  const std::int64_t two = 2, wrong = -(std::int64_t{1} << 33);
  dgemm_64_("N", "N", &two, &wrong, &two, &factor, C, &two, C, &two, &factor, C, &two);
}
/// OpenBLAS may not have gemmt.
void by_gemmt() {
  const int two = 2, wrong = -1;
  dgemmt_("L", "N", "N", &wrong, &two, &factor, C, &two, C, &two, &factor, C, &two);
}

/// The position in the exception that `call` throws; 0 if it throws none.
int caught(void (*call)()) {
  try {
    call();
    return 0;
  } catch (const Illegal& illegal) {
    return illegal.position;
  }
}

void expect_all_caught() {
  for (const auto call : {by_fortran, by_cblas, by_64_bits, by_64_bits_that_are_needed, by_gemmt})
    require(caught(call) == 4, "the position");
}

const Scenario throwing{"xerbla throws", [] {
                          expect_all_caught();
                          require(product_is_right(150), "a product");
                          for (int i = 0; i < 1000; i++) expect_all_caught();
                          std::thread other([] {
                            expect_all_caught();
                            require(product_is_right(150), "another thread's product");
                          });
                          other.join();
                          require(solution_is_right(150), "a solution");
                          return 5;
                        }};

TEST(ThrowingXerbla, ReachesTheCaller) {
  const auto ended = throwing.run();
  EXPECT_TRUE(has_ended_silently(ended, 5));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

/// The leading dimension is too large for a host BLAS with 32-bit integers, and there is no memory for a copy.
const Scenario out_of_memory{"no memory for a copy", [] {
                               const std::int64_t n = 60000, apart = std::int64_t{1} << 31, columns = 40;
                               const double zero = 0;
                               void* const memory = mmap(nullptr, 8 * apart * columns, PROT_READ | PROT_WRITE,
                                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
                               require(memory != MAP_FAILED, "mmap");
                               auto* const A = static_cast<double*>(memory);
                               A[0] = 7;
                               require(product_is_right(10), "a product");
                               std::ifstream status("/proc/self/statm");
                               rlim_t pages = 0;
                               status >> pages;
                               const rlimit limit{4096 * pages + (1 << 20), RLIM_INFINITY};
                               require(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
                               try {
                                 dgemm_64_("N", "N", &n, &columns, &columns, &factor, C, &n, C, &n, &zero, A, &apart);
                                 return 1;
                               } catch (const Illegal& illegal) {
                                 require(illegal.position == 13, "the position");
                               }
                               require(A[0] == 7, "what was not computed has been changed");
                               return 5;
                             }};

TEST(LongColumns, AreRefusedIfThereIsNoMemory) {
  // A thread of OpenBLAS that found no memory for its buffer would retry forever, and the exit would wait for it.
  const auto ended = out_of_memory.run({{"TESSERA_DEVICES", "0"}, {"OPENBLAS_NUM_THREADS", "1"}});
  EXPECT_TRUE(has_ended_silently(ended, 5));
}

/// The position that xerbla passes through longjmp; 0 if there is none.
int landed(void (*call)()) {
  const int position = setjmp(place);
  if (position == 0) call();
  return position;
}

const Scenario jumping{
    "xerbla jumps", [] {
      jumps = true;
      for (const auto call : {by_fortran, by_cblas, by_64_bits, by_64_bits_that_are_needed, by_gemmt}) {
        require(landed(call) == 4, "the position");
        require(product_is_right(150), "a product");
      }
      return 5;
    }};

TEST(JumpingXerbla, ReachesTheCaller) {
  const auto ended = jumping.run();
  EXPECT_TRUE(has_ended_silently(ended, 5));
  EXPECT_EQ(ended.calls("devices"), 5) << ended;
}

}  // namespace
}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
// A program that is not linked with a BLAS, but opens one and closes it again. No thread of Tessera is left running.
#include <dlfcn.h>
#include <sys/mman.h>

#include <thread>

#include "scenario.hpp"

namespace tessera::test::dlclose_cpp {
namespace {

using Gemm = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*);

/// Multiplies a matrix of ones by a matrix of twos, and checks the result.
bool product_is_right(Gemm* dgemm, int n) {
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::vector<double> A(count, 1), B(count, 2);
  std::vector<double> C(count, 3);
  const double one = 1;
  dgemm("N", "N", &n, &n, &n, &one, A.data(), &n, B.data(), &n, &one, C.data(), &n);
  return std::ranges::all_of(C, [&](double c) { return c == 2 * n + 3; });
}

void* open_it() {
  void* const library = dlopen(std::getenv("TESSERA_TEST_DROPIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::puts(dlerror());
  require(library != nullptr, "dlopen");
  return library;
}

void open_compute_close(int n) {
  void* const library = open_it();
  auto* const dgemm = reinterpret_cast<Gemm*>(dlsym(library, "dgemm_"));
  require(dgemm != nullptr, "dgemm_");
  require(product_is_right(dgemm, n), "the product");
  require(dlclose(library) == 0, "dlclose");
}

const Variables not_preloaded{{"LD_PRELOAD", {}}, {"OPENBLAS_NUM_THREADS", "1"}};

const Scenario again{"open, compute, close, three times", [] {
                       const auto before = thread_names();
                       for (int i = 0; i < 3; i++) {
                         open_compute_close(150);
                         require_same(before, thread_names(), "threads are left behind");
                         require(dlopen(std::getenv("TESSERA_TEST_DROPIN"), RTLD_NOW | RTLD_NOLOAD) == nullptr,
                                 "the library is still there");
                       }
                       return 5;
                     }};

TEST(Dlclose, LeavesNoThreads) {
  const auto ended = again.run(not_preloaded);
  EXPECT_TRUE(has_ended_silently(ended, 5));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

const Scenario untouched{"open and close", [] {
                           const auto before = thread_names();
                           for (int i = 0; i < 3; i++) require(dlclose(open_it()) == 0, "dlclose");
                           require_same(before, thread_names(), "threads are left behind");
                           return 0;
                         }};

TEST(Dlclose, WithoutACall) { EXPECT_TRUE(has_ended_silently(untouched.run(not_preloaded))); }

const Scenario more{"open, compute, close, with OpenBLAS's threads", [] {
                      open_compute_close(150);
                      const auto once = thread_names();
                      open_compute_close(400);
                      require_same(once, thread_names(), "threads are left behind");
                      return 0;
                    }};

/// dlclose keeps OpenBLAS loaded, together with its threads.
TEST(Dlclose, LeavesOpenBlasAlone) {
  EXPECT_TRUE(has_ended_silently(more.run({{"LD_PRELOAD", {}}, {"OPENBLAS_NUM_THREADS", "3"}})));
}

const Scenario in_thread{"open, compute, close in threads that end", [] {
                           const auto before = thread_names();
                           for (int i = 0; i < 3; i++) std::thread(open_compute_close, 150).join();
                           require_same(before, thread_names(), "threads are left behind");
                           return 0;
                         }};

TEST(Dlclose, InAnotherThread) {
  const auto ended = in_thread.run(not_preloaded);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

const Scenario kept{"open, compute, exit", [] {
                      auto* const dgemm = reinterpret_cast<Gemm*>(dlsym(open_it(), "dgemm_"));
                      require(product_is_right(dgemm, 150), "the product");
                      return 6;
                    }};

TEST(Dlclose, NeedNotBeCalled) {
  const auto ended = kept.run(not_preloaded);
  EXPECT_TRUE(has_ended_silently(ended, 6));
  EXPECT_EQ(ended.calls("devices"), 1) << ended;
}

/// A forked child must not try to stop devices, since it does not have their threads.
const Scenario forked{"dlclose in a forked child", [] {
                        void* const library = open_it();
                        auto* const dgemm = reinterpret_cast<Gemm*>(dlsym(library, "dgemm_"));
                        require(product_is_right(dgemm, 150), "the product before");
                        const pid_t child = fork();
                        if (child == 0) {
                          require(product_is_right(dgemm, 150), "the child's product");
                          require(dlclose(library) == 0, "dlclose in the child");
                          std::exit(8);
                        }
                        require(status_of(child) == 8, "the child's status");
                        require(product_is_right(dgemm, 150), "the product after");
                        require(dlclose(library) == 0, "dlclose");
                        require(fork() == 0 || wait(nullptr) > 0, "fork after it");
                        return 0;
                      }};

TEST(Dlclose, InAForkedChild) {
  const auto ended = forked.run(not_preloaded);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
  EXPECT_EQ(ended.calls("host"), 1) << ended;
}

/// Two memory nodes of CPU workers, unless there are GPUs.
Variables keeping() {
  Variables all = not_preloaded;
  all["TESSERA_KEEP"] = "1";
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS") != nullptr) return all;
  all["HWLOC_SYNTHETIC"] = "numa:2 core:1 pu:1", all["HWLOC_THISSYSTEM"] = all["STARPU_USE_NUMA"] = "1";
  all["STARPU_WORKERS_NOBIND"] = "1", all["STARPU_WORKERS_GETBIND"] = "0", all["STARPU_HOSTNAME"] = "tessera-test-numa";
  return all;
}

/// Whether this process has an open userfaultfd, by which operands are watched.
bool watches() {
  std::error_code error;  // of the file that lists the folder
  return std::ranges::any_of(std::filesystem::directory_iterator("/proc/self/fd"), [&](const auto& file) {
    return std::filesystem::read_symlink(file.path(), error).string().find("userfaultfd") != std::string::npos;
  });
}

/// Computes with kept operands, which are written, unmapped, and written by a forked child.
/// @param n  large enough for operands to be kept
void compute_kept(Gemm* dgemm, int n) {
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n), bytes = count * sizeof(double);
  const auto map = [&] {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(memory != MAP_FAILED, "mmap");
    return static_cast<double*>(memory);
  };
  double *const A = map(), *B = map(), *const C = map();
  const auto is_right = [&](double a, double b) {
    const double one = 1, zero = 0;
    dgemm("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
    return std::all_of(C, C + count, [&](double c) { return c == n * a * b; });
  };
  std::fill_n(A, count, 1), std::fill_n(B, count, 2);
  for (int call = 0; call < 4; call++) require(is_right(1, 2), "a product of kept operands");
  const pid_t child = fork();
  if (child == 0) {
    std::fill_n(A, count, 3);
    _exit(is_right(3, 2) ? 0 : 1);
  }
  require(status_of(child) == 0, "the child's product");
  require(is_right(1, 2), "the product after a fork");
  std::fill_n(A, count, 4);
  require(is_right(4, 2), "the product of a changed operand");
  munmap(B, bytes);
  B = map();
  require(is_right(4, 0), "the product of an operand that is mapped anew");
  munmap(C, bytes);
}

const Scenario keeps{"open, compute with kept operands, close", [] {
                       void* const library = open_it();
                       auto* const dgemm = reinterpret_cast<Gemm*>(dlsym(library, "dgemm_"));
                       compute_kept(dgemm, 256);
                       const bool watched = watches();
                       require(dlclose(library) == 0, "dlclose");
                       require(!watches(), "memory is still watched");
                       return watched ? 5 : 6;
                     }};
const Scenario keeps_to_the_end{"exit with kept operands", [] {
                                  compute_kept(reinterpret_cast<Gemm*>(dlsym(open_it(), "dgemm_")), 256);
                                  return watches() ? 5 : 6;
                                }};

TEST(Dlclose, ForgetsKeptOperands) {
  for (const auto* scenario : {&keeps, &keeps_to_the_end}) {
    const auto ended = scenario->run(keeping());
    if (ended.said("devices").find("TESSERA_KEEP is off") != std::string::npos) GTEST_SKIP() << ended.said("devices");
    EXPECT_TRUE(has_ended(ended, 5));
    EXPECT_EQ(ended.calls("devices"), 7) << ended;
  }
}

}  // namespace
}  // namespace tessera::test::dlclose_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Programs that can create no more threads, that may map little memory, in a sandbox, whose files must not grow, or
// whose standard error is a closed pipe. They compute and end as without the drop-in.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "products.hpp"

namespace {

std::atomic<bool> threads_can_be_made = true;

}  // namespace

/// Replaces the C library's function in all libraries of this process, to limit the number of threads: system limits do
/// not apply to root.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  return threads_can_be_made ? create(thread, attributes, function, argument) : EAGAIN;
}

namespace tessera::test {
namespace {

const Scenario no_threads{"no thread can be made", [] {
                            threads_can_be_made = false;
                            require(product_is_right(150), "a product");
                            require(solution_is_right(150), "a solution");
                            return 5;
                          }};

TEST(NoThreads, LeaveAllToTheHost) {
  for (const char* threads_of_openblas : {"1", "2"}) {
    const auto ended = no_threads.run({{"OPENBLAS_NUM_THREADS", threads_of_openblas}});
    EXPECT_TRUE(has_ended(ended, 5));
    EXPECT_TRUE(says(ended, "threads"));
    EXPECT_EQ(ended.calls("host"), 2) << ended;
  }
}

const Scenario no_more_threads{"no thread can be made any more", [] {
                                 require(product_is_right(150), "a product");
                                 threads_can_be_made = false;
                                 require(product_is_right(2100), "a product with a large backup");
                                 require(solution_is_right(150), "a solution");
                                 return 5;
                               }};

TEST(NoThreads, AreNeededOnceTheDevicesHaveStarted) {
  const auto ended = no_more_threads.run({{"OPENBLAS_NUM_THREADS", "1"}, {"TESSERA_TILE", "512"}});
  EXPECT_TRUE(has_ended_silently(ended, 5));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
}

/// Limits what the process may map to what it has mapped, and `more` bytes.
/// @param mapped  the line of /proc/self/status that the limit counts
void limit_memory(int limit, const std::string& mapped, rlim_t more) {
  rlim_t kibibytes = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; kibibytes == 0 && status >> word;)
    if (word == mapped) status >> kibibytes;
  require(kibibytes > 0, "/proc/self/status");
  const rlimit now{kibibytes * 1024 + more, RLIM_INFINITY};
  require(setrlimit(static_cast<__rlimit_resource>(limit), &now) == 0, "setrlimit");
}

/// The limits are enough for the host BLAS, but not for the devices and OpenBLAS's buffers in their workers. The host
/// BLAS has not been called yet, and needs a buffer, too.
const Scenario little_memory[] = {{"little memory may be written",
                                   [] {
                                     limit_memory(RLIMIT_DATA, "VmData:", 150 << 20);
                                     require(product_is_right(150), "a product");
                                     require(solution_is_right(150), "a solution");
                                     return 5;
                                   }},
                                  {"little address space", [] {
                                     limit_memory(RLIMIT_AS, "VmSize:", 270 << 20);
                                     require(product_is_right(150), "a product");
                                     require(solution_is_right(150), "a solution");
                                     return 5;
                                   }}};

TEST(LittleMemory, LeavesAllToTheHost) {
  for (const auto& limited : little_memory) {
    const auto ended = limited.run({{"OPENBLAS_NUM_THREADS", "1"}, {"TESSERA_CPUS", "2"}}, 60);
    EXPECT_TRUE(has_ended(ended, 5));
    EXPECT_TRUE(says(ended, "address space"));
    EXPECT_EQ(ended.calls("host"), 2) << ended;
  }
}

/// Lets a system call of this process fail with EPERM, as a sandbox does.
void forbid(unsigned call) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{static_cast<unsigned short>(std::size(rules)), rules};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
  require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "seccomp");
}

const Scenario sandbox{"threads may not be bound to cores", [] {
                         forbid(SYS_sched_setaffinity);
                         require(product_is_right(150), "a product");
                         require(solution_is_right(150), "a solution");
                         return 5;
                       }};

TEST(Sandbox, MayForbidToBindThreads) {
  const auto ended = sandbox.run();
  EXPECT_TRUE(has_ended_silently(ended, 5));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
}

const Scenario no_growth{"files may not grow", [] {
                           const rlimit none{0, 0};
                           require(setrlimit(RLIMIT_FSIZE, &none) == 0, "setrlimit");
                           require(product_is_right(50), "a product");
                           return 5;
                         }};

TEST(FilesThatMayNotGrow, MayBeTheLog) {
  const auto ended = no_growth.run({{"TESSERA_DEVICES", "0"}});
  EXPECT_TRUE(has_ended_silently(ended, 5)) << "standard error is a file, too";
  EXPECT_TRUE(ended.log.empty());
}

const Scenario unread{"nobody reads standard error", [] {
                        int ends[2];
                        require(pipe(ends) == 0, "pipe");
                        require(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO, "dup2");
                        close(ends[0]), close(ends[1]);
                        require(product_is_right(50), "a product");
                        sigset_t blocked;
                        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                        require(sigismember(&blocked, SIGPIPE) == 0, "SIGPIPE is blocked");
                        return 5;
                      }};

TEST(StandardErrorThatNobodyReads, EndsNoProgram) {
  EXPECT_TRUE(has_ended_silently(unread.run({{"TESSERA_DEVICES", "nonsense"}}), 5));
}

}  // namespace
}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
// Operands that are kept because the kernel says that they have not changed. A program that writes by every means that
// needs no special rights, and random programs: no result may be wrong.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tessera/tessera.hpp>

#include "memory/written_pages.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/matrices.hpp"
#include "support/process.hpp"
#include "tile/kept.hpp"

namespace tessera::test::watched_cpp {
namespace {

constexpr Index n = 192;  // large enough to be kept
constexpr std::size_t page = 4096, room = n * n * sizeof(double), pages = room / page;

std::optional<Runtime> runtime;
std::string why_not;  ///< operands are not watched

class Running : public ::testing::Environment {
  void SetUp() override {
    RuntimeOptions options;
    options.tile = 64;
    runtime.emplace(options);
    why_not = detail::kept::start_watching(*detail::session(), 0);
  }
  void TearDown() override { runtime.reset(); }
};
const auto* const running = ::testing::AddGlobalTestEnvironment(new Running);

bool counts() { return gpu_count() > 0; }

/// Memory of its own pages.
class Mapped {
 public:
  explicit Mapped(std::size_t bytes = room) : bytes_(bytes), data_(map(nullptr, bytes, 0)) {
    std::memset(data_, 0, bytes);
  }
  ~Mapped() { munmap(data_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  static void* map(void* where, std::size_t bytes, int flags) {
    void* const data = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    EXPECT_NE(data, MAP_FAILED);
    return data;
  }
  double* data() const { return static_cast<double*>(data_); }
  char* at(std::size_t byte) const { return static_cast<char*>(data_) + byte; }
  double& operator()(Index i, Index j) const { return data()[i + j * n]; }

 private:
  std::size_t bytes_;
  void* data_;
};

void fill(double* A, std::uint64_t seed, Index largest = 2) {
  Random random(seed);
  for (Index i = 0; i < n * n; i++) A[i] = static_cast<double>(random.integer(-largest, largest));
}

/// The product of integers, which is exact, by the host.
[[gnu::optimize("O3")]] std::vector<double> product(const double* A, const double* B) {
  std::vector<double> result(static_cast<std::size_t>(n * n));
  double* const C = result.data();
  for (Index j = 0; j < n; j++)
    for (Index k = 0; k < n; k++)
      for (Index i = 0; i < n; i++) C[i + j * n] += A[i + k * n] * B[k + j * n];
  return result;
}

/// C ← A B, as the drop-in calls it.
void multiply(const double* A, const double* B, double* C) {
  detail::kept::watches_operands = true;
  gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A, n, B, n, 0, C, n);
  detail::kept::watches_operands = false;
}

void multiply_right(const double* A, const double* B, double* C, const std::string& what) {
  const auto expected = product(A, B);
  multiply(A, B, C);
  for (Index i = 0; i < n * n; i++)
    ASSERT_EQ(C[i], expected[static_cast<std::size_t>(i)]) << what << ", element " << i % n << ", " << i / n;
}

/// The bytes that the next product copies to devices.
std::uint64_t copied(const double* A, const double* B, double* C) {
  reset_statistics();
  multiply_right(A, B, C, "unchanged");
  return statistics().bytes_h2d;
}

class Watched : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
  Mapped A_, B_, C_;
};

TEST_F(Watched, UnchangedOperandsAreCopiedNoMore) {
  fill(A_.data(), 1), fill(B_.data(), 2);
  for (int call = 0; call < 3; call++) multiply_right(A_.data(), B_.data(), C_.data(), "first calls");
  if (!counts()) return;
  EXPECT_EQ(copied(A_.data(), B_.data(), C_.data()), 0u);
  A_(n - 1, 0) += 1;
  const auto again = copied(A_.data(), B_.data(), C_.data());
  EXPECT_GT(again, 0u);
  EXPECT_LE(again, 2 * room / 3) << "the tiles of one page";
  EXPECT_EQ(copied(A_.data(), B_.data(), C_.data()), 0u);
}

TEST_F(Watched, ResultsAreInputsWithoutACopy) {
  for (Index j = 0; j < n; j++) A_((j + 1) % n, j) = 1;
  fill(B_.data(), 2);
  std::uint64_t bytes = 0;
  for (int call = 0; call < 8; call++) {
    const auto &X = call % 2 == 0 ? B_ : C_, &Y = call % 2 == 0 ? C_ : B_;
    bytes = copied(A_.data(), X.data(), Y.data());
  }
  if (counts()) {
    EXPECT_LE(bytes, room / 2) << "what another device has computed";
  }
}

/// A way to write memory.
struct Means {
  const char* name;
  std::function<void(Mapped& A)> write;
};

constexpr double value = 3;

void through_file(Mapped& A, std::size_t at, int flags) {
  char name[] = "/tmp/tessera-watched-XXXXXX";
  const int made = mkstemp(name);
  const Mapped content(page);
  for (std::size_t i = 0; i < page / sizeof(double); i++) content.data()[i] = value;
  ASSERT_EQ(write(made, content.data(), page), static_cast<ssize_t>(page));
  close(made);
  const int file = open(name, O_RDONLY | flags);
  if (file >= 0) {
    EXPECT_EQ(read(file, A.at(at), page), static_cast<ssize_t>(page));
    close(file);
  }
  unlink(name);
}

void replace(Mapped& A, std::size_t bytes) {
  const Mapped copy(bytes);
  std::memcpy(copy.data(), A.data(), bytes);
  munmap(A.data(), bytes);
  Mapped::map(A.data(), bytes, MAP_FIXED);
  std::memcpy(A.data(), copy.data(), bytes);
  A(0, 0) += value;
}

const Means means[] = {
    {"a store", [](Mapped& A) { A(5, 7) += value; }},
    {"stores to all pages",
     [](Mapped& A) {
       for (std::size_t i = 0; i < pages; i++) *reinterpret_cast<double*>(A.at(i * page)) += value;
     }},
    {"the last element", [](Mapped& A) { A(n - 1, n - 1) += value; }},
    {"another thread", [](Mapped& A) { std::thread([&] { A(9, 100) -= value; }).join(); }},
    {"read", [](Mapped& A) { through_file(A, 3 * page, 0); }},
    {"read with O_DIRECT", [](Mapped& A) { through_file(A, 5 * page, O_DIRECT); }},
    {"recv",
     [](Mapped& A) {
       int ends[2];
       ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
       const double sent[] = {value, -value};
       ASSERT_EQ(send(ends[0], sent, sizeof sent, 0), static_cast<ssize_t>(sizeof sent));
       ASSERT_EQ(recv(ends[1], &A(4, 20), sizeof sent, MSG_WAITALL), static_cast<ssize_t>(sizeof sent));
       close(ends[0]), close(ends[1]);
     }},
    {"process_vm_writev",
     [](Mapped& A) {
       double sent = value;
       const iovec from{&sent, sizeof sent}, to{&A(17, 30), sizeof sent};
       EXPECT_EQ(process_vm_writev(getpid(), &from, 1, &to, 1, 0), static_cast<ssize_t>(sizeof sent));
     }},
    {"/proc/self/mem, as debuggers do",
     [](Mapped& A) {
       const int memory = open("/proc/self/mem", O_RDWR);
       if (memory < 0) return;
       const double sent = -value;
       EXPECT_EQ(pwrite(memory, &sent, sizeof sent, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(&A(1, 99)))),
                 static_cast<ssize_t>(sizeof sent));
       close(memory);
     }},
    {"a child, then this process",
     [](Mapped& A) {
       const pid_t child = fork();
       if (child == 0) {
         A(0, 0) = 77;
         _exit(0);
       }
       wait_for(child);
       A(0, 1) += value;
     }},
    {"a child that lives on",
     [](Mapped& A) {
       int ends[2];
       ASSERT_EQ(pipe(ends), 0);
       const pid_t child = fork();
       if (child == 0) {
         char word;
         close(ends[1]);
         _exit(static_cast<int>(read(ends[0], &word, 1)));
       }
       A(n / 2, n / 2) += value;
       close(ends[0]), close(ends[1]);
       wait_for(child);
     }},
    {"MADV_DONTNEED", [](Mapped& A) { madvise(A.at(7 * page), 2 * page, MADV_DONTNEED); }},
    {"MADV_FREE",
     [](Mapped& A) {
       madvise(A.at(8 * page), page, MADV_FREE);
       std::memset(A.at(8 * page), 0, page);
     }},
    {"a new mapping of a page", [](Mapped& A) { Mapped::map(A.at(11 * page), page, MAP_FIXED); }},
    {"a new mapping of all", [](Mapped& A) { replace(A, room); }},
    {"a new mapping that nobody has touched", [](Mapped& A) { Mapped::map(A.data(), room, MAP_FIXED); }},
    {"other memory moved there",
     [](Mapped& A) {
       void* const other = Mapped::map(nullptr, room, 0);
       fill(static_cast<double*>(other), 99);
       EXPECT_EQ(mremap(other, room, room, MREMAP_MAYMOVE | MREMAP_FIXED, A.data()), A.data());
     }},
    {"two of its pages exchanged",
     [](Mapped& A) {
       char* const other = static_cast<char*>(Mapped::map(nullptr, page, 0));
       mremap(A.at(2 * page), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other);
       mremap(A.at(40 * page), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, A.at(2 * page));
       mremap(other, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, A.at(40 * page));
     }},
    {"memory that was read-only meanwhile",
     [](Mapped& A) {
       mprotect(A.data(), room, PROT_READ);
       mprotect(A.data(), room, PROT_READ | PROT_WRITE);
       A(3, 3) += value;
     }},
    {"pages that may be merged",
     [](Mapped& A) {
       madvise(A.data(), room, MADV_MERGEABLE);
       A(3, 5) += value;
       madvise(A.data(), room, MADV_UNMERGEABLE);
     }},
    {"pages that were reclaimed",
     [](Mapped& A) {
       madvise(A.data(), room, 21);  // MADV_PAGEOUT
       A(8, 8) += value;
     }},
    {"pages that were collapsed",
     [](Mapped& A) {
       madvise(A.data(), room, MADV_HUGEPAGE);
       madvise(A.data(), room, 25);  // MADV_COLLAPSE
       A(9, 8) += value;
       madvise(A.data(), room, 25);
     }},
    {"shared memory in its place, and a write through an alias",
     [](Mapped& A) {
       const int file = static_cast<int>(syscall(SYS_memfd_create, "alias", 0U));
       ASSERT_EQ(ftruncate(file, static_cast<off_t>(room)), 0);
       auto* const alias = static_cast<double*>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
       std::memcpy(alias, A.data(), room);
       mmap(A.data(), room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
       alias[0] += value;
       munmap(alias, room);
       close(file);
     }},
};

TEST_F(Watched, WritesByAnyMeansAreSeen) {
  fill(B_.data(), 5);
  for (const auto& [name, write] : means) {
    SCOPED_TRACE(name);
    Mapped A;
    fill(A.data(), 4);
    for (int call = 0; call < 4; call++) multiply_right(A.data(), B_.data(), C_.data(), "before");
    for (int repeat = 0; repeat < 2; repeat++) {
      write(A);
      if (HasFatalFailure()) return;
      multiply_right(A.data(), B_.data(), C_.data(), "after");
      multiply_right(A.data(), B_.data(), C_.data(), "once more");
      if (HasFatalFailure()) return;
    }
  }
}

/// A result that is written before the next call reads it, by the same means.
TEST_F(Watched, WritesToResultsAreSeen) {
  fill(A_.data(), 6, 1);
  for (const auto& [name, write] : means) {
    SCOPED_TRACE(name);
    Mapped X, Y;
    for (int call = 0; call < 6; call++) {
      fill(B_.data(), static_cast<std::uint64_t>(call), 1);
      multiply_right(A_.data(), B_.data(), X.data(), "a result");
      if (call > 3) write(X);
      multiply_right(A_.data(), X.data(), Y.data(), "from a result");
      if (HasFatalFailure()) return;
    }
  }
}

/// Memory through an alias from the start is never kept.
TEST_F(Watched, SharedMemoryIsNotKept) {
  const int file = static_cast<int>(syscall(SYS_memfd_create, "alias", 0U));
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(room)), 0);
  auto* const A = static_cast<double*>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  auto* const alias = static_cast<double*>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  fill(A, 1), fill(B_.data(), 2);
  for (int call = 0; call < 6; call++) {
    multiply_right(A, B_.data(), C_.data(), "alias");
    alias[call] += value;
  }
  munmap(A, room), munmap(alias, room);
  close(file);
}

/// io_uring may write memory whose pages it holds, without the page tables.
TEST_F(Watched, NothingIsKeptWhilePagesArePinned) {
  fill(A_.data(), 1), fill(B_.data(), 2);
  for (int call = 0; call < 4; call++) multiply_right(A_.data(), B_.data(), C_.data(), "before");
  std::array<char, 256> parameters{};
  const int ring = static_cast<int>(syscall(425, 4, parameters.data()));  // io_uring_setup
  if (ring < 0) GTEST_SKIP() << "no io_uring";
  const iovec buffer{A_.data(), room};
  if (syscall(427, ring, 0, &buffer, 1) != 0) {  // io_uring_register
    close(ring);
    GTEST_SKIP() << "no buffers of io_uring";
  }
  for (int call = 0; call < 4; call++) {
    const auto bytes = copied(A_.data(), B_.data(), C_.data());
    if (counts()) {
      EXPECT_GE(bytes, 2 * room);
    }
  }
  close(ring);
}

/// Another thread writes on the last page of a result, which is the first of an input, while the result is computed.
TEST_F(Watched, WritesBesideAResultAreSeen) {
  constexpr std::size_t stride = room + 24 * sizeof(double);  // not whole pages
  const Mapped all(3 * stride);
  double *const C = reinterpret_cast<double*>(all.at(stride)), *const D = reinterpret_cast<double*>(all.at(2 * stride));
  fill(A_.data(), 1), fill(B_.data(), 2), fill(D, 3);
  for (int call = 0; call < 4; call++) {
    multiply_right(A_.data(), B_.data(), C, "result");
    multiply_right(A_.data(), C, B_.data(), "the result is an input");
    multiply_right(D, A_.data(), C_.data(), "beside it");
    fill(B_.data(), 2);
  }
  for (int round = 0; round < 40; round++) {
    const auto expected = product(A_.data(), B_.data());
    std::thread beside([&] {  // at another moment in each round
      const auto begin = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(25 * round)) continue;
      D[0] = round;
    });
    multiply(A_.data(), B_.data(), C);
    beside.join();
    ASSERT_EQ(std::memcmp(C, expected.data(), room), 0) << round;
    multiply_right(D, A_.data(), C_.data(), "beside it");
  }
}

/// Threads with operands of their own on common pages.
TEST_F(Watched, ThreadsComputeTheSame) {
  constexpr std::size_t stride = room + 24 * sizeof(double);
  const Mapped all(6 * stride);
  const auto matrix = [&](std::size_t i) { return reinterpret_cast<double*>(all.at(i * stride)); };
  for (std::size_t i = 0; i < 6; i++) fill(matrix(i), i);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 2; thread++)
    threads.emplace_back([&, thread] {
      double *const A = matrix(thread), *const B = matrix(2 + thread), *const C = matrix(4 + thread);
      for (int call = 0; call < 20; call++) {
        multiply_right(A, B, C, "thread " + std::to_string(thread));
        if (call % 4 == 3) A[0] += 1, B[n * n - 1] -= 1;
        else if (call % 4 == 1) multiply_right(C, A, B, "thread"), fill(B, static_cast<std::uint64_t>(call), 1);
      }
    });
  for (auto& thread : threads) thread.join();
}

/// Random steps on four matrices in one mapping, so that they share pages: products of any two, writes by any means.
TEST_F(Watched, RandomProgramsComputeTheSame) {
  const char* const given = std::getenv("TESSERA_TEST_SECONDS");
  const std::chrono::duration<double> lasts(given != nullptr ? std::atof(given) : 1);
  const char* const first = std::getenv("TESSERA_TEST_SEED");
  const auto seed = static_cast<std::uint64_t>(first != nullptr ? std::atoll(first) : 1);
  Random random(seed);
  constexpr std::size_t gap = 24 * sizeof(double), stride = room + gap;  // not whole pages
  const Mapped all(4 * stride);
  const auto matrix = [&](Index i) { return reinterpret_cast<double*>(all.at(static_cast<std::size_t>(i) * stride)); };
  for (Index i = 0; i < 4; i++) fill(matrix(i), seed + static_cast<std::uint64_t>(i), 1);
  const auto begin = std::chrono::steady_clock::now();
  for (Index step = 0; std::chrono::steady_clock::now() - begin < lasts; step++) {
    for (Index i = 0; i < 4; i++)  // results stay exact
      if (std::abs(*std::max_element(matrix(i), matrix(i) + n * n,
                                     [](double x, double y) { return std::abs(x) < std::abs(y); })) > 1e6)
        fill(matrix(i), static_cast<std::uint64_t>(step), 1);
    const Index a = random.integer(0, 3), b = random.integer(0, 3);
    Index c = random.integer(0, 3);
    while (c == a || c == b) c = random.integer(0, 3);
    const Index repeats = random.integer(1, 3);
    for (Index repeat = 0; repeat < repeats; repeat++) {
      multiply_right(matrix(a), matrix(b), matrix(c),
                     "seed " + std::to_string(seed) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
    }
    const Index written = random.integer(0, 3), place = random.integer(0, n * n - 1);
    switch (random.integer(0, 7)) {
    case 0: matrix(written)[place] = value; break;
    case 1: std::thread([&] { matrix(written)[place] = -value; }).join(); break;
    case 2: {
      const auto from = reinterpret_cast<std::uintptr_t>(matrix(written) + place) / page * page;
      Mapped::map(reinterpret_cast<void*>(from), page, MAP_FIXED);  // zeros
      break;
    }
    case 3: {
      double sent = value;
      const iovec one{&sent, sizeof sent}, there{matrix(written) + place, sizeof sent};
      process_vm_writev(getpid(), &one, 1, &there, 1, 0);
      break;
    }
    case 4: {  // by the host
      const auto result = product(matrix(a), matrix(b));
      std::memcpy(matrix(c), result.data(), room);
      break;
    }
    default: break;
    }
  }
}

}  // namespace
}  // namespace tessera::test::watched_cpp

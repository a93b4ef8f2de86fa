// SPDX-License-Identifier: BSD-3-Clause
// Operands that are kept because the kernel says that they have not changed. A program that writes by every means that
// needs no special rights, and random programs: no result may be wrong.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tessera/tessera.hpp>

#include "machine/gpu.hpp"
#include "memory/written_pages.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/matrices.hpp"
#include "support/process.hpp"
#include "tile/kept.hpp"

namespace tessera::test::watched_cpp {
namespace {

constexpr Index n = 192;  // large enough to be kept
constexpr std::size_t page = 4096, room = n * n * sizeof(double);
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr Index order_of_huge = 512;  ///< a matrix of the size of a huge page

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

/// Memory of its own pages, which are huge if it is large enough.
class Mapped {
 public:
  explicit Mapped(std::size_t bytes = room) : bytes_(bytes) {
    if (bytes < huge_page) {
      data_ = map(nullptr, bytes, 0);
    } else {
      auto* const whole = static_cast<char*>(map(nullptr, bytes + huge_page, 0));
      const auto skipped = huge_page - reinterpret_cast<std::uintptr_t>(whole) % huge_page;
      data_ = whole + skipped;
      munmap(whole, skipped);
      if (skipped < huge_page) munmap(at(bytes), huge_page - skipped);
      madvise(data_, bytes, MADV_HUGEPAGE);
    }
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
  /// As realloc does.
  void move() {
    void* const other = map(nullptr, bytes_, 0);
    if (mremap(data_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other) {
      data_ = other;
    } else {  // it consists of several mappings, some of which may have moved
      munmap(other, bytes_);
      map(data_, bytes_, MAP_FIXED);
    }
  }
  std::size_t bytes() const { return bytes_; }
  double* data() const { return static_cast<double*>(data_); }
  char* at(std::size_t byte) const { return static_cast<char*>(data_) + byte; }
  double& operator()(Index i, Index j) const { return data()[i + j * n]; }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

void fill(double* A, std::uint64_t seed, Index largest = 2, Index elements = n * n) {
  Random random(seed);
  for (Index i = 0; i < elements; i++) A[i] = static_cast<double>(random.integer(-largest, largest));
}

struct Sizes {
  Index rows = n, columns = n, terms = n;
};

/// The product of integers, which is exact, by the host.
[[gnu::optimize("O3")]] std::vector<double> product(const double* A, const double* B, const Sizes& of = {}) {
  std::vector<double> result(static_cast<std::size_t>(of.rows * of.columns));
  double* const C = result.data();
  for (Index j = 0; j < of.columns; j++)
    for (Index k = 0; k < of.terms; k++)
      for (Index i = 0; i < of.rows; i++) C[i + j * of.rows] += A[i + k * of.rows] * B[k + j * of.terms];
  return result;
}

/// C ← A B, as the drop-in calls it.
void multiply(const double* A, const double* B, double* C, const Sizes& of = {}) {
  detail::kept::watches_operands = true;
  gemm<double>(Op::NoTrans, Op::NoTrans, of.rows, of.columns, of.terms, 1, A, of.rows, B, of.terms, 0, C, of.rows);
  detail::kept::watches_operands = false;
}

void multiply_right(const double* A, const double* B, double* C, const std::string& what, const Sizes& of = {}) {
  const auto expected = product(A, B, of);
  multiply(A, B, C, of);
  for (Index i = 0; i < of.rows * of.columns; i++)
    ASSERT_EQ(C[i], expected[static_cast<std::size_t>(i)])
        << what << ", element " << i % of.rows << ", " << i / of.rows;
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
  EXPECT_LE(again, 2 * room / 3) << "at most the tiles of one page";
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
       for (std::size_t i = 0; i < A.bytes() / page; i++) *reinterpret_cast<double*>(A.at(i * page)) += value;
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
    {"process_vm_writev by another process",
     [](Mapped& A) {
       prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
       const pid_t child = fork();
       if (child == 0) {
         double sent = -value;
         const iovec from{&sent, sizeof sent}, to{&A(18, 31), sizeof sent};
         process_vm_writev(getppid(), &from, 1, &to, 1, 0);  // may not be allowed
         _exit(0);
       }
       wait_for(child);
     }},
    {"readv into two pages",
     [](Mapped& A) {
       int ends[2];
       ASSERT_EQ(pipe(ends), 0);
       const double sent[] = {value, -value};
       ASSERT_EQ(write(ends[1], sent, sizeof sent), static_cast<ssize_t>(sizeof sent));
       const iovec to[] = {{A.at(9 * page), sizeof value}, {A.at(30 * page), sizeof value}};
       ASSERT_EQ(readv(ends[0], to, 2), static_cast<ssize_t>(sizeof sent));
       close(ends[0]), close(ends[1]);
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
    {"ptrace, as debuggers do",
     [](Mapped& A) {
       prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
       double sent = value;
       long word = 0;
       std::memcpy(&word, &sent, sizeof word);
       const pid_t child = fork();
       if (child == 0) {
         const pid_t parent = getppid();
         if (ptrace(PTRACE_SEIZE, parent, nullptr, nullptr) != 0) _exit(0);  // not allowed
         ptrace(PTRACE_INTERRUPT, parent, nullptr, nullptr);
         waitpid(parent, nullptr, __WALL);
         const bool wrote = ptrace(PTRACE_POKEDATA, parent, &A(11, 12), word) == 0;
         ptrace(PTRACE_DETACH, parent, nullptr, nullptr);
         _exit(wrote ? 0 : 1);
       }
       EXPECT_EQ(wait_for(child), 0);
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
    {"MADV_FREE, and the kernel takes the page",
     [](Mapped& A) {
       madvise(A.at(8 * page), page, MADV_FREE);
       madvise(A.at(8 * page), page, 21);            // MADV_PAGEOUT
       const volatile char first = *A.at(8 * page);  // zero, or as before: nothing changes it from now on
       *A.at(8 * page) = first;
     }},
    {"pages that were guarded meanwhile",
     [](Mapped& A) {
       madvise(A.at(4 * page), page, 102);  // MADV_GUARD_INSTALL
       madvise(A.at(4 * page), page, 103);  // MADV_GUARD_REMOVE
     }},
    {"a new mapping of a page", [](Mapped& A) { Mapped::map(A.at(11 * page), page, MAP_FIXED); }},
    {"a new mapping of all", [](Mapped& A) { replace(A, A.bytes()); }},
    {"a new mapping that nobody has touched", [](Mapped& A) { Mapped::map(A.data(), A.bytes(), MAP_FIXED); }},
    {"memory that has moved", [](Mapped& A) { A.move(), A(3, 2) += value; }},
    {"memory whose pages have moved away",
     [](Mapped& A) {
       constexpr int keeps_the_old = 4;  // MREMAP_DONTUNMAP
       void* const other = mremap(A.data(), A.bytes(), A.bytes(), MREMAP_MAYMOVE | keeps_the_old, nullptr);
       if (other != MAP_FAILED) munmap(other, A.bytes());
     }},
    {"memory that has grown and moved away",
     [](Mapped& A) {
       void* const other = mremap(A.data(), A.bytes(), 2 * A.bytes(), MREMAP_MAYMOVE);
       if (other == MAP_FAILED) return;  // it consists of several mappings
       static_cast<double*>(other)[7] += value;
       if (other == A.data()) munmap(A.at(A.bytes()), A.bytes());
       else EXPECT_EQ(mremap(other, 2 * A.bytes(), A.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, A.data()), A.data());
     }},
    {"other memory moved there",
     [](Mapped& A) {
       void* const other = Mapped::map(nullptr, A.bytes(), 0);
       fill(static_cast<double*>(other), 99);
       EXPECT_EQ(mremap(other, A.bytes(), A.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, A.data()), A.data());
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
       mprotect(A.data(), A.bytes(), PROT_READ);
       mprotect(A.data(), A.bytes(), PROT_READ | PROT_WRITE);
       A(3, 3) += value;
     }},
    {"pages that may be merged",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_MERGEABLE);
       A(3, 5) += value;
       madvise(A.data(), A.bytes(), MADV_UNMERGEABLE);
     }},
    {"pages that were reclaimed",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), 21);  // MADV_PAGEOUT
       A(8, 8) += value;
     }},
    {"pages that were collapsed",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_HUGEPAGE);
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
       A(9, 8) += value;
       madvise(A.data(), A.bytes(), 25);
     }},
    {"huge pages that are split, then collapsed",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_HUGEPAGE);
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
       mprotect(A.at(20 * page), page, PROT_READ);
       mprotect(A.at(20 * page), page, PROT_READ | PROT_WRITE);
       *reinterpret_cast<double*>(A.at(21 * page)) += value;
       madvise(A.data(), A.bytes(), 25);
     }},
    {"a page of a huge page that is unmapped",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_HUGEPAGE);
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
       madvise(A.at(22 * page), page, MADV_DONTNEED);
       *reinterpret_cast<double*>(A.at(23 * page)) -= value;
     }},
    {"pages that were collapsed over a write",
     [](Mapped& A) {
       A(2, 8) += value;
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
     }},
    {"pages that were merged with equal ones",
     [](Mapped& A) {
       const Mapped copy(A.bytes());
       std::memcpy(copy.data(), A.data(), A.bytes());
       for (void* const data : {static_cast<void*>(A.data()), static_cast<void*>(copy.data())})
         madvise(data, A.bytes(), MADV_MERGEABLE);
       std::this_thread::sleep_for(std::chrono::milliseconds(5));  // merges if ksmd runs
       A(3, 5) += value;
     }},
    {"pages that another thread writes while they are reclaimed",
     [](Mapped& A) {
       std::thread writes([&] { A(30, 30) -= value; });
       madvise(A.data(), A.bytes(), 20);  // MADV_COLD
       madvise(A.data(), A.bytes(), 21);  // MADV_PAGEOUT
       writes.join();
     }},
    {"shared memory in its place, and a write through an alias",
     [](Mapped& A) {
       const int file = static_cast<int>(syscall(SYS_memfd_create, "alias", 0U));
       ASSERT_EQ(ftruncate(file, static_cast<off_t>(A.bytes())), 0);
       auto* const alias = static_cast<double*>(mmap(nullptr, A.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
       std::memcpy(alias, A.data(), A.bytes());
       mmap(A.data(), A.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
       alias[0] += value;
       munmap(alias, A.bytes());
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

/// The same for a matrix in a huge page, both as an input and as a result.
TEST_F(Watched, WritesToHugePagesAreSeen) {
  constexpr Index thin = 8;
  std::vector<double> low(order_of_huge * thin), high = low, result = low;
  fill(low.data(), 5, 1, order_of_huge * thin);
  const Sizes multiplied{order_of_huge, thin, order_of_huge}, made{order_of_huge, order_of_huge, thin};
  for (const auto& [name, write] : means) {
    SCOPED_TRACE(name);
    Mapped A(huge_page);
    for (int call = 0; call < 7; call++) {
      fill(high.data(), static_cast<std::uint64_t>(call), 1, order_of_huge * thin);
      multiply_right(low.data(), high.data(), A.data(), "a result", made);
      multiply_right(A.data(), low.data(), result.data(), "from a result", multiplied);
      if (HasFatalFailure()) return;
      if (call < 3) continue;
      write(A);
      if (HasFatalFailure()) return;
      for (int repeat = 0; repeat < 1 + call % 2; repeat++)
        multiply_right(A.data(), low.data(), result.data(), "after", multiplied);
      if (call % 2 == 0) write(A);
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

/// Results in small pages are moved to huge ones, because each small page that a call writes costs time.
TEST_F(Watched, ResultsInSmallPagesMoveToHugePages) {
  constexpr Index order = 1024, thin = 8;
  constexpr std::size_t bytes = order * order * sizeof(double);
  const auto pages_of_system = [](const char* file) {
    std::ifstream in(std::string("/sys/kernel/mm/transparent_hugepage/") + file);
    std::string text;
    std::getline(in, text);
    return text;
  };
  if (pages_of_system("enabled").find("[never]") != std::string::npos) GTEST_SKIP() << "no huge pages";
  std::vector<double> low(order * thin), high = low, result = low;
  fill(low.data(), 5, 1, order * thin);
  std::string error;
  const auto pages = detail::WrittenPages::open(error);
  ASSERT_NE(pages, nullptr) << error;
  for (const bool is_refused : {false, true}) {
    // Not aligned, as memory of malloc.
    char* const data = static_cast<char*>(Mapped::map(nullptr, bytes + page, 0));
    if (is_refused) madvise(data, bytes + page, MADV_NOHUGEPAGE);
    auto* const C = reinterpret_cast<double*>(data + 2 * sizeof(double));
    const auto whole = detail::pages_of(C, bytes);
    double reused = 0;
    bool became_huge = false;  // writes to marked pages, by cores that are early, split them again
    constexpr int calls = 12;
    for (int call = 0; call < calls; call++) {
      fill(high.data(), static_cast<std::uint64_t>(call), 1, order * thin);
      multiply_right(low.data(), high.data(), C, "a result", {order, order, thin});
      detail::kept::reused_bytes = 0;
      multiply_right(C, low.data(), result.data(), "from a result", {order, thin, order});
      reused = detail::kept::reused_bytes;
      became_huge = became_huge || pages->are_huge(whole);
      if (HasFatalFailure()) return;
      if (call == calls - 2) C[order] += value;  // while the pages are marked
      if (call == calls - 2) multiply_right(C, low.data(), result.data(), "after a write", {order, thin, order});
    }
    EXPECT_EQ(became_huge, !is_refused);
    if (counts() && !is_refused) {
      EXPECT_GE(reused, static_cast<double>(bytes) / 2);
    }
    munmap(data, bytes + page);
  }
}

/// An input in small pages that many calls use is moved, too, while another thread writes what is beside it.
TEST_F(Watched, InputsInSmallPagesMoveToHugePages) {
  constexpr Index order = 1024, thin = 8;
  constexpr std::size_t bytes = order * order * sizeof(double);
  char* const data = static_cast<char*>(Mapped::map(nullptr, bytes + page, 0));
  auto* const A = reinterpret_cast<double*>(data + 2 * sizeof(double));
  std::vector<double> low(order * thin), result = low;
  fill(low.data(), 5, 1, order * thin), fill(A, 6, 1, order * order);
  for (int call = 0; call < 45; call++) {
    if (call % 20 == 19) A[call * order] += value;
    const auto expected = product(A, low.data(), {order, thin, order});
    std::thread beside([&] { *reinterpret_cast<double*>(data) = call; });
    multiply(A, low.data(), result.data(), {order, thin, order});
    beside.join();
    ASSERT_EQ(result, expected) << call;
  }
  munmap(data, bytes + page);
}

/// Beyond the limit, what was used last stays.
TEST_F(Watched, TheLimitIsKept) {
  ASSERT_EQ(detail::kept::start_watching(*detail::session(), 1.5 * room), "");
  fill(A_.data(), 1), fill(B_.data(), 2);
  for (int call = 0; call < 8; call++) {
    detail::kept::reused_bytes = 0;
    multiply_right(A_.data(), B_.data(), C_.data(), "limited");
    EXPECT_LE(detail::kept::reused_bytes, room);
  }
  for (int call = 0; call < 3; call++) multiply_right(A_.data(), A_.data(), C_.data(), "one");
  if (counts()) {
    EXPECT_EQ(copied(A_.data(), A_.data(), C_.data()), 0u);
  }
  EXPECT_EQ(detail::kept::start_watching(*detail::session(), 0), "");
}

/// A GPU writes a part that the program has pinned.
TEST_F(Watched, PinnedPartsAreSeen) {
  if (!detail::session()->machine().has_cuda()) GTEST_SKIP() << "no CUDA";
  constexpr std::size_t part = 4 * page;
  const gpu::Allocation device(0, part);
  fill(B_.data(), 5);
  for (const bool is_result : {false, true})
    for (const std::size_t bytes : {room, huge_page}) {
      const Mapped A(bytes);
      for (int call = 0; call < 4; call++) {
        if (is_result) multiply_right(B_.data(), B_.data(), A.data(), "a result");
        else fill(A.data(), 4);
        multiply_right(A.data(), B_.data(), C_.data(), "before");
        multiply_right(A.data(), B_.data(), C_.data(), "before, again");
        const gpu::PinnedMemory pinned(A.at(page), part);
        for (int write = 0; write < 3; write++) {
          const std::vector<double> sent(part / sizeof value, value * (call + write));
          gpu::copy_columns(device.data(), part, sent.data(), part, part, 1);
          gpu::copy_columns(A.at(page), part, device.data(), part, part, 1);
          multiply_right(A.data(), B_.data(), C_.data(), "after");
        }
      }
    }
}

/// A GPU writes a part that the program has pinned before the first call.
TEST_F(Watched, PartsPinnedFromTheStartAreSeen) {
  if (!detail::session()->machine().has_cuda()) GTEST_SKIP() << "no CUDA";
  constexpr std::size_t part = 4 * page;
  const gpu::Allocation device(0, part);
  fill(B_.data(), 5);
  for (const std::size_t bytes : {room, huge_page}) {
    const Mapped A(bytes);
    fill(A.data(), 4);
    const gpu::PinnedMemory pinned(A.at(page), part);
    for (int call = 0; call < 4; call++) multiply_right(A.data(), B_.data(), C_.data(), "before");
    for (int write = 1; write < 4; write++) {
      const std::vector<double> sent(part / sizeof value, value * write);
      gpu::copy_columns(device.data(), part, sent.data(), part, part, 1);
      gpu::copy_columns(A.at(page), part, device.data(), part, part, 1);
      multiply_right(A.data(), B_.data(), C_.data(), "after");
    }
  }
}

/// A GPU writes a part that begins and ends within a page.
TEST_F(Watched, PinnedPartsOfAPageAreSeen) {
  if (!detail::session()->machine().has_cuda()) GTEST_SKIP() << "no CUDA";
  constexpr std::size_t part = page / 4;
  const gpu::Allocation device(0, part);
  fill(B_.data(), 5);
  for (const std::size_t at : {5 * page, 5 * page + part, 6 * page - part}) {
    const Mapped A;
    fill(A.data(), 4);
    for (int call = 0; call < 4; call++) multiply_right(A.data(), B_.data(), C_.data(), "before");
    const gpu::PinnedMemory pinned(A.at(at), part);
    for (int write = 0; write < 3; write++) {
      const std::vector<double> sent(part / sizeof value, value * (1 + write));
      gpu::copy_columns(device.data(), part, sent.data(), part, part, 1);
      gpu::copy_columns(A.at(at), part, device.data(), part, part, 1);
      multiply_right(A.data(), B_.data(), C_.data(), "after, at " + std::to_string(at % page));
    }
  }
}

/// An io_uring of one entry, which writes memory whose pages it holds without the page tables, as devices do.
class Ring {
 public:
  Ring() {
    io_uring_params parameters{};
    ring_ = static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
    if (ring_ < 0) return;
    const auto map = [&](std::size_t size, off_t of) {
      void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, of);
      return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
    };
    const auto& sq = parameters.sq_off;
    const auto& cq = parameters.cq_off;
    submissions_ = map(sq.array + parameters.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    completions_ = map(cq.cqes + parameters.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    entry_ = reinterpret_cast<io_uring_sqe*>(map(parameters.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    parameters_ = parameters;
  }
  ~Ring() {
    if (ring_ >= 0) close(ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool exists() const { return submissions_ != nullptr && completions_ != nullptr && entry_ != nullptr; }
  bool hold(const Mapped& A) {
    const iovec buffer{A.data(), A.bytes()};
    return syscall(SYS_io_uring_register, ring_, IORING_REGISTER_BUFFERS, &buffer, 1) == 0;
  }
  void let_go() { syscall(SYS_io_uring_register, ring_, IORING_UNREGISTER_BUFFERS, nullptr, 0); }
  /// Writes numbers to memory that it holds.
  void write(double* to, const std::vector<double>& sent) {
    const int file = static_cast<int>(syscall(SYS_memfd_create, "sent", 0U));
    const auto bytes = sent.size() * sizeof(double);
    ASSERT_EQ(pwrite(file, sent.data(), bytes, 0), static_cast<ssize_t>(bytes));
    *entry_ = {};
    entry_->opcode = IORING_OP_READ_FIXED, entry_->fd = file;
    entry_->addr = reinterpret_cast<std::uintptr_t>(to), entry_->len = static_cast<unsigned>(bytes);
    *number(submissions_, parameters_.sq_off.array) = 0;
    ++*number(submissions_, parameters_.sq_off.tail);
    ASSERT_EQ(syscall(SYS_io_uring_enter, ring_, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0), 1);
    auto& head = *number(completions_, parameters_.cq_off.head);
    const auto* const ended = reinterpret_cast<io_uring_cqe*>(completions_ + parameters_.cq_off.cqes);
    EXPECT_EQ(ended[head & (parameters_.cq_entries - 1)].res, static_cast<int>(bytes));
    head++;
    close(file);
  }

 private:
  static unsigned* number(char* ring, unsigned offset) { return reinterpret_cast<unsigned*>(ring + offset); }

  int ring_ = -1;
  char *submissions_ = nullptr, *completions_ = nullptr;
  io_uring_sqe* entry_ = nullptr;
  io_uring_params parameters_{};
};

/// The pages are taken before a call, or while it computes them as a result or uses them.
TEST_F(Watched, WritesToHeldPagesAreSeen) {
  Ring ring;
  if (!ring.exists()) GTEST_SKIP() << "no io_uring";
  fill(A_.data(), 1, 1), fill(B_.data(), 2, 1);
  const Mapped Y, Z;
  for (int round = 0; round < 24; round++) {
    for (int call = 0; call < 5; call++) {
      multiply_right(A_.data(), B_.data(), Y.data(), "a result");
      multiply_right(Y.data(), B_.data(), Z.data(), "from it");
    }
    bool holds = round % 3 == 0 && ring.hold(Y);
    std::thread beside([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
      if (round % 3 > 0) holds = ring.hold(Y);
    });
    if (round % 3 == 1) multiply(A_.data(), B_.data(), Y.data());
    else multiply(Y.data(), B_.data(), Z.data());
    beside.join();
    if (!holds) GTEST_SKIP() << "no buffers of io_uring";
    for (int write = 0; write < 3; write++) {
      ring.write(&Y(round, 3 * write), std::vector<double>(n, value + write));
      multiply_right(Y.data(), B_.data(), Z.data(), "after a write, round " + std::to_string(round));
      if (HasFatalFailure()) return;
    }
    ring.let_go();
  }
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

/// Random steps on matrices that share pages, matrices with pages of their own, and one in a huge page: products,
/// allocations, and writes by any means, also while a product of other matrices is computed.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    for (Index i = 0; i < together; i++) fill(matrix(i), seed + static_cast<std::uint64_t>(i), 1);
    for (auto& one : alone_) one = std::make_unique<Mapped>();
    huge_ = std::make_unique<Mapped>(huge_page);
    fill(thin_.data(), seed, 1, thin), fill(low_.data(), seed + 1, 1, thin);
  }

  void step(const std::string& name) {
    keep_small(name);
    const Index repeats = random_.integer(1, 3);
    if (const Index kind = random_.integer(0, 9); kind == 0) {
      for (Index repeat = 0; repeat < repeats; repeat++)
        multiply_right(huge_->data(), thin_.data(), result_.data(), name + " from a huge page",
                       {order_of_huge, 8, order_of_huge});
    } else if (kind == 1) {
      multiply_right(thin_.data(), low_.data(), huge_->data(), name + " to a huge page",
                     {order_of_huge, order_of_huge, 8});
    } else {
      const Index a = random_.integer(0, matrices - 1), b = random_.integer(0, matrices - 1), c = other_than(a, b, b),
                  other = other_than(a, b, c);
      for (Index repeat = 0; repeat < repeats; repeat++) {
        std::thread beside;
        if (random_.coin())
          beside =
              std::thread([at = matrix(other) + random_.integer(0, n * n - 1)] { *at = *at > 0 ? -value : value; });
        multiply_right(matrix(a), matrix(b), matrix(c), name);
        if (beside.joinable()) beside.join();
      }
    }
    if (!::testing::Test::HasFatalFailure()) write();
  }

 private:
  static constexpr Index together = 4, matrices = 7, thin = 8 * order_of_huge;
  static constexpr std::size_t stride = room + 24 * sizeof(double);  // not whole pages

  double* matrix(Index i) const {
    if (i >= together) return alone_[static_cast<std::size_t>(i - together)]->data();
    return reinterpret_cast<double*>(all_.at(static_cast<std::size_t>(i) * stride));
  }
  Index other_than(Index a, Index b, Index c) {
    Index other = a;
    while (other == a || other == b || other == c) other = random_.integer(0, matrices - 1);
    return other;
  }
  /// Results stay exact.
  void keep_small(const std::string& name) {
    for (Index i = 0; i < matrices; i++)
      if (std::any_of(matrix(i), matrix(i) + n * n, [](double x) { return std::abs(x) > 1e6; }))
        fill(matrix(i), std::hash<std::string>()(name), 1);
  }
  void write() {
    const Index which = random_.integer(0, matrices), place = random_.integer(0, n * n - 1);
    if (random_.integer(0, 2) == 0) return;
    if (which == matrices) return random_.one_of(means).write(*huge_);
    if (which < together) {
      double* const at = matrix(which) + place;
      double sent = value;
      const iovec one{&sent, sizeof sent}, there{at, sizeof sent};
      switch (random_.integer(0, 3)) {
      case 0: *at = value; break;
      case 1: std::thread([at] { *at = -value; }).join(); break;
      case 2:
        Mapped::map(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page), page, MAP_FIXED);
        break;
      default: process_vm_writev(getpid(), &one, 1, &there, 1, 0);
      }
      return;
    }
    auto& one = alone_[static_cast<std::size_t>(which - together)];
    if (random_.integer(0, 9) > 0) return random_.one_of(means).write(*one);
    one.reset();  // the next one may have the same address
    one = std::make_unique<Mapped>();
    if (random_.coin()) fill(one->data(), static_cast<std::uint64_t>(place), 1);
  }

  Random random_;
  const Mapped all_{together * stride};
  std::array<std::unique_ptr<Mapped>, matrices - together> alone_;
  std::unique_ptr<Mapped> huge_;
  std::vector<double> thin_ = std::vector<double>(thin), low_ = thin_, result_ = thin_;
};

TEST_F(Watched, RandomProgramsComputeTheSame) {
  const char* const given = std::getenv("TESSERA_TEST_SECONDS");
  const std::chrono::duration<double> lasts(given != nullptr ? std::atof(given) : 1);
  const char* const first = std::getenv("TESSERA_TEST_SEED");
  auto seed = static_cast<std::uint64_t>(first != nullptr ? std::atoll(first) : 1);
  constexpr int steps = 500;
  for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < lasts; seed++) {
    RandomProgram program(seed);
    for (int step = 0; step < steps && std::chrono::steady_clock::now() - begin < lasts; step++) {
      program.step("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tessera::test::watched_cpp

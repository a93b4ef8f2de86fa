// SPDX-License-Identifier: BSD-3-Clause
// Operands that are kept because the kernel says that they have not changed, in a program that writes by every means.
#include "watched.hpp"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "devices/gpu.hpp"
#include "memory/written_pages.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::test::watched {

std::string why_not;

namespace {

std::optional<Runtime> runtime;

class Running : public ::testing::Environment {
  void SetUp() override {
    RuntimeOptions options;
    options.tile = 64;
    runtime.emplace(options);
    why_not = tile::kept::start_watching(*runtime::session(), 0);
  }
  void TearDown() override { runtime.reset(); }
};
const auto* const running = ::testing::AddGlobalTestEnvironment(new Running);

bool counts() { return gpu_count() > 0; }

/// The bytes that the next product copies to devices.
std::uint64_t copied(const double* A, const double* B, double* C) {
  reset_statistics();
  multiply_right(A, B, C, "unchanged");
  return statistics().bytes_h2d;
}

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

TEST_F(Watched, WritesByAnyMeansAreSeen) {
  fill(B_.data(), 5);
  for (const auto& [name, write] : all_means()) {
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
  for (const auto& [name, write] : all_means()) {
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
  for (const auto& [name, write] : all_means()) {
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
  const auto pages = memory::WrittenPages::open(error);
  ASSERT_NE(pages, nullptr) << error;
  for (const bool is_refused : {false, true}) {
    // Not aligned, as memory of malloc.
    char* const data = static_cast<char*>(Mapped::map(nullptr, bytes + page, 0));
    if (is_refused) madvise(data, bytes + page, MADV_NOHUGEPAGE);
    auto* const C = reinterpret_cast<double*>(data + 2 * sizeof(double));
    const auto whole = memory::pages_of(C, bytes);
    double reused = 0;
    bool became_huge = false;  // writes to marked pages, by cores that are early, split them again
    constexpr int calls = 12;
    for (int call = 0; call < calls; call++) {
      fill(high.data(), static_cast<std::uint64_t>(call), 1, order * thin);
      multiply_right(low.data(), high.data(), C, "a result", {order, order, thin});
      tile::kept::reused_bytes = 0;
      multiply_right(C, low.data(), result.data(), "from a result", {order, thin, order});
      reused = tile::kept::reused_bytes;
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
  ASSERT_EQ(tile::kept::start_watching(*runtime::session(), 1.5 * room), "");
  fill(A_.data(), 1), fill(B_.data(), 2);
  for (int call = 0; call < 8; call++) {
    tile::kept::reused_bytes = 0;
    multiply_right(A_.data(), B_.data(), C_.data(), "limited");
    EXPECT_LE(tile::kept::reused_bytes, room);
  }
  for (int call = 0; call < 3; call++) multiply_right(A_.data(), A_.data(), C_.data(), "one");
  if (counts()) {
    EXPECT_EQ(copied(A_.data(), A_.data(), C_.data()), 0u);
  }
  EXPECT_EQ(tile::kept::start_watching(*runtime::session(), 0), "");
}

/// A GPU writes a part that the program has pinned.
TEST_F(Watched, PinnedPartsAreSeen) {
  if (!runtime::session()->machine().has_cuda()) GTEST_SKIP() << "no CUDA";
  constexpr std::size_t part = 4 * page;
  const device::gpu::Allocation device(0, part);
  fill(B_.data(), 5);
  for (const bool is_result : {false, true})
    for (const std::size_t bytes : {room, huge_page}) {
      const Mapped A(bytes);
      for (int call = 0; call < 4; call++) {
        if (is_result) multiply_right(B_.data(), B_.data(), A.data(), "a result");
        else fill(A.data(), 4);
        multiply_right(A.data(), B_.data(), C_.data(), "before");
        multiply_right(A.data(), B_.data(), C_.data(), "before, again");
        const device::gpu::PinnedMemory pinned(A.at(page), part);
        for (int write = 0; write < 3; write++) {
          const std::vector<double> sent(part / sizeof value, value * (call + write));
          device::gpu::copy_columns(device.data(), part, sent.data(), part, part, 1);
          device::gpu::copy_columns(A.at(page), part, device.data(), part, part, 1);
          multiply_right(A.data(), B_.data(), C_.data(), "after");
        }
      }
    }
}

/// A GPU writes a part that the program has pinned before the first call.
TEST_F(Watched, PartsPinnedFromTheStartAreSeen) {
  if (!runtime::session()->machine().has_cuda()) GTEST_SKIP() << "no CUDA";
  constexpr std::size_t part = 4 * page;
  const device::gpu::Allocation device(0, part);
  fill(B_.data(), 5);
  for (const std::size_t bytes : {room, huge_page}) {
    const Mapped A(bytes);
    fill(A.data(), 4);
    const device::gpu::PinnedMemory pinned(A.at(page), part);
    for (int call = 0; call < 4; call++) multiply_right(A.data(), B_.data(), C_.data(), "before");
    for (int write = 1; write < 4; write++) {
      const std::vector<double> sent(part / sizeof value, value * write);
      device::gpu::copy_columns(device.data(), part, sent.data(), part, part, 1);
      device::gpu::copy_columns(A.at(page), part, device.data(), part, part, 1);
      multiply_right(A.data(), B_.data(), C_.data(), "after");
    }
  }
}

/// A GPU writes a part that begins and ends within a page.
TEST_F(Watched, PinnedPartsOfAPageAreSeen) {
  if (!runtime::session()->machine().has_cuda()) GTEST_SKIP() << "no CUDA";
  constexpr std::size_t part = page / 4;
  const device::gpu::Allocation device(0, part);
  fill(B_.data(), 5);
  for (const std::size_t at : {5 * page, 5 * page + part, 6 * page - part}) {
    const Mapped A;
    fill(A.data(), 4);
    for (int call = 0; call < 4; call++) multiply_right(A.data(), B_.data(), C_.data(), "before");
    const device::gpu::PinnedMemory pinned(A.at(at), part);
    for (int write = 0; write < 3; write++) {
      const std::vector<double> sent(part / sizeof value, value * (1 + write));
      device::gpu::copy_columns(device.data(), part, sent.data(), part, part, 1);
      device::gpu::copy_columns(A.at(at), part, device.data(), part, part, 1);
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

}  // namespace
}  // namespace tessera::test::watched

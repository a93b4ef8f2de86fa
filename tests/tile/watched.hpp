// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "support/matrices.hpp"
#include "tile/kept.hpp"

/// Shared parts of the tests of operands that are kept because the kernel says that they have not changed.
namespace tessera::test::watched {

inline constexpr Index n = 192;  // large enough to be kept
inline constexpr std::size_t page = 4096, room = n * n * sizeof(double);
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr Index order_of_huge = 512;  ///< a matrix of the size of a huge page

extern std::string why_not;  ///< operands are not watched

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

inline void fill(double* A, std::uint64_t seed, Index largest = 2, Index elements = n * n) {
  Random random(seed);
  for (Index i = 0; i < elements; i++) A[i] = static_cast<double>(random.integer(-largest, largest));
}

struct Sizes {
  Index rows = n, columns = n, terms = n;
};

/// The product of integers, which is exact, by the host.
[[gnu::optimize("O3")]] inline std::vector<double> product(const double* A, const double* B, const Sizes& of = {}) {
  std::vector<double> result(static_cast<std::size_t>(of.rows * of.columns));
  double* const C = result.data();
  for (Index j = 0; j < of.columns; j++)
    for (Index k = 0; k < of.terms; k++)
      for (Index i = 0; i < of.rows; i++) C[i + j * of.rows] += A[i + k * of.rows] * B[k + j * of.terms];
  return result;
}

/// C ← A B, as the drop-in calls it.
inline void multiply(const double* A, const double* B, double* C, const Sizes& of = {}) {
  tile::kept::watches_operands = true;
  gemm<double>(Op::NoTrans, Op::NoTrans, of.rows, of.columns, of.terms, 1, A, of.rows, B, of.terms, 0, C, of.rows);
  tile::kept::watches_operands = false;
}

inline void multiply_right(const double* A, const double* B, double* C, const std::string& what, const Sizes& of = {}) {
  const auto expected = product(A, B, of);
  multiply(A, B, C, of);
  for (Index i = 0; i < of.rows * of.columns; i++)
    ASSERT_EQ(C[i], expected[static_cast<std::size_t>(i)])
        << what << ", element " << i % of.rows << ", " << i / of.rows;
}

class Watched : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
  Mapped A_, B_, C_;
};

/// A way to write memory.
struct Means {
  const char* name;
  std::function<void(Mapped& A)> write;
};
/// All of them that need no special rights.
std::span<const Means> all_means();

/// What they write: this number, its negative, or an element increased or reduced by it.
inline constexpr double value = 3;

}  // namespace tessera::test::watched

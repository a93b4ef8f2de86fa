// SPDX-License-Identifier: BSD-3-Clause
// Everything that overwrites a result announces it first, cores as well as copies: the drop-in saves only what is
// announced.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/lapack.hpp>

#include "common/overwrites.hpp"
#include "support/operands.hpp"

namespace tessera::test::announced_cpp {
namespace {

constexpr Index n = 300;

/// The ranges that were announced.
class Announced {
 public:
  void add(const void* first, const void* last) {
    const std::lock_guard lock(mutex_);
    ranges_.emplace_back(static_cast<const double*>(first), static_cast<const double*>(last));
  }
  common::overwrites::Listener listener() {
    return {[](void* self, const void* first, const void* last) noexcept {
              static_cast<Announced*>(self)->add(first, last);
            },
            this};
  }
  bool contains(const double* x) const {
    return std::ranges::any_of(ranges_, [&](const auto& range) { return range.first <= x && x < range.second; });
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<const double*, const double*>> ranges_;
};

struct Overwrite {
  std::string name;
  std::function<void(const double* A, double* C)> call;
};

const Overwrite overwrites[] = {
    {"gemm",
     [](const double* A, double* C) { gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A, n, A, n, 1, C, n); }},
    {"syrk", [](const double* A, double* C) { syrk<double>(Uplo::Lower, Op::NoTrans, n, n, 1, A, n, 1, C, n); }},
    {"trsm", [](const double* A,
                double* C) { trsm<double>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, n, n, 2, A, n, C, n); }},
    {"potrf", [](const double* /*A*/, double* C) { potrf(Uplo::Lower, n, C, n); }},
    {"getrf_nopiv", [](const double* /*A*/, double* C) { getrf_nopiv<double>(n, n, C, n, nullptr); }},
    {"geqrf",
     [](const double* /*A*/, double* C) {
       std::vector<double> tau(n);
       geqrf(n, n, C, n, tau.data());
     }},
};

TEST(Overwrites, AreAnnouncedFirst) {
  HostMatrix<double> A(n, n);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) A(i, j) = i == j ? 2 * n : 1 + static_cast<double>((i + j) % 3);
  for (const auto& overwrite : overwrites) {
    auto C = A;
    Announced announced;
    const auto listener = announced.listener();
    {
      const common::overwrites::Listening listening(&listener);
      overwrite.call(A.data(), C.data());
    }
    Index changed = 0;
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) {
        if (C(i, j) == A(i, j)) continue;
        changed++;
        ASSERT_TRUE(announced.contains(&C(i, j))) << overwrite.name << ": " << i << ", " << j;
      }
    EXPECT_GE(changed, n * n / 3) << overwrite.name;
  }
}

/// Offsets in a matrix whose columns are far apart do not fit into 32 bits.
TEST(Overwrites, OfFarColumnsAreAnnounced) {
  constexpr Index m = 100, columns = 10, apart = 500000000;
  constexpr auto bytes = static_cast<std::size_t>(apart * columns) * sizeof(double);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no address space";
  auto* const C = static_cast<double*>(memory);
  const std::vector<double> A(m * m, 1), B(m * columns, 1);
  Announced announced;
  {
    const auto listener = announced.listener();
    const common::overwrites::Listening listening(&listener);
    gemm<double>(Op::NoTrans, Op::NoTrans, m, columns, m, 1, A.data(), m, B.data(), m, 1, C, apart);
  }
  for (Index j = 0; j < columns; j++)
    for (Index i = 0; i < m; i++) {
      ASSERT_EQ(C[i + j * apart], m);
      ASSERT_TRUE(announced.contains(C + i + j * apart)) << i << ", " << j;
    }
  munmap(memory, bytes);
}

}  // namespace
}  // namespace tessera::test::announced_cpp

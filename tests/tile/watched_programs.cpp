// SPDX-License-Identifier: BSD-3-Clause
// Kept operands of programs with several threads, and of random programs: no result may be wrong.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <thread>

#include "watched.hpp"

namespace tessera::test::watched {
namespace {

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
    if (which == matrices) return random_.one_of(all_means()).write(*huge_);
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
    if (random_.integer(0, 9) > 0) return random_.one_of(all_means()).write(*one);
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
}  // namespace tessera::test::watched

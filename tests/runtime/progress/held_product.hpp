// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <utility>
#include <vector>

#include <tessera/blas3.hpp>
#include <tessera/matrix.hpp>
#include <tessera/runtime.hpp>

namespace tessera::test {

/// A product of 8 tasks that are submitted, but cannot run before `let_go`. The test thus controls how long the call
/// takes. Needs tiles of order 10.
class HeldProduct {
 public:
  static constexpr Index n = 20;
  static constexpr std::uint64_t tasks = 8;
  static constexpr double flops = 2.0 * n * n * n;

  HeldProduct() {
    hold(STARPU_RW);
    gemm<double>(Op::NoTrans, Op::NoTrans, 1, A_, B_, 1, C_);
  }
  ~HeldProduct() { finish(); }
  HeldProduct(const HeldProduct&) = delete;
  HeldProduct& operator=(const HeldProduct&) = delete;

  void let_go() {
    if (!std::exchange(held_, false)) return;
    for (Index i = 0; i < 2; i++)
      for (Index j = 0; j < 2; j++) starpu_data_release(A_.handle(i, j));
  }
  /// Lets the tasks run and waits for all tasks.
  /// @pre no other product is held
  void finish() {
    let_go();
    wait();
  }

 private:
  void hold(starpu_data_access_mode mode) {
    for (Index i = 0; i < 2; i++)
      for (Index j = 0; j < 2; j++) starpu_data_acquire(A_.handle(i, j), mode);
  }

  std::vector<double> a_ = std::vector<double>(n * n), b_ = a_, c_ = a_;
  Matrix<double> A_{a_.data(), n, n, n}, B_{b_.data(), n, n, n}, C_{c_.data(), n, n, n};
  bool held_ = true;
};

}  // namespace tessera::test

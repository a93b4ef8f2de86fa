// SPDX-License-Identifier: BSD-3-Clause
// A task of a solver fails, as it would on a lost device. Every wait for the result reports the failure, and the next
// call works.
#include <atomic>
#include <functional>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "codelets/codelet.hpp"
#include "common/failure.hpp"
#include "support/dense.hpp"
#include "support/failures_end.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

constexpr Index panel = 16, n = 4 * panel + 3, nrhs = 5;
const auto* const runtime = share_runtime(with_tile(panel));

/// The first task of a codelet fails during its lifetime.
class FailsOnce {
 public:
  explicit FailsOnce(starpu_codelet& codelet) : codelet_(codelet) {
    real = codelet.cpu_funcs[0], failed_ = false;
    codelet.cpu_funcs[0] = [](void* buffers[], void* arguments) {
      if (failed_.exchange(true)) real(buffers, arguments);
      else common::report_failure("the device is lost");
    };
  }
  ~FailsOnce() { codelet_.cpu_funcs[0] = real; }
  FailsOnce(const FailsOnce&) = delete;
  FailsOnce& operator=(const FailsOnce&) = delete;
  static bool has_failed() { return failed_; }

 private:
  inline static starpu_cpu_func_t real = nullptr;
  inline static std::atomic<bool> failed_ = false;
  starpu_codelet& codelet_;
};

/// A positive definite matrix, which suits all solvers.
Dense<double> definite() {
  auto A = random_matrix<double>(n, n, 1);
  for (Index i = 0; i < n; i++) {
    A(i, i) += 2 * n;
    for (Index j = 0; j < i; j++) A(i, j) = A(j, i);
  }
  return A;
}

/// A call on pointers, and the codelets of its tasks.
struct Call {
  const char* name;
  std::function<void()> run;
  std::vector<starpu_codelet*> codelets;
};

class FailingSolvers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() > 0) GTEST_SKIP() << "the tasks that fail here are those of CPUs";
  }
  void TearDown() override {
    EXPECT_NO_THROW(wait()) << "a failure is left";
    EXPECT_TRUE(failures_end());
  }
};

TEST_F(FailingSolvers, OnPointersReportToTheirCaller) {
  const auto lower = Uplo::Lower;
  Dense<double> A(n, n), B(n, nrhs);
  const auto a = [&] { return A.data.data(); };  // each call has separate matrices
  const auto b = [&] { return B.data.data(); };
  std::vector<Index> pivots(n);
  std::vector<double> tau(n);
  const auto factorized = [&] {
    A = definite();
    std::swap_ranges(a(), a() + n, a() + n);  // to make row exchanges necessary
    static_cast<void>(getrf(n, n, a(), n, pivots.data()));
  };
  using namespace codelets;
  const Call calls[] = {
      {"potrf", [&] { potrf(lower, n, a(), n); }, {&codelets::potrf('d'), &trsm('d'), &syrk('d'), &gemm('d')}},
      {"posv", [&] { posv(lower, n, nrhs, a(), n, b(), n); }, {&codelets::potrf('d'), &trsm('d')}},
      {"getrf", [&] { getrf(n, n, a(), n, pivots.data()); }, {&codelets::getrf('d'), &panel_update('d'), &laswp('d')}},
      {"gesv",
       [&] { gesv(n, nrhs, a(), n, pivots.data(), b(), n); },
       {&codelets::getrf('d'), &panel_solve('d'), &laswp('d')}},
      {"getrf_nopiv", [&] { getrf_nopiv(n, n, a(), n); }, {&codelets::getrf_nopiv('d'), &trsm('d'), &gemm('d')}},
      {"trtri", [&] { trtri(lower, Diag::NonUnit, n, a(), n); }, {&codelets::trtri('d')}},
      {"lauum", [&] { lauum(lower, n, a(), n); }, {&codelets::lauum('d')}},
      {"potri", [&] { potri(lower, n, a(), n); }, {&codelets::trtri('d'), &codelets::lauum('d')}},
      {"getri",
       [&] {
         factorized();
         getri(n, a(), n, pivots.data());
       },
       {&panel_multiply('d'), &panel_invert('d'), &split_panel('d'), &swap_columns('d')}},
      {"geqrf", [&] { geqrf(n, n, a(), n, tau.data()); }, {&codelets::geqrf('d'), &larfb('d')}},
      {"unmqr",
       [&] { unmqr(Side::Left, Op::NoTrans, n, nrhs, n, a(), n, tau.data(), b(), n); },
       {&larft('d'), &larfb('d')}},
      {"ungqr", [&] { ungqr(n, n, n, a(), n, tau.data()); }, {&larft('d'), &larfb('d'), &codelets::ungqr('d')}},
      {"gels",
       [&] { gels(Op::NoTrans, n, n, nrhs, a(), n, b(), n); },
       {&codelets::geqrf('d'), &larfb('d'), &find_zero('d'), &panel_solve('d')}},
      {"gels", [&] { gels(Op::ConjTrans, n, n - 1, nrhs, a(), n, b(), n); }, {&clear_rows('d')}},
  };
  for (const auto& call : calls)
    for (auto* codelet : call.codelets) {
      A = definite(), B = random_matrix<double>(n, nrhs, 2);
      {
        const FailsOnce failing(*codelet);
        EXPECT_THROW(call.run(), RuntimeError) << call.name << ": " << codelet->name;
        EXPECT_TRUE(FailsOnce::has_failed()) << call.name << " has no " << codelet->name;
      }
      A = definite();
      EXPECT_NO_THROW(call.run()) << call.name << " after a failure in " << codelet->name;
    }
}

TEST_F(FailingSolvers, OnMatricesReportToEveryWaiter) {
  auto A = definite(), unrelated = A;
  const Matrix<double> a(A.data.data(), n, n, n, {n, panel}), other(unrelated.data.data(), n, n, n, {n, panel});
  const FailsOnce failing(codelets::getrf('d'));
  const auto [pivots, info] = getrf(a);
  Dense<double> B(n, panel);
  const Matrix<double> b(B.data.data(), n, panel, n, {n, panel});
  for (int again = 0; again < 8; again++) {  // the pivots never become values
    EXPECT_THROW(info.wait(), RuntimeError);
    EXPECT_THROW(pivots.wait(), RuntimeError);
  }
  laswp(b, pivots);
  EXPECT_THROW(b.wait(), RuntimeError);
  EXPECT_THROW(a.wait(), RuntimeError);
  const auto [other_pivots, other_info] = getrf(other);
  EXPECT_EQ(other_info.wait(), 0);
  EXPECT_EQ(other_pivots.wait().size(), n);
  EXPECT_NO_THROW(other.wait());
}

}  // namespace
}  // namespace tessera::test

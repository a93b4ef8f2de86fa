// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// trtrs overwrites C (n×k) with op(A)⁻¹ C. Otherwise it is like trsm.
class Trtrs final : public Routine {
 public:
  Trtrs() : Routine("trtrs"), trsm_(shapes::triangular(blas::Routine::trsm)) {}

  Takes takes() const override { return {.trans_a = true, .uplo = true, .diag = true, .k = true, .beta = false}; }
  std::string why_not(const Problem& p) const override {
    const auto reason = Routine::why_not(p);
    return reason.empty() ? trsm_->why_not(of_trsm(p)) : reason;
  }
  double flops(const Problem& p) const override { return trsm_->flops(of_trsm(p)); }
  blas::Traffic traffic(const Problem& p) const override { return trsm_->compulsory(of_trsm(p)); }
  Shapes shapes(const Problem& p) const override { return trsm_->shapes(of_trsm(p)); }
  double growth(const Problem& p) const override { return trsm_->growth(of_trsm(p)); }
  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const detail::Machine& machine) const override {
    return trsm_->plan_of(of_trsm(p), machine);
  }
  void run_tessera(const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    const Index info = tools::with_type(p.type, [&]<Scalar T>(T) {
      return trtrs(p.uplo, p.op_a, p.diag, p.n, p.k, static_cast<const T*>(o.A), s.A.ld, static_cast<T*>(o.C), s.C.ld);
    });
    if (info != 0) throw RuntimeError("trtrs: the matrix is singular, info = " + std::to_string(info));
  }
  void run_openblas(const Problem& p, const Operands& o) const override { trsm_->run_openblas(of_trsm(p), o); }
  void run_cublasxt(cublasXtContext* handle, const Problem& p, const Operands& o) const override {
    trsm_->run_cublasxt(handle, of_trsm(p), o);
  }
  void run_cublas(CuBlas& blas, const Problem& p, const Operands& o) const override {
    trsm_->run_cublas(blas, of_trsm(p), o);
  }
  Verdict check(const Problem& p, const Operands& o) const override { return trsm_->check(of_trsm(p), o); }

 private:
  static Problem of_trsm(Problem p) {
    p.side = Side::Left, p.m = p.n, p.n = p.k, p.alpha = 1;
    return p;
  }

  std::unique_ptr<Routine> trsm_;
};

}  // namespace

std::unique_ptr<Routine> triangular_system() { return std::make_unique<Trtrs>(); }

}  // namespace tessera::bench

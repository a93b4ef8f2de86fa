// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/blas.hpp>

#include "arguments.hpp"
#include "bench/check.hpp"
#include "bench/routines.hpp"
#include "codelets/host_blas.hpp"
#include "common/types.hpp"
#include "planning.hpp"
#include "session.hpp"

#ifdef TESSERA_WITH_CUDA
#include "bench/cublasxt.hpp"
#endif

namespace tessera::bench {

namespace {

constexpr double count(Index a, Index b) { return static_cast<double>(a) * static_cast<double>(b); }

Shape stored(Op op, Index m, Index n, Index pad) {
  const Index rows = arguments::stored_rows(op, m, n);
  return {rows, arguments::stored_columns(op, m, n), std::max<Index>(1, rows) + pad};
}

/// C ← α op(A) op(B) + β C
class Product : public Routine {
  /// Calls function with the arguments in their types.
  template <typename Function>
  auto with_arguments(const Problem& p, const Operands& o, Function function) const {
    const auto s = shapes(p);
    return tools::with_type(p.type, [&]<Scalar T>(T) {
      auto* C = static_cast<T*>(o.C);
      return function(CheckedProduct<T>{p.op_a, p.op_b, p.m, p.n, p.k, tools::scalar_cast<T>(p.alpha),
                                        tools::scalar_cast<T>(p.beta), static_cast<const T*>(o.A), s.A.ld,
                                        static_cast<const T*>(o.B), s.B.ld, C, s.C.ld, p.seed},
                      C);
    });
  }

 public:
  using Routine::Routine;

  Takes takes() const override { return {.trans_a = true, .trans_b = true, .k = true}; }

  double flops(const Problem& p) const override {
    if (p.alpha == 0.0) return 0;
    const double one = tools::with_type(p.type, []<Scalar T>(T) { return flops_per_multiply_add<T>; });
    return one * count(p.m, p.n) * static_cast<double>(p.k);
  }

  Traffic compulsory(const Problem& p) const override {
    const double element = tools::with_type(p.type, []<Scalar T>(T) { return static_cast<double>(sizeof(T)); });
    const double factors = p.alpha == 0.0 ? 0 : count(p.m, p.k) + count(p.k, p.n), result = count(p.m, p.n);
    return {element * (factors + (p.beta == 0.0 ? 0 : result)), element * result};
  }

  Shapes shapes(const Problem& p) const override {
    return {stored(p.op_a, p.m, p.k, p.ld_pad), stored(p.op_b, p.k, p.n, p.ld_pad),
            stored(Op::NoTrans, p.m, p.n, p.ld_pad)};
  }

  detail::ProductTiles tiles(const Problem& p) const override {
    return tools::with_type(p.type,
                            [&]<Scalar T>(T) { return detail::plan_product<T>(*detail::session(), p.m, p.n, p.k); });
  }

  void run_tessera(const Problem& p, const Operands& o) const override {
    with_arguments(p, o, [&]<Scalar T>(const CheckedProduct<T>& c, T* C) {
      gemm<T>(c.op_a, c.op_b, c.m, c.n, c.k, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta, C, c.ldc);
    });
  }

  void run_openblas(const Problem& p, const Operands& o) const override {
    with_arguments(p, o, [&]<Scalar T>(const CheckedProduct<T>& c, T* C) {
      const auto to_int = [](Index i) { return static_cast<int>(i); };
      host::gemm<T>(c.op_a, c.op_b, to_int(c.m), to_int(c.n), to_int(c.k), c.alpha, c.A, to_int(c.lda), c.B,
                    to_int(c.ldb), c.beta, C, to_int(c.ldc));
    });
  }

  void run_cublasxt([[maybe_unused]] cublasXtContext* handle, [[maybe_unused]] const Problem& p,
                    [[maybe_unused]] const Operands& o) const override {
#ifdef TESSERA_WITH_CUDA
    with_arguments(p, o, [&]<Scalar T>(const CheckedProduct<T>& c, T* C) {
      xt::gemm<T>(handle, c.op_a, c.op_b, c.m, c.n, c.k, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta, C, c.ldc);
    });
#endif
  }

  Verdict check(const Problem& p, const Operands& o) const override {
    return with_arguments(p, o, []<Scalar T>(const CheckedProduct<T>& c, T*) { return check_product(c); });
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::product(std::string name, std::string types) {
  return std::make_unique<Product>(std::move(name), std::move(types));
}

}  // namespace tessera::bench

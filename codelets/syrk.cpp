// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>

#include "common/symmetry.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
struct Syrk {
  using Args = SyrkArgs;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto [uplo, first_row, op] = std::tuple(args.uplo, args.first_row, args.op);
    const auto alpha = T(args.alpha), beta = T(args.beta);
    const auto A = tile<const T>(buffers[0]);
    const auto C = tile<T>(buffers[1]);
    const int k = op == Op::NoTrans ? A.n : A.m;
    const T* const a = row(op, A, first_row);
    T* const c = element(C, first_row, 0);
    if constexpr (hermitian) blas.herk(uplo, op, C.n, k, std::real(alpha), a, A.ld, std::real(beta), c, C.ld);
    else blas.syrk(uplo, op, C.n, k, alpha, a, A.ld, beta, c, C.ld);
    if (const auto r = rest_of_trapezoid(uplo, C.m, C.n, first_row); r.m > 0)
      blas.gemm(op, other_factor(hermitian, op), r.m, r.n, k, alpha, row(op, A, r.i), A.ld, a, A.ld, beta,
                element(C, r.i, r.j), C.ld);
  }
};

}  // namespace

starpu_codelet& syrk(char type) { return codelet_of<Syrk, false>(type, "syrk"); }

starpu_codelet& herk(char type) { return codelet_of_hermitian<Syrk>(type, "herk"); }

}  // namespace tessera::codelets

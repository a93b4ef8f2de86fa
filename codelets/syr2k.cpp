// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>

#include "common/symmetry.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
struct Syr2k {
  using Args = SyrkArgs;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto [uplo, first_row, op] = std::tuple(args.uplo, args.first_row, args.op);
    const auto alpha = T(args.alpha), beta = T(args.beta);
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    const int k = op == Op::NoTrans ? A.n : A.m;
    const T *const a = row(op, A, first_row), *const b = row(op, B, first_row);
    T* const c = element(C, first_row, 0);
    if constexpr (hermitian) blas.her2k(uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, std::real(beta), c, C.ld);
    else blas.syr2k(uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, beta, c, C.ld);
    if (const auto r = rest_of_trapezoid(uplo, C.m, C.n, first_row); r.m > 0) {
      const Op other = other_factor(hermitian, op);
      T* const rest = element(C, r.i, r.j);
      blas.gemm(op, other, r.m, r.n, k, alpha, row(op, A, r.i), A.ld, b, B.ld, beta, rest, C.ld);
      blas.gemm(op, other, r.m, r.n, k, conjugated_if<T>(hermitian, alpha), row(op, B, r.i), B.ld, a, A.ld, T(1), rest,
                C.ld);
    }
  }
};

}  // namespace

starpu_codelet& syr2k(char type) { return codelet_of<Syr2k, false>(type, "syr2k"); }

starpu_codelet& her2k(char type) { return codelet_of_hermitian<Syr2k>(type, "her2k"); }

}  // namespace tessera::codelets

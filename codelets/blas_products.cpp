// SPDX-License-Identifier: BSD-3-Clause
// The products that any BLAS has for tiles: gemm, symm, syrk and syr2k, and the Hermitian ones.
#include <tuple>
#include <utility>

#include "common/symmetry.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Gemm {
  using Args = GemmArgs;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto& [work, op_a, op_b, alpha, beta, first_column, first_term] = args;
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    const int k = op_a == Op::NoTrans ? A.n : A.m;
    blas.gemm(op_a, op_b, C.m, C.n, k, T(alpha), A.data, A.ld, element_of(op_b, B, first_term, first_column), B.ld,
              T(beta), C.data, C.ld);
  }
};

template <Scalar T, bool hermitian>
struct Symm {
  using Args = SymmArgs;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto [side, uplo] = std::pair(args.side, args.uplo);
    const auto alpha = T(args.alpha), beta = T(args.beta);
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    if constexpr (hermitian) blas.hemm(side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
    else blas.symm(side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
  }
};

template <Scalar T, bool hermitian>
struct SymmPanel {
  using Args = SymmPanelArgs;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto [uplo, first] = std::pair(args.uplo, args.first);
    const auto alpha = T(args.alpha), beta = T(args.beta);
    const auto A = tile<const T>(buffers[0]), D = tile<const T>(buffers[1]), B = tile<const T>(buffers[2]);
    const auto C = tile<T>(buffers[3]);
    const bool lower = uplo == Uplo::Lower;
    const int k = A.n, rest = lower ? first + k : 0, count = lower ? A.m - rest : first;
    const T* const own = B.data + first;
    blas.gemm(Op::NoTrans, Op::NoTrans, k, C.n, k, alpha, D.data, D.ld, own, B.ld, beta, C.data + first, C.ld);
    if (count == 0) return;
    const T* const others = A.data + rest;
    blas.gemm(common::symmetry(hermitian), Op::NoTrans, k, C.n, count, alpha, others, A.ld, B.data + rest, B.ld, T(1),
              C.data + first, C.ld);
    blas.gemm(Op::NoTrans, Op::NoTrans, count, C.n, k, alpha, others, A.ld, own, B.ld, beta, C.data + rest, C.ld);
  }
};

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
    auto r = common::rest_of_trapezoid(uplo, C.m, C.n, first_row);
    if constexpr (hermitian) blas.herk(uplo, op, C.n, k, std::real(alpha), a, A.ld, std::real(beta), c, C.ld);
    else if (fills_square(blas, buffers[1], C.n)) r = common::around_trapezoid(uplo, C.m, C.n, first_row);
    else blas.syrk(uplo, op, C.n, k, alpha, a, A.ld, beta, c, C.ld);
    if (r.m > 0)
      blas.gemm(op, common::other_factor(hermitian, op), r.m, r.n, k, alpha, row(op, A, r.i), A.ld, a, A.ld, beta,
                element(C, r.i, r.j), C.ld);
  }
};

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
    auto r = common::rest_of_trapezoid(uplo, C.m, C.n, first_row);
    if constexpr (hermitian) blas.her2k(uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, std::real(beta), c, C.ld);
    else if (fills_square(blas, buffers[2], C.n)) r = common::around_trapezoid(uplo, C.m, C.n, first_row);
    else blas.syr2k(uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, beta, c, C.ld);
    if (r.m > 0) {
      const Op other = common::other_factor(hermitian, op);
      T* const rest = element(C, r.i, r.j);
      blas.gemm(op, other, r.m, r.n, k, alpha, row(op, A, r.i), A.ld, b, B.ld, beta, rest, C.ld);
      blas.gemm(op, other, r.m, r.n, k, common::conjugated_if<T>(hermitian, alpha), row(op, B, r.i), B.ld, a, A.ld,
                T(1), rest, C.ld);
    }
  }
};

}  // namespace

starpu_codelet& gemm(char type) { return codelet_of<Gemm>(type, "gemm"); }

starpu_codelet& symm(char type) { return codelet_of<Symm, false>(type, "symm"); }
starpu_codelet& hemm(char type) { return codelet_of_hermitian<Symm>(type, "hemm"); }
starpu_codelet& symm_panel(char type) { return codelet_of<SymmPanel, false>(type, "symm_panel"); }
starpu_codelet& hemm_panel(char type) { return codelet_of_hermitian<SymmPanel>(type, "hemm_panel"); }

starpu_codelet& syrk(char type) { return codelet_of<Syrk, false>(type, "syrk"); }
starpu_codelet& herk(char type) { return codelet_of_hermitian<Syrk>(type, "herk"); }

starpu_codelet& syr2k(char type) { return codelet_of<Syr2k, false>(type, "syr2k"); }
starpu_codelet& her2k(char type) { return codelet_of_hermitian<Syr2k>(type, "her2k"); }

}  // namespace tessera::codelets

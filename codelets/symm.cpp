// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "common/symmetry.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

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
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    const bool lower = uplo == Uplo::Lower;
    const int k = A.n, rest = lower ? first + k : 0, count = lower ? A.m - rest : first;
    const T *const diagonal = A.data + first, *const own = B.data + first;
    if constexpr (hermitian)
      blas.hemm(Side::Left, uplo, k, C.n, alpha, diagonal, A.ld, own, B.ld, beta, C.data + first, C.ld);
    else blas.symm(Side::Left, uplo, k, C.n, alpha, diagonal, A.ld, own, B.ld, beta, C.data + first, C.ld);
    if (count == 0) return;
    const T* const others = A.data + rest;
    blas.gemm(symmetry(hermitian), Op::NoTrans, k, C.n, count, alpha, others, A.ld, B.data + rest, B.ld, T(1),
              C.data + first, C.ld);
    blas.gemm(Op::NoTrans, Op::NoTrans, count, C.n, k, alpha, others, A.ld, own, B.ld, beta, C.data + rest, C.ld);
  }
};

}  // namespace

starpu_codelet& symm(char type) { return codelet_of<Symm, false>(type, "symm"); }

starpu_codelet& hemm(char type) { return codelet_of_hermitian<Symm>(type, "hemm"); }

starpu_codelet& symm_panel(char type) { return codelet_of<SymmPanel, false>(type, "symm_panel"); }

starpu_codelet& hemm_panel(char type) { return codelet_of_hermitian<SymmPanel>(type, "hemm_panel"); }

}  // namespace tessera::codelets

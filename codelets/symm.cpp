// SPDX-License-Identifier: BSD-3-Clause
#include "common/symmetry.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
struct Symm {
  using Args = SymmArgs<T>;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto& [work, side, uplo, alpha, beta] = args;
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    if constexpr (hermitian) blas.hemm(side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
    else blas.symm(side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
  }
};

template <Scalar T, bool hermitian>
struct SymmPanel {
  using Args = SymmPanelArgs<T>;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto& [work, uplo, first, alpha, beta] = args;
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
    blas.gemm(symmetry<hermitian>, Op::NoTrans, k, C.n, count, alpha, others, A.ld, B.data + rest, B.ld, T(1),
              C.data + first, C.ld);
    blas.gemm(Op::NoTrans, Op::NoTrans, count, C.n, k, alpha, others, A.ld, own, B.ld, beta, C.data + rest, C.ld);
  }
};

}  // namespace

template <Scalar T>
starpu_codelet& symm() {
  return codelet_of<Symm<T, false>>("symm");
}
INSTANTIATE_FOR_ALL_TYPES(symm)

template <ComplexScalar T>
starpu_codelet& hemm() {
  return codelet_of<Symm<T, true>>("hemm");
}
INSTANTIATE_FOR_COMPLEX_TYPES(hemm)

template <Scalar T>
starpu_codelet& symm_panel() {
  return codelet_of<SymmPanel<T, false>>("symm_panel");
}
INSTANTIATE_FOR_ALL_TYPES(symm_panel)

template <ComplexScalar T>
starpu_codelet& hemm_panel() {
  return codelet_of<SymmPanel<T, true>>("hemm_panel");
}
INSTANTIATE_FOR_COMPLEX_TYPES(hemm_panel)

}  // namespace tessera::codelets

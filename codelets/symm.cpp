// SPDX-License-Identifier: BSD-3-Clause
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

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
void symm_cpu(void* buffers[], void* arg) {
  const auto& [work, side, uplo, alpha, beta] = *static_cast<SymmArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  if constexpr (hermitian) host::hemm<T>(side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
  else host::symm<T>(side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T, bool hermitian>
void symm_cuda(void* buffers[], void* arg) {
  const auto& [work, side, uplo, alpha, beta] = *static_cast<SymmArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const auto handle = device::local_handle();
  if constexpr (hermitian)
    check("hemm", device::hemm<T>(handle, side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld));
  else
    check("symm", device::symm<T>(handle, side, uplo, C.m, C.n, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld));
}
#else
template <Scalar T, bool hermitian>
const starpu_cuda_func_t symm_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& symm() {
  static TileOperation operation("symm", symm_cpu<T, false>, symm_cuda<T, false>);
  return operation.codelet;
}

template <ComplexScalar T>
starpu_codelet& hemm() {
  static TileOperation operation("hemm", symm_cpu<T, true>, symm_cuda<T, true>);
  return operation.codelet;
}

template starpu_codelet& symm<float>();
template starpu_codelet& symm<double>();
template starpu_codelet& symm<std::complex<float>>();
template starpu_codelet& symm<std::complex<double>>();
template starpu_codelet& hemm<std::complex<float>>();
template starpu_codelet& hemm<std::complex<double>>();

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
void syr2k_cpu(void* buffers[], void* arg) {
  const auto& [work, uplo, op, alpha, beta] = *static_cast<Syr2kArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const int k = op == Op::NoTrans ? A.n : A.m;
  if constexpr (hermitian)
    host::her2k<T>(uplo, op, C.n, k, alpha, A.data, A.ld, B.data, B.ld, std::real(beta), C.data, C.ld);
  else host::syr2k<T>(uplo, op, C.n, k, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T, bool hermitian>
void syr2k_cuda(void* buffers[], void* arg) {
  const auto& [work, uplo, op, alpha, beta] = *static_cast<Syr2kArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const int k = op == Op::NoTrans ? A.n : A.m;
  const auto handle = device::local_handle();
  if constexpr (hermitian) {
    if (std::real(beta) != 0) device::clear_imaginary_diagonal(C.n, C.data, C.ld);  // cuBLAS would read it
    check("her2k",
          device::her2k<T>(handle, uplo, op, C.n, k, alpha, A.data, A.ld, B.data, B.ld, std::real(beta), C.data, C.ld));
  } else {
    check("syr2k", device::syr2k<T>(handle, uplo, op, C.n, k, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld));
  }
}
#else
template <Scalar T, bool hermitian>
const starpu_cuda_func_t syr2k_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& syr2k() {
  static TileOperation operation("syr2k", syr2k_cpu<T, false>, syr2k_cuda<T, false>);
  return operation.codelet;
}

template <ComplexScalar T>
starpu_codelet& her2k() {
  static TileOperation operation("her2k", syr2k_cpu<T, true>, syr2k_cuda<T, true>);
  return operation.codelet;
}

template starpu_codelet& syr2k<float>();
template starpu_codelet& syr2k<double>();
template starpu_codelet& syr2k<std::complex<float>>();
template starpu_codelet& syr2k<std::complex<double>>();
template starpu_codelet& her2k<std::complex<float>>();
template starpu_codelet& her2k<std::complex<double>>();

}  // namespace tessera::codelets

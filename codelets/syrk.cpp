// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "common/mirror.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
void syrk_cpu(void* buffers[], void* arg) {
  const auto& [work, uplo, first_row, op, alpha, beta] = *static_cast<SyrkArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  const int k = op == Op::NoTrans ? A.n : A.m;
  const T* const a = row(op, A, first_row);
  T* const c = element(C, first_row, 0);
  if constexpr (hermitian) host::herk<T>(uplo, op, C.n, k, std::real(alpha), a, A.ld, std::real(beta), c, C.ld);
  else host::syrk<T>(uplo, op, C.n, k, alpha, a, A.ld, beta, c, C.ld);
  if (const auto r = rest_of_trapezoid(uplo, C.m, C.n, first_row); r.m > 0)
    host::gemm<T>(op, other_factor<hermitian>(op), r.m, r.n, k, alpha, row(op, A, r.i), A.ld, a, A.ld, beta,
                  element(C, r.i, r.j), C.ld);
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T, bool hermitian>
void syrk_cuda(void* buffers[], void* arg) {
  const auto& [work, uplo, first_row, op, alpha, beta] = *static_cast<SyrkArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  const int k = op == Op::NoTrans ? A.n : A.m;
  const T* const a = row(op, A, first_row);
  T* const c = element(C, first_row, 0);
  const auto handle = device::local_handle();
  if constexpr (hermitian) {
    if (std::real(beta) != 0) device::clear_imaginary_diagonal(C.n, c, C.ld);  // cuBLAS would read the imaginary part
    check("herk", device::herk<T>(handle, uplo, op, C.n, k, std::real(alpha), a, A.ld, std::real(beta), c, C.ld));
  } else {
    check("syrk", device::syrk<T>(handle, uplo, op, C.n, k, alpha, a, A.ld, beta, c, C.ld));
  }
  if (const auto r = rest_of_trapezoid(uplo, C.m, C.n, first_row); r.m > 0)
    check("gemm", device::gemm<T>(handle, op, other_factor<hermitian>(op), r.m, r.n, k, alpha, row(op, A, r.i), A.ld, a,
                                  A.ld, beta, element(C, r.i, r.j), C.ld));
}
#else
template <Scalar T, bool hermitian>
const starpu_cuda_func_t syrk_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& syrk() {
  static TileOperation operation("syrk", syrk_cpu<T, false>, syrk_cuda<T, false>);
  return operation.codelet;
}

template <ComplexScalar T>
starpu_codelet& herk() {
  static TileOperation operation("herk", syrk_cpu<T, true>, syrk_cuda<T, true>);
  return operation.codelet;
}

template starpu_codelet& syrk<float>();
template starpu_codelet& syrk<double>();
template starpu_codelet& syrk<std::complex<float>>();
template starpu_codelet& syrk<std::complex<double>>();
template starpu_codelet& herk<std::complex<float>>();
template starpu_codelet& herk<std::complex<double>>();

}  // namespace tessera::codelets

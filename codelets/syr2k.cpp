// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "common/mirror.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool hermitian>
void syr2k_cpu(void* buffers[], void* arg) {
  const auto& args = *static_cast<Syr2kArgs<T>*>(arg);
  const Uplo uplo = args.uplo;
  const int first_row = args.first_row;
  const Op op = args.op;
  const T alpha = args.alpha, beta = args.beta;
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const int k = op == Op::NoTrans ? A.n : A.m;
  const T *const a = row(op, A, first_row), *const b = row(op, B, first_row);
  T* const c = element(C, first_row, 0);
  if constexpr (hermitian) host::her2k<T>(uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, std::real(beta), c, C.ld);
  else host::syr2k<T>(uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, beta, c, C.ld);
  if (const auto r = rest_of_trapezoid(uplo, C.m, C.n, first_row); r.m > 0) {
    const auto product = [&](T factor, const Tile<const T>& X, const T* y, int ldy, T old) {
      host::gemm<T>(op, other_factor<hermitian>(op), r.m, r.n, k, factor, row(op, X, r.i), X.ld, y, ldy, old,
                    element(C, r.i, r.j), C.ld);
    };
    product(alpha, A, b, B.ld, beta);
    product(conjugated_if<T>(hermitian, alpha), B, a, A.ld, T(1));
  }
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T, bool hermitian>
void syr2k_cuda(void* buffers[], void* arg) {
  const auto& args = *static_cast<Syr2kArgs<T>*>(arg);
  const Uplo uplo = args.uplo;
  const int first_row = args.first_row;
  const Op op = args.op;
  const T alpha = args.alpha, beta = args.beta;
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const int k = op == Op::NoTrans ? A.n : A.m;
  const T *const a = row(op, A, first_row), *const b = row(op, B, first_row);
  T* const c = element(C, first_row, 0);
  const auto handle = device::local_handle();
  if constexpr (hermitian) {
    if (std::real(beta) != 0) device::clear_imaginary_diagonal(C.n, c, C.ld);  // cuBLAS would read the imaginary part
    check("her2k", device::her2k<T>(handle, uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, std::real(beta), c, C.ld));
  } else {
    check("syr2k", device::syr2k<T>(handle, uplo, op, C.n, k, alpha, a, A.ld, b, B.ld, beta, c, C.ld));
  }
  if (const auto r = rest_of_trapezoid(uplo, C.m, C.n, first_row); r.m > 0) {
    const auto product = [&](T factor, const Tile<const T>& X, const T* y, int ldy, T old) {
      check("gemm", device::gemm<T>(handle, op, other_factor<hermitian>(op), r.m, r.n, k, factor, row(op, X, r.i), X.ld,
                                    y, ldy, old, element(C, r.i, r.j), C.ld));
    };
    product(alpha, A, b, B.ld, beta);
    product(conjugated_if<T>(hermitian, alpha), B, a, A.ld, T(1));
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

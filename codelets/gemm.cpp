// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void gemm_cpu(void* buffers[], void* arg) {
  const auto& [work, op_a, op_b, alpha, beta, first_column] = *static_cast<GemmArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const int k = op_a == Op::NoTrans ? A.n : A.m;
  host::gemm<T>(op_a, op_b, C.m, C.n, k, alpha, A.data, A.ld, column(op_b, B, first_column), B.ld, beta, C.data, C.ld);
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void gemm_cuda(void* buffers[], void* arg) {
  const auto& [work, op_a, op_b, alpha, beta, first_column] = *static_cast<GemmArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
  const auto C = tile<T>(buffers[2]);
  const int k = op_a == Op::NoTrans ? A.n : A.m;
  check("gemm", device::gemm<T>(device::local_handle(), op_a, op_b, C.m, C.n, k, alpha, A.data, A.ld,
                                column(op_b, B, first_column), B.ld, beta, C.data, C.ld));
}
#else
template <Scalar T>
const starpu_cuda_func_t gemm_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& gemm() {
  static TileOperation operation("gemm", gemm_cpu<T>, gemm_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& gemm<float>();
template starpu_codelet& gemm<double>();
template starpu_codelet& gemm<std::complex<float>>();
template starpu_codelet& gemm<std::complex<double>>();

}  // namespace tessera::codelets

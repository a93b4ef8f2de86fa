// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void trmm_cpu(void* buffers[], void* arg) {
  const auto& [work, side, uplo, op, diag, alpha, blocked, sum] = *static_cast<TriangularArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]);
  const auto B = tile<T>(buffers[1]);
  host::trmm<T>(side, uplo, op, diag, B.m, B.n, alpha, A.data, A.ld, B.data, B.ld);
  sum_slots::give_back(sum);
}

#ifdef TESSERA_WITH_CUDA
/// The rows of B that are copied at a time. For tiles of 4096, the fastest of 256, 512, 1024 and 2048.
constexpr int copied_rows = 2048;

template <Scalar T>
void trmm_cuda(void* buffers[], void* arg) {
  const auto& args = *static_cast<TriangularArgs<T>*>(arg);
  if (args.blocked) {
    const TriangularBlocks<T> blocks(buffers, args);
    if (output_is_finite<T>(buffers, args))
      blocks.multiply(copied_rows, [&](const Range& rows, T alpha) { blocks.multiply_by_triangle(rows, alpha); });
    else blocks.multiply(1, [&](const Range& row, T alpha) { blocks.apply_in_place(device::trmm<T>, row, alpha); });
    return;
  }
  const auto A = tile<const T>(buffers[0]);
  const auto B = tile<T>(buffers[1]);
  check("trmm", device::trmm<T>(device::local_handle(), args.side, args.uplo, args.op, args.diag, B.m, B.n, args.alpha,
                                A.data, A.ld, B.data, B.ld));
}
#else
template <Scalar T>
const starpu_cuda_func_t trmm_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& trmm() {
  static TileOperation operation("trmm", trmm_cpu<T>, trmm_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& trmm<float>();
template starpu_codelet& trmm<double>();
template starpu_codelet& trmm<std::complex<float>>();
template starpu_codelet& trmm<std::complex<double>>();

}  // namespace tessera::codelets

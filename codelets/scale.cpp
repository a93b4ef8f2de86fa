// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void scale_cpu(void* buffers[], void* arg) {
  const T beta = static_cast<ScaleArgs<T>*>(arg)->beta;
  const auto C = tile<T>(buffers[0]);
  for (int j = 0; j < C.n; j++) {
    T* column = C.data + static_cast<Index>(j) * C.ld;
    if (beta == T{}) std::fill_n(column, C.m, T{});  // 0 · NaN would be NaN
    else host::scal(C.m, beta, column);
  }
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void scale_cuda(void* buffers[], void* arg) {
  const T beta = static_cast<ScaleArgs<T>*>(arg)->beta;
  const auto C = tile<T>(buffers[0]);
  if (beta == T{})
    check("scale",
          cudaMemset2DAsync(C.data, C.ld * sizeof(T), 0, C.m * sizeof(T), C.n, starpu_cuda_get_local_stream()));
  else check("scale", device::scale<T>(device::local_handle(), C.m, C.n, beta, C.data, C.ld));
}
#else
template <Scalar T>
const starpu_cuda_func_t scale_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& scale() {
  static TileOperation operation("scale", scale_cpu<T>, scale_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& scale<float>();
template starpu_codelet& scale<double>();
template starpu_codelet& scale<std::complex<float>>();
template starpu_codelet& scale<std::complex<double>>();

}  // namespace tessera::codelets

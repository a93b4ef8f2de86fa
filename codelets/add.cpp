// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void add_cpu(void* buffers[], void* arg) {
  const T beta = static_cast<AddArgs<T>*>(arg)->beta;
  const auto D = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  for (int j = 0; j < C.n; j++) {
    T* column = C.data + static_cast<Index>(j) * C.ld;
    host::scal(C.m, beta, column);
    host::axpy(C.m, T(1), D.data + static_cast<Index>(j) * D.ld, column);
  }
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void add_cuda(void* buffers[], void* arg) {
  const T beta = static_cast<AddArgs<T>*>(arg)->beta;
  const auto D = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  check("add", device::add<T>(device::local_handle(), C.m, C.n, D.data, D.ld, beta, C.data, C.ld));
}
#else
template <Scalar T>
const starpu_cuda_func_t add_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& add() {
  static TileOperation operation("add", add_cpu<T>, add_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& add<float>();
template starpu_codelet& add<double>();
template starpu_codelet& add<std::complex<float>>();
template starpu_codelet& add<std::complex<double>>();

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "codelet.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void inspect_cpu(void* buffers[], void* arg) {
  const auto& args = *static_cast<InspectArgs<T>*>(arg);
  const auto C = tile<const T>(buffers[0]);
  Real<T> sum{};
  for (int j = 0; j < C.n; j++)
    for (int i = 0; i < C.m; i++) {
      const T x = *element(C, i, j);
      sum += std::abs(std::real(x)) + std::abs(std::imag(x));
    }
  *args.sum = sum;
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void inspect_cuda(void* buffers[], void* arg) {
  const auto& args = *static_cast<InspectArgs<T>*>(arg);
  const auto C = tile<const T>(buffers[0]);
  const device::ResultsInMemory mode(device::local_handle());
  check("inspect", device::sum_of_magnitudes<T>(device::local_handle(), C.m * C.n, C.data, args.sum));
}
#else
template <Scalar T>
const starpu_cuda_func_t inspect_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& inspect() {
  static TileOperation operation("inspect", inspect_cpu<T>, inspect_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& inspect<float>();
template starpu_codelet& inspect<double>();
template starpu_codelet& inspect<std::complex<float>>();
template starpu_codelet& inspect<std::complex<double>>();

}  // namespace tessera::codelets

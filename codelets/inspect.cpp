// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/magnitude.hpp"
#endif

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Inspect {
  using Args = InspectArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto C = tile<const T>(buffers[0]);
    Real<T> sum{};
    for (int j = 0; j < C.n; j++)
      for (int i = 0; i < C.m; i++) {
        const T x = *element(C, i, j);
        sum += std::abs(std::real(x)) + std::abs(std::imag(x));
      }
    *static_cast<Real<T>*>(args.sum) = sum;
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto C = tile<const T>(buffers[0]);
    auto* const sum = static_cast<Real<T>*>(args.sum);
    if (C.ld == C.m) {
      const device::cuda::ResultsInMemory mode(on.handle);
      device::check("inspect", device::cuda::sum_of_magnitudes<T>(on.handle, C.m * C.n, C.data, sum));
      return;
    }
    // The tile lies in the program's memory, with others between its columns. The largest magnitude does as well.
    const auto& lane = device::cuda::local_lane();
    device::check("inspect", device::cuda::add_magnitude<T>(lane.stream, C.m, C.n, C.data, C.ld, lane.values));
    device::check("inspect", device::cuda::take_value(lane.stream, lane.values, sum));
  }
#endif
};

}  // namespace

starpu_codelet& inspect(char type) { return codelet_of<Inspect>(type, "inspect"); }

}  // namespace tessera::codelets

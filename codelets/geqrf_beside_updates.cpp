// SPDX-License-Identifier: BSD-3-Clause
// The QR factorization of a panel while the panel before it updates others.
#include <algorithm>

#include "halved_panel.hpp"
#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/lanes.hpp"
#include "devices/cuda/solver.hpp"
#endif

namespace tessera::codelets {

namespace {

template <Scalar T>
struct GeqrfBesideUpdates {
  using Args = GeqrfBesideUpdatesArgs;

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto whole = tile<T>(buffers[0]);
    const auto A = rows_of(whole, args.panel.first, whole.m);
    auto* const lanes = device::cuda::local_lanes();
    if (lanes == nullptr) {
      update(on, buffers, args);
      factorize(on, buffers, A);
      return;
    }
    device::cuda::side_by_side(
        *lanes, lanes->panel(A.m), [&] { update(device::OnDevice{}, buffers, args); },
        [&] {
          const device::cuda::SolverOnLane solver;
          factorize(device::OnDevice{}, buffers, A);
        });
  }

  static void factorize(const device::OnDevice& device, void* buffers[], const Tile<T>& A) {
    PanelOnDevice<T> on(device);
    factorize_panel(on, A, tile<T>(buffers[1]).data, tile<T>(buffers[2]));
  }

  static void update(const device::OnDevice& device, void* buffers[], const Args& args) {
    PanelOnDevice<T> on(device);
    const auto before = tile<const T>(buffers[3]);
    const Reflectors<T> V(rows_of(before, args.update.first, before.m), tile<const T>(buffers[4]));
    // Larger workspace is that of the panel.
    const int columns = static_cast<int>(std::max<std::size_t>(
        1, device::cuda::workspace_bytes / (2 * sizeof(T) * static_cast<std::size_t>(V.count()))));
    for (int j = 0; j < args.columns; j++) {
      const auto C = tile<T>(buffers[5 + j]);
      for (int begin = 0; begin < C.n; begin += columns)
        apply(on, V, args.update.side, args.update.adjoint,
              columns_of(rows_of(C, args.update.first, C.m), begin, std::min(begin + columns, C.n)));
    }
  }
#endif
};

}  // namespace

starpu_codelet& geqrf_beside_updates(char type) {
  return codelet_for_gpus<GeqrfBesideUpdates>(type, "geqrf_beside_updates");
}

}  // namespace tessera::codelets

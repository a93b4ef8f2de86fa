// SPDX-License-Identifier: BSD-3-Clause
// The factorization of a panel, at the same time as an earlier panel updates other panels.
#include <algorithm>
#include <vector>

#include "kernel.hpp"
#include "panel_kernels.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/lanes.hpp"
#endif

namespace tessera::codelets {

namespace {

template <Scalar T>
struct GetrfBesideUpdates {
  using Args = GetrfBesideUpdatesArgs;
  static constexpr bool reads_indices = true;

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const int rows = TileStack<T>(buffers, args.panel.tiles).m() - args.panel.first;
    auto* const lanes = device::cuda::local_lanes();
    auto* const panel = lanes == nullptr ? nullptr : &lanes->panel(rows);
    if (panel == nullptr || device::cuda::leaf_width<T>(rows, panel->multiprocessors) == 0) {
      update(on, buffers, args);
      Getrf<T>::run(on, buffers, args.panel);
      return;
    }
    device::cuda::side_by_side(
        *lanes, *panel, [&] { update(device::OnDevice{}, buffers, args); },
        [&] { Getrf<T>::run(device::OnDevice{}, buffers, args.panel); });
  }

  /// Computes the updates, passing to each its buffers in the order of PanelUpdate.
  static void update(const device::OnDevice& on, void* buffers[], const Args& args) {
    const int inverses_of_panel = args.panel.blocked ? 1 : 0, inverses_of_other = args.update.blocked ? 1 : 0;
    const int first = args.panel.tiles + 1 + inverses_of_panel, tiles = args.update.tiles;
    const int at_inverses = first + tiles + 1;
    const auto inverses =
        args.update.blocked ? codelets::inverses_of(handle_of(at_inverses)) : Inverses{Inverses::Refused, 0};
    std::vector<void*> of_update(buffers + first, buffers + at_inverses);
    of_update.resize(2 * static_cast<std::size_t>(tiles) + 1);
    if (args.update.blocked) of_update.push_back(buffers[at_inverses]);
    void** column = buffers + at_inverses + inverses_of_other;
    for (int j = 0; j < args.columns; j++, column += tiles) {
      std::copy_n(column, tiles, of_update.begin() + tiles + 1);
      PanelUpdate<T>::run(on, of_update.data(), args.update, inverses);
    }
  }
#endif
};

}  // namespace

starpu_codelet& getrf_beside_updates(char type) {
  return codelet_for_gpus<GetrfBesideUpdates>(type, "getrf_beside_updates");
}

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include "pivot_tiles.hpp"

#include <starpu.h>

#include <algorithm>

#include <tessera/error.hpp>

#include "common/failure.hpp"
#include "devices/row_moves.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "tile/split.hpp"

namespace tessera::detail {

PivotTiles::PivotTiles(std::shared_ptr<Session> session, Index m, Index n, Index panel)
    : session_(std::move(session)), m_(m), n_(n), panel_(panel) {
  const Index all = std::min(m, n);
  for (Index k = 0; k * panel < all; k++) tiles_.emplace_back(device::PivotTile::elements(count(k)), 1, sizeof(int));
}

void PivotTiles::assign(sinks::Exchange& exchange, const tile::Stored& A) {
  processes_ = A.grid().share().processes;
  for (Index k = 0; k < panels(); k++) exchange.assign(handle(k), A.handle(0, k));
}

void PivotTiles::give_to_all(sinks::Exchange& exchange, int processes, int priority) {
  for (Index k = 0; k < panels(); k++) exchange.give_to_all(handle(k), processes, priority);
}

void PivotTiles::keep_everywhere(std::shared_ptr<tile::Processes> processes) {
  processes_ = std::move(processes);
  for (Index k = 0; k < panels(); k++) processes_->keep_everywhere(handle(k));
}

Index PivotTiles::count(Index k) const { return std::min(panel_, std::min(m_, n_) - k * panel_); }

template <typename Use>
void PivotTiles::access(Index k, starpu_data_access_mode mode, Use use) const {
  starpu_data_acquire_on_node(handle(k), STARPU_MAIN_RAM, mode);
  use(reinterpret_cast<int*>(STARPU_MATRIX_GET_PTR(starpu_data_get_interface_on_node(handle(k), STARPU_MAIN_RAM))));
  starpu_data_release_on_node(handle(k), STARPU_MAIN_RAM);
}

void PivotTiles::set(const std::vector<Index>& pivots) {
  for (Index k = 0; k < panels(); k++)
    access(k, STARPU_W, [&](int* tile) {
      if (tile == nullptr) return;  // in simulated time
      for (Index i = 0; i < count(k); i++)
        tile[i] = static_cast<int>(pivots[static_cast<std::size_t>(k * panel_ + i)] - k * panel_);
      device::PivotTile::write_moves(tile, static_cast<int>(count(k)));
    });
}

std::vector<Index> PivotTiles::wait() const {
  runtime::require_can_wait("Pivots::wait");
  std::vector<Index> all;
#ifdef STARPU_SIMGRID  // simulated tasks compute nothing
  for (Index i = 1; i <= std::min(m_, n_); i++) all.push_back(i);
  return all;
#endif
  for (Index k = 0; k < panels(); k++) {
    access(k, STARPU_R, [&](const int* tile) {
      for (Index i = 0; i < count(k); i++) all.push_back(k * panel_ + tile[i]);
    });
    if (const auto failure = common::failure_of(handle(k))) {
      failure->told = true;
      throw RuntimeError(failure->what);
    }
  }
  return all;
}

}  // namespace tessera::detail

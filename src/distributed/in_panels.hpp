// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <tessera/distributed.hpp>
#include <tessera/runtime.hpp>

#include "network.hpp"
#include "redistribution.hpp"
#include "tile/split.hpp"

namespace tessera::distributed {

/// A copy of a matrix in panels of full height, dealt to all processes of its grid.
template <Scalar T>
class InPanels {
 public:
  /// @param A  its m×n elements; nothing changes them until `copy_back`
  InPanels(const Grid& grid, Index m, Index n, const DealtMatrix<T>& A)
      : comm_(detail::GridAccess::network(grid).comm_of_values()), A_(A),
        copy_(detail::GridAccess::reshaped(grid, 1, grid.p() * grid.q()), m, n,
              {std::max<Index>(1, m), width(m, n, grid.p() * grid.q())}) {
    redistribute(comm_, m, n, A_, dealt(copy_));
  }
  const DistributedMatrix<T>& matrix() const noexcept { return copy_; }
  /// Waits for the tasks on the copy, and writes its elements to A.
  void copy_back() const {
    copy_.wait();
    redistribute(comm_, copy_.m(), copy_.n(), dealt(copy_), A_);
  }

 private:
  /// Several panels for each process, not too narrow or wide for its devices.
  static Index width(Index rows, Index columns, int processes) {
    constexpr Index most_elements = std::numeric_limits<std::uint32_t>::max();  // of a tile, for StarPU
    constexpr Index panels_of_process = 6, multiple = 32, widest_on_cores = 256, widest_on_gpus = 2048;
    const Index wanted = tile::divide_up(tile::divide_up(columns, processes * panels_of_process), multiple) * multiple;
    const Index widest = gpu_count() > 0 ? widest_on_gpus : widest_on_cores;
    return std::min(std::clamp(wanted, multiple, widest), std::max<Index>(1, most_elements / std::max<Index>(1, rows)));
  }

  MPI_Comm comm_;
  DealtMatrix<T> A_;
  DistributedMatrix<T> copy_;
};

}  // namespace tessera::distributed

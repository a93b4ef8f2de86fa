// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/types.hpp>

#include "machine/machine_rates.hpp"

namespace tessera::detail {

struct ChosenTiles;

/// The parameters, besides the shape of a call, that determine the tiles: the machine and the element type.
struct MachineModel {
  MachineRates rates;
  int cpu_workers = 1;
  int gpus = 0;
  double element_size = 8;
  double flops_per_multiply_add = 2;
  double gpu_memory = 0;   ///< bytes of each GPU; 0: unknown
  bool gpus_alike = true;  ///< whether all GPUs are of the same kind
  int sharing_cores = 0;   ///< CPU workers that compute tiles of the same result beside GPUs
  bool copies = true;      ///< false: all operands are where they are used
  bool owners = true;      ///< whether each tile of a result is assigned to a GPU, if there is one

  /// Gets all tiles and panels that are compared for a product; null: nobody asks.
  std::vector<ChosenTiles>* compared = nullptr;

  bool has_owners() const noexcept { return owners && gpus > 0; }
  double bytes(Index rows, Index columns) const {
    return element_size * static_cast<double>(rows) * static_cast<double>(columns);
  }
};

}  // namespace tessera::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/types.hpp>

#include "machine/machine_rates.hpp"

namespace tessera::detail {

struct ChosenTiles;

/// What determines the tiles besides the shape of a call: parameters of the machine, and the element type.
struct MachineModel {
  MachineRates rates;
  int cpu_workers = 1;
  int gpus = 0;
  double element_size = 8;
  double flops_per_multiply_add = 2;
  double gpu_memory = 0;   ///< memory of each GPU [bytes]; 0: unknown
  bool gpus_alike = true;  ///< whether all GPUs are of the same kind
  int sharing_cores = 0;   ///< CPU workers that compute tiles alongside the GPUs
  bool copies = true;      ///< whether operands may have to be copied to where they are used
  bool owners = true;      ///< whether each tile of a result is assigned to a GPU, if there are GPUs

  /// If not null, receives all tiles and panels that are compared for a product.
  std::vector<ChosenTiles>* compared = nullptr;

  bool has_owners() const noexcept { return owners && gpus > 0; }
  double bytes(Index rows, Index columns) const {
    return element_size * static_cast<double>(rows) * static_cast<double>(columns);
  }
};

}  // namespace tessera::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/of_type.hpp"
#include "core_share.hpp"
#include "plan.hpp"

/// Shared parts of all plans.
namespace tessera::detail {

/// @param type  letter of the elements: s, d, c or z
inline MachineModel machine_model(const Machine& machine, char type) {
  MachineModel model{.rates = machine_rates(machine, type),
                     .cpu_workers = machine.cpu_workers,
                     .gpus = machine.gpu_count(),
                     .element_size = static_cast<double>(size_of(type)),
                     .flops_per_multiply_add = flops_of_multiply_add(type),
                     .gpu_memory = machine.gpu_memory,
                     .gpus_alike = machine.gpus_alike,
                     .copies = machine.has_copies(),
                     .owners = machine.has_owners()};
  const int cores = static_cast<int>(machine.sharing_cores.size());
  if (model.has_owners() && cores_are_worth_it(model.rates, cores, model.gpus)) model.sharing_cores = cores;
  return model;
}

/// Refuses a requested tile size if a task would not fit into the memory of a GPU, where it would wait forever.
/// @param tiles  bytes of all tiles that a task uses
void require_room(const Machine& machine, double tiles);
/// Does the same for a product of tiles. Tiles at the edges of small matrices are smaller.
void require_room(const Machine& machine, const MachineModel& model, TileExtents tile, Index m, Index n, Index k);

inline Plan with_choice(Plan plan, const ChosenTiles& chosen) {
  plan.seconds = chosen.seconds;
  plan.reason = chosen.reason;
  return plan;
}

/// Completes the plan of a sum.
/// @param tiles  number of tiles of the result that are computed
Plan plan_chosen(const MachineModel& machine, const ChosenTiles& chosen, Index tiles, Index k);

/// The plan in which cores compute a part of the result if that is faster, otherwise the plan without cores.
/// @param planned  (const MachineModel&): the plan on a machine
/// @param least    minimum advantage
template <typename Planned>
Plan with_or_without_cores(MachineModel machine, Planned planned, Advantage least = {}) {
  auto with = planned(machine);
  if (machine.sharing_cores == 0) return with;
  machine.sharing_cores = 0;
  auto without = planned(machine);
  return with.has_cores() && least.is_reached(with.seconds, without.seconds) ? with : without;
}

/// The fraction of a GPU's memory that the tiles of a factorization may fill if all are loaded at the start. The rest
/// is for workspace, and for tiles from other GPUs.
inline constexpr double most_of_memory = 0.8;

}  // namespace tessera::detail

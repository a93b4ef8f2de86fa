// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "devices/cost_curve.hpp"
#include "devices/gpu.hpp"
#include "devices/places.hpp"

/// The description of this machine for the laboratory; docs/laboratory.md explains the format.
namespace tessera::info {

/// The measured time of a product of tiles.
struct MeasuredProduct {
  int n = 0;
  double seconds = 0;
};

/// All GPUs with the same name.
struct MeasuredKind {
  std::string name;
  double memory = 0, memory_rate = 0;                          ///< bytes, and bytes/s
  std::map<char, std::vector<MeasuredProduct>> products = {};  ///< by type, in order of n; always contains d
  device::CostCurve columns = {};                              ///< [s] by bytes, from the host while the GPU computes
};

struct MeasuredMachine {
  std::string conditions;  ///< driver, CUDA and limits of the first GPU
  int cores = 0;
  double core_rate = 0;  ///< double precision [flop/s]
  std::vector<MeasuredKind> kinds;
  std::vector<std::size_t> gpus;      ///< the kind of each GPU
  std::vector<device::Place> places;  ///< the places of the GPUs
  device::gpu::LinkRates links;
};

/// Measures links, memory and products, which takes a few seconds for each GPU.
/// @param gpus  number of GPUs; -1: all
/// @pre no Runtime exists
/// @throws RuntimeError if there is no GPU, or one does not have enough free memory
MeasuredMachine measure_machine(int gpus);

/// The text of the description: JSON with the measured and the assumed values.
std::string machine_file(const MeasuredMachine& machine);

}  // namespace tessera::info

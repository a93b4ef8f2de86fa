// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "tiling/tile_size.hpp"

/// Invented machines for tests of the choice of tiles.
namespace tessera::test {

using detail::ChosenTiles;
using detail::CostCurve;
using detail::MachineModel;
using detail::TriangleOf;

/// Kernel times of double precision products of size n at rates in TFLOP/s.
inline CostCurve curve(std::initializer_list<std::pair<double, double>> rates) {
  std::vector<CostCurve::Point> points;
  for (const auto& [n, tflops] : rates) points.push_back({2 * n * n * n, 2 * n * n * n / (tflops * 1e12)});
  return CostCurve(points);
}

/// A machine with `gpus` GPUs like H200 on PCIe 5: only large tiles run at full speed.
inline MachineModel gpu_machine(int gpus) {
  MachineModel machine;
  machine.rates.cpu = curve({{64, 0.02}, {256, 0.04}});
  machine.rates.gpu = curve({{256, 3.0}, {512, 18.0}, {1024, 48.0}, {2048, 58.0}, {4096, 60.0}});
  machine.rates.link = 55e9;
  machine.rates.column = CostCurve({{4096, 0.134e-6}, {16384, 0.520e-6}, {32768, 0.705e-6}, {65536, 1.215e-6}});
  machine.cpu_workers = 8;
  machine.gpus = gpus;
  return machine;
}

/// A machine with `workers` cores of 40 GFLOP/s.
inline MachineModel cpu_machine(int workers) {
  MachineModel machine;
  machine.rates.cpu = curve({{64, 0.02}, {128, 0.03}, {256, 0.04}});
  machine.cpu_workers = workers;
  return machine;
}

}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "machine/machine_rates.hpp"

namespace tessera::test {

inline machine::Machine machine_with(int cpu_workers, int gpus, Placement placement) {
  machine::Machine machine;
  machine.cpu_workers = cpu_workers;
  for (int gpu = 0; gpu < gpus; gpu++) machine.gpus.push_back(gpu);
  machine.cuda_gpus = gpus;
  machine.placement = placement;
  return machine;
}

/// Times of double precision products of order n, at rates in TFLOP/s.
inline device::CostCurve curve(std::initializer_list<std::pair<double, double>> rates) {
  std::vector<device::CostCurve::Point> points;
  for (const auto& [n, tflops] : rates) points.push_back({2 * n * n * n, 2 * n * n * n / (tflops * 1e12)});
  return device::CostCurve(points);
}

/// Gives GPUs invented rates during the lifetime of this object. Without rates, no tiles would be chosen for them.
class InventedRates {
 public:
  /// @param core  rate of a core [TFLOP/s]
  explicit InventedRates(double core = 0.04)
      : rates_(const_cast<machine::MachineRates&>(machine::machine_rates<double>({}))), before_(rates_) {
    rates_.cpu = curve({{64, core / 2}, {256, core}});
    rates_.gpu = curve({{256, 3.0}, {512, 18.0}, {1024, 48.0}, {2048, 58.0}, {4096, 60.0}});
    rates_.link = 55e9, rates_.memory = 4e12;
  }
  ~InventedRates() { rates_ = before_; }
  /// Makes copies of long columns faster than those of short ones, so that panels are candidates.
  void prefer_long_columns() {
    const device::CostCurve columns({{1 << 10, 1e-7}, {1 << 14, 4e-7}, {1 << 16, 1.2e-6}});
    rates_.columns = {columns, columns};
  }
  /// Makes copies of columns that are close together faster than those of others.
  void prefer_close_columns() {
    const device::CostCurve far({{1 << 10, 1e-6}, {1 << 16, 2e-6}}), close({{1 << 10, 2e-8}, {1 << 16, 1.2e-6}});
    rates_.columns = {far, far}, rates_.close_columns = {close, close};
  }
  void link(double rate) { rates_.link = rate; }
  InventedRates(const InventedRates&) = delete;
  InventedRates& operator=(const InventedRates&) = delete;

 private:
  machine::MachineRates& rates_;
  machine::MachineRates before_;
};

}  // namespace tessera::test

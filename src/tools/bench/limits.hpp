// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "bench/timing.hpp"
#include "workload/found_machine.hpp"
#include "workload/result.hpp"
#include "workload/routine.hpp"

namespace tessera::bench {

/// Upper limits of the machine's rates with all devices busy, measured in this run. Machines of the same model differ
/// by several percent, so rates from other machines cannot be used.
class Limits {
 public:
  /// @param cpus    CPU workers that compute if there are no GPUs; -1: as many as cores
  /// @param memory  where the operands are, which decides what links are measured
  /// @pre   no Runtime exists: nothing else may use the devices
  Limits(const Machine& machine, int cpus, Memory memory, Progress& progress)
      : machine_(machine), cores_(cpus > 0 ? std::min(cpus, machine.cores) : machine.cores), memory_(memory),
        progress_(progress) {}

  /// Measures the rates that `seconds` needs: products of order at most n in GPU memory, and the links that the
  /// operands must cross: those of the host, or those between the first GPU and the others, or none. OpenCL devices are
  /// measured one after another, and their rates are added up.
  void measure(char type, int gpus, Index n);

  /// A lower bound of a call's time: the maximum of the times for its arithmetic, for its compulsory copies to the
  /// GPUs, and for those back to the host. For operands on the first GPU, see `limit_parts_of_first`.
  /// @param beside  rate of the cores that compute beside the GPUs [flop/s]
  double seconds(const Routine& routine, const Problem& problem, int gpus, double beside = 0) const;

  /// The lower bounds by resource, with rates measured under simultaneous load: the arithmetic at the rate that the
  /// power limit allows for a second, and the copies in one direction and in both while all GPUs compute.
  LimitParts parts(const Routine& routine, const Problem& problem, int gpus, double beside = 0) const;
  /// The rates that `parts` uses.
  const DeviceRates& at_once(char type, int gpus) const { return at_once_.at({gpus, type}); }

  /// Total rate of all devices [flop/s]: the GPUs, or the cores if gpus is 0.
  double rate(char type, int gpus) const { return rates_.at({gpus, type}); }
  /// The cores that compute if there are no GPUs.
  int cores() const { return cores_; }
  double rate_of_a_device(char type, int gpus) const { return rate(type, gpus) / (gpus > 0 ? gpus : cores_); }
  /// Total rates of all links that the operands cross, in and out [bytes/s]: from the host to GPUs and back, or from
  /// the first GPU to the others and back. 0: they cross none.
  std::pair<double, double> links(int gpus) const { return links_.at(gpus); }

 private:
  void measure_links(int gpus);
  void measure_host_links(int gpus);
  void measure_links_of_first(int gpus);
  device::gpu::BusyLinks opencl_links(int gpus) const;
  LimitParts parts_by(const DeviceRates& rates, const Routine& routine, const Problem& problem, int gpus) const;

  const Machine& machine_;
  int cores_;
  Memory memory_;
  Progress& progress_;
  std::map<std::pair<int, char>, double> rates_;
  std::map<int, std::pair<double, double>> links_;
  std::map<std::pair<int, char>, DeviceRates> at_once_;
  std::map<int, device::gpu::BusyLinks> busy_links_;
};

}  // namespace tessera::bench

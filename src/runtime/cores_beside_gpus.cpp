// SPDX-License-Identifier: BSD-3-Clause
#include "cores_beside_gpus.hpp"

#include <starpu_config.h>

#include <algorithm>
#include <sstream>

#include "devices/opencl/opencl.hpp"
#include "machine/machine_rates.hpp"

namespace tessera::runtime {

namespace {

#ifdef STARPU_SIMGRID
constexpr bool simulated = true;
#else
constexpr bool simulated = false;
#endif

std::string percent(double part) {
  std::ostringstream text;
  text.precision(2);
  text << 100 * part << " %";
  return text.str();
}

/// Why cores may not compute tiles, whatever their rates; "" if they may.
std::string why_out(const machine::Machine& machine, const RuntimeOptions& options, int cores) {
  if (options.cpus_without_gpus >= 0) return "several processes share the cores";
  if (cores < 1) return "each core drives a GPU";
  if (simulated) return "";
  if (!machine.gpu_info.front().opencl) return "alongside CUDA GPUs they do so only if TESSERA_CPUS asks for it";
  if (device::opencl::counts_processors()) return "the OpenCL devices may be the cores themselves";
  const auto differs = [&](const device::gpu::Info& gpu) { return gpu.name != machine.gpu_info.front().name; };
  if (std::ranges::any_of(machine.gpu_info, differs)) return "the GPUs differ, and only the first is measured";
  return "";
}

}  // namespace

CoresBesideGpus cores_beside_gpus(const machine::Machine& machine, const RuntimeOptions& options) {
  CoresBesideGpus decision;
  if (options.cpus >= 0) {
    decision.workers = options.cpus, decision.reason = "the number of CPU workers was asked for";
    return decision;
  }
  auto known = machine;
  for (const auto& gpu : machine.gpu_info) known.gpus.push_back(gpu.ordinal);
  const int gpus = known.gpu_count(), cores = std::min(machine::core_count() - gpus, STARPU_MAXCPUS);
  if (auto why = why_out(machine, options, cores); !why.empty()) {
    decision.reason = "compute no tiles: " + why;
    return decision;
  }
  const double in_double = machine::relative_rate_of_cores(machine::rates_before_start(known, 'd'), cores, gpus),
               in_single = machine::relative_rate_of_cores(machine::rates_before_start(known, 's'), cores, gpus);
  if (in_double <= 0 || in_single <= 0) {
    decision.reason = "compute no tiles: the rates of the GPUs are not known";
    return decision;
  }
  if (std::max(in_double, in_single) >= machine::least_rate_of_cores) decision.workers = cores;
  decision.reason = std::to_string(cores) + " of them have " + percent(in_double) +
                    " of the rate of the GPUs in double, " + percent(in_single) +
                    " in single precision; they compute tiles from " + percent(machine::least_rate_of_cores) + " on";
  return decision;
}

}  // namespace tessera::runtime

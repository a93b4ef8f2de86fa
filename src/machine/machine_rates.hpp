// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <string>

#include <tessera/types.hpp>

#include "common/of_type.hpp"
#include "devices/cost_curve.hpp"
#include "devices/work.hpp"

namespace tessera::machine {

struct Machine;

/// The rates of this machine for one type. Tessera uses them to choose tiles and to predict costs.
struct MachineRates {
  device::CostCurve cpu;  ///< one core
  device::CostCurve gpu;  ///< one GPU, a CUDA GPU if there is one; empty if there is no GPU
  /// Tasks on the same CUDA GPU, by operation, including StarPU's overhead between tasks.
  std::map<std::string, device::CostCurve> operations;
  device::CostCurve opencl;  ///< one OpenCL device; empty if there is none
  double others = 1;         ///< the mean rate of all GPUs, relative to `gpu`; 0: unknown, because they differ
  double link = 0;           ///< host to one GPU [bytes/s]
  double memory = 0;         ///< bandwidth of the memory of a CUDA GPU [bytes/s]; 0: unknown
  /// Seconds to copy one column of a tile between host and GPU; empty: as fast as `link`.
  struct Columns {
    device::CostCurve idle, computing;  ///< what the GPU does meanwhile
  };
  Columns columns;  ///< of a tile in a large matrix
  /// If the columns of the matrix begin at most `close` bytes apart. On H200s, columns up to 32 KiB apart are close,
  /// but rehearsals of larger calls in tiles are too short if they know that, see traces/h200-notebook.md.
  Columns close_columns;
  static constexpr double close = 1 << 13;
};

/// Measures the first GPU of each kind for all types, unless the rates are known from an earlier session of this
/// process or from Tessera's cache. Takes about half a second.
/// @pre  no task of Tessera runs on the GPU
/// @throws RuntimeError if the GPU does not have enough free memory for the measurement
void measure_gpu_rates(const Machine& machine);

/// Operations whose times do not follow from the rate of products, so they are measured themselves. The factorization
/// of a panel is timed for two panel widths, as a function of its rows. "steps" are trsm and trmm on few columns, as a
/// function of the order of the triangle: its diagonal blocks follow each other, and take as long for fewer columns.
inline constexpr std::array timed_operations{"potrf",
                                             "getrf_nopiv",
                                             "diagonal_blocks",
                                             "trsm",
                                             "trmm",
                                             "trsm_steps",
                                             "trmm_steps",
                                             "getrf 256",
                                             "getrf 1024",
                                             "getrf_beside_updates 256",
                                             "getrf_beside_updates 1024",
                                             "panel_update",
                                             "geqrf 256",
                                             "geqrf 1024",
                                             "larfb"};
/// What only src/plan knows of the operations. A program that is linked without its files has none of it.
struct Planning {
  /// @return  the curves of `timed_operations`
  std::map<std::string, device::CostCurve> (*time_operations)(const Machine& machine, char type) = nullptr;
  /// Makes the costs of tasks known, in a session whose rates are measured.
  void (*set_costs)(const Machine& machine) = nullptr;
};
/// src/plan sets it when the library is loaded.
inline Planning& planning() {
  static Planning functions;
  return functions;
}

/// Adds the times of tasks on the first CUDA GPU to the rates of all types, unless they are known from an earlier
/// session. Takes a few seconds, plus the time that cuSOLVER needs to start.
/// @param may_run  false: nothing is measured
/// @pre  the GPU rates are measured, workers can run tasks, and no task of Tessera runs
void measure_operations(const Machine& machine, bool may_run);

/// The rates for a type. With GPUs, they were measured at the start of the session. Without GPUs, the first call for
/// each type measures a CPU core, which takes a few milliseconds. On a simulated machine, they come from its
/// description.
/// @param type  s, d, c or z
const MachineRates& machine_rates(const Machine& machine, char type);
template <Scalar T>
const MachineRates& machine_rates(const Machine& machine) {
  return machine_rates(machine, type_letter<T>);
}

/// The rates of a machine with OpenCL devices before StarPU starts; the link rates are missing.
/// @param type  s or d
/// @pre  `machine.gpus` and `gpu_info` are known
MachineRates rates_before_start(const Machine& machine, char type);

/// The total rate of all cores, relative to that of all GPUs; 0: unknown.
inline double relative_rate_of_cores(const MachineRates& rates, int cores, int gpus) {
  if (gpus == 0 || rates.gpu.empty() || rates.cpu.empty() || rates.others <= 0) return 0;
  return cores * rates.cpu.best_rate() / (gpus * rates.others * rates.gpu.best_rate());
}
/// The relative rate above which cores compute tiles. Below it, the gain is smaller than the error of the predictions.
inline constexpr double least_rate_of_cores = 0.03;

/// The mean rate of a number of CUDA GPUs and OpenCL devices, relative to `rates.gpu`.
double mean_rate(const MachineRates& rates, int cuda, int opencl);

/// The number of cores that this process may use; a core with two hardware threads counts once.
int core_count();
/// The number of cores that control groups grant the process; -1 if the machine has no more than that.
int granted_cores();

/// Waits until no thread is measuring. Once the exit gate is closed, no thread starts to measure.
void finish_measuring();

}  // namespace tessera::machine

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <string>

#include <tessera/types.hpp>

#include "codelets/codelet.hpp"
#include "cost_curve.hpp"

namespace tessera::detail {

struct Machine;

/// The rates of this machine for one type. Tessera uses them to choose tiles and to predict costs.
struct MachineRates {
  CostCurve cpu;  ///< one core
  CostCurve gpu;  ///< one GPU, of CUDA if there is one; empty if there is none
  /// Tasks of the same GPU of CUDA, by operation, with what StarPU takes from one to the next.
  std::map<std::string, CostCurve> operations;
  CostCurve opencl;   ///< one OpenCL device; empty if there is none
  double others = 1;  ///< the mean rate of all GPUs, relative to `gpu`; 0: not known, since they differ
  double link = 0;    ///< host to one GPU [bytes/s]
  double memory = 0;  ///< of the memory of a GPU of CUDA [bytes/s]; 0: not known
  /// Copying one column of a tile between host and GPU while the GPU computes; empty: as fast as `link`.
  CostCurve column;
  CostCurve idle_column;  ///< the same while the GPU computes nothing
};

/// Measures the first GPU of each kind for all types, unless the rates are known from an earlier session of this
/// process or from Tessera's cache. Takes about half a second.
/// @pre  no task of Tessera runs on the GPU
/// @throws RuntimeError if the GPU has not enough free memory for the measurement
void measure_gpu_rates(const Machine& machine);

/// The operations on one tile that are no products of a few kernels.
inline constexpr std::array timed_operations{"potrf", "getrf_nopiv", "diagonal_blocks", "trsm", "trmm"};
/// @return  the curves of `timed_operations`
using TimeOperations = std::map<std::string, CostCurve> (*)(const Machine& machine, char type);

/// The function that measures them. src/plan/operation_times.cpp sets it, since it knows the operations.
void set_operation_timer(TimeOperations time);

/// Adds tasks of the first GPU of CUDA to the rates of all types, unless they are known from an earlier session. Takes
/// a few seconds, and as long as cuSOLVER needs to start.
/// @param may_run  false: nothing is measured
/// @pre  the rates of GPUs are measured, workers can run tasks, and none of Tessera's runs
void measure_operations(const Machine& machine, bool may_run);

/// The rates for T. With GPUs, they were measured at the start of the session. Without GPUs, the first call for each
/// type measures a CPU core, which takes a few milliseconds. On a simulated machine, they come from its description.
template <Scalar T>
const MachineRates& machine_rates(const Machine& machine);

/// The rates for T of a machine with OpenCL devices, before StarPU starts; without links.
/// @pre  `machine.gpus` and `gpu_info` are known
template <Scalar T>
MachineRates rates_before_start(const Machine& machine);

/// The mean rate of GPUs of CUDA and OpenCL devices, relative to `rates.gpu`.
double mean_rate(const MachineRates& rates, int cuda, int opencl);

/// The cores that this process may use; a core that runs two threads at a time counts once.
int core_count();
/// The same where control groups grant the process the time of fewer cores than there are; -1 elsewhere.
int granted_cores();

/// Waits for a measurement of another thread. Once the exit gate is closed, no other thread begins one.
void finish_measuring();

/// The cost function of the codelets: predicts the seconds of a task from the rates of its type; 0 if these have not
/// been measured. A simulated machine has separate rates for each operation and each GPU.
double expected_seconds(const char* operation, const codelets::Work& work, int worker);

}  // namespace tessera::detail

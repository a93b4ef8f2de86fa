// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <initializer_list>
#include <vector>

/// The tasks of the graphs. They tell StarPU their number of flops, and nothing else about their duration.
namespace graphs {

/// The tasks of the graph, in the order in which they will be submitted.
inline std::vector<starpu_task*> tasks;

/// A codelet for CPU workers and GPUs. In simulated time, its functions are never called.
class Operation {
 public:
  Operation(const char* name, std::initializer_list<starpu_data_access_mode> modes) {
    codelet_.name = name;
    codelet_.cpu_funcs[0] = [](void**, void*) {};
    codelet_.cuda_funcs[0] = [](void**, void*) {};
    for (const auto mode : modes) codelet_.modes[codelet_.nbuffers++] = mode;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Adds a task to the graph.
  void operator()(double flops, std::initializer_list<starpu_data_handle_t> tiles) {
    auto* task = starpu_task_create();
    task->cl = &codelet_;
    task->flops = flops;
    int i = 0;
    for (auto* tile : tiles) task->handles[i++] = tile;
    tasks.push_back(task);
  }

 private:
  starpu_codelet codelet_{};
};

inline Operation gemm{"gemm", {STARPU_R, STARPU_R, STARPU_RW}}, syrk{"syrk", {STARPU_R, STARPU_RW}},
    trsm{"trsm", {STARPU_R, STARPU_RW}}, potrf{"potrf", {STARPU_RW}}, getrf{"getrf_nopiv", {STARPU_RW}};
// The tiles of a QR factorization, with the flop counts of Bouwmeester et al. (2011).
inline Operation geqrt{"geqrt", {STARPU_RW}}, unmqr{"unmqr", {STARPU_R, STARPU_RW}},
    tsqrt{"tsqrt", {STARPU_RW, STARPU_RW}}, tsmqr{"tsmqr", {STARPU_R, STARPU_RW, STARPU_RW}};

}  // namespace graphs

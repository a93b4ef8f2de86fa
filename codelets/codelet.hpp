// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <tessera/types.hpp>

/// What all tile operations share: how a codelet is put together, and what a task of it costs.
namespace tessera::codelets {

/// First member of the arguments of every tile operation: what the performance model needs to know.
struct Work {
  double flops;  ///< real floating-point operations
  char type;     ///< s, d, c or z
};

/// A tile operation: its implementations and its performance model. Lives as long as the process.
struct TileOperation {
  starpu_perfmodel model{};
  starpu_codelet codelet{};

  /// @param name  shown in traces
  /// @param cuda  asynchronous on the worker's stream; null where Tessera is built without CUDA
  TileOperation(const char* name, starpu_cpu_func_t cpu, starpu_cuda_func_t cuda);
};

/// Seconds that `work` takes on one worker. The rates come from whoever knows the machine (src/machine_rates.cpp).
using CostFunction = double (*)(const Work& work, bool gpu);
void set_cost_function(CostFunction function);

/// C ← α op(A) op(B) + β C. Buffers: A, B (read), C (read and write, or write if β = 0).
template <Scalar T>
struct GemmArgs {
  Work work;
  Op op_a, op_b;
  T alpha, beta;
};
template <Scalar T>
starpu_codelet& gemm();

/// C ← β C. Buffers: C (read and write, or write if β = 0).
template <Scalar T>
struct ScaleArgs {
  Work work;
  T beta;
};
template <Scalar T>
starpu_codelet& scale();

/// C ← D + β C, β ≠ 0. Buffers: D (read), C (read and write).
template <Scalar T>
struct AddArgs {
  Work work;
  T beta;
};
template <Scalar T>
starpu_codelet& add();

}  // namespace tessera::codelets

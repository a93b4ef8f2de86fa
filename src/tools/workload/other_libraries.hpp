// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "common/not_copyable.hpp"
#include "devices/gpu.hpp"

struct cublasContext;
struct cublasXtContext;

/// Running other libraries in the same process as Tessera.
namespace tessera::bench {

enum class Inversion;

/// Pauses StarPU's workers during the lifetime of this object, because idle workers poll on their cores.
class PauseWorkers : common::NotCopyable {
 public:
  PauseWorkers();
  ~PauseWorkers();

 private:
  bool paused_ = false;
};

/// Runs OpenBLAS with `threads` threads during the lifetime of this object. StarPU is paused.
class OpenBlas : common::NotCopyable {
 public:
  explicit OpenBlas(int threads);
  ~OpenBlas();

 private:
  PauseWorkers pause_;
  int before_;
};

/// Runs cuBLAS-XT on given GPUs during the lifetime of this object. StarPU is paused.
class CublasXt : common::NotCopyable {
 public:
  /// Whether this program was built with CUDA.
  static bool available();
  /// @param devices  CUDA ordinals
  /// @throws RuntimeError
  explicit CublasXt(std::vector<int> devices);
  ~CublasXt();

  void set_block(Index block);
  cublasXtContext* handle() const noexcept { return handle_; }

 private:
  PauseWorkers pause_;
  cublasXtContext* handle_ = nullptr;
};

/// Runs cuBLAS on one GPU, the calling thread's current device while this object exists. StarPU is paused.
class CuBlas : common::NotCopyable {
 public:
  /// @param device  CUDA ordinal
  /// @throws RuntimeError
  explicit CuBlas(int device);
  ~CuBlas();

  cublasContext* handle() const noexcept { return handle_; }
  /// Waits for the calls. @throws RuntimeError if one failed
  static void wait();

 private:
  PauseWorkers pause_;
  device::gpu::KeepCurrentDevice keep_;
  cublasContext* handle_ = nullptr;
};

/// Runs cuSOLVER on one GPU while this object exists. StarPU is paused. The GPU's memory is kept for the next call.
class CuSolver : common::NotCopyable {
 public:
  /// @param device  CUDA ordinal
  /// @throws RuntimeError
  explicit CuSolver(int device);
  ~CuSolver();

  // Matrices are in the memory of the GPU or in host memory. Copies do not overlap with arithmetic, since cuSOLVER
  // takes whole matrices.

  /// Overwrites a triangle of A (n×n) with its Cholesky factor and, if nrhs > 0, B (n×nrhs) with A⁻¹ B.
  /// @throws RuntimeError if A has no factor
  void factorize(char type, Uplo uplo, Index n, void* A, Index lda, Index nrhs, void* B, Index ldb);
  /// Overwrites A (m×n) with its LU factors and, if nrhs > 0, B with A⁻¹ B. Without pivoting if `pivots` is null.
  /// @throws RuntimeError if A is singular
  void factorize_with_pivots(char type, Index m, Index n, void* A, Index lda, int* pivots, Index nrhs, void* B,
                             Index ldb);
  /// Overwrites A (m×n) with its QR factors and, if nrhs > 0, B (m×nrhs) with the solution of the least squares
  /// problem.
  /// @pre nrhs is 0, or m ≥ n
  void factorize_by_reflectors(char type, Index m, Index n, void* A, Index lda, void* tau, Index nrhs, void* B,
                               Index ldb);
  /// A triangle of A ← its inverse, its product with its adjoint, or the inverse of the matrix whose factor it is.
  /// @pre which is not Getri, which cuSOLVER lacks
  void invert(char type, Inversion which, Uplo uplo, Diag diag, Index n, void* A, Index lda);

 private:
  struct State;
  PauseWorkers pause_;
  std::unique_ptr<State> state_;
};

/// Thrown if cuSOLVERMg does not accept blocks of this size for a call. Its documentation does not list the accepted
/// sizes, and they differ between routines.
class RefusedBlock : public RuntimeError {
  using RuntimeError::RuntimeError;
};

/// Runs cuSOLVERMg on given GPUs while this object exists. StarPU is paused. Their memory is kept for the next call.
class CuSolverMg : common::NotCopyable {
 public:
  /// @param devices  CUDA ordinals
  /// @param block    columns per block, the unit that is distributed over the GPUs
  /// @throws RuntimeError if the library cannot be loaded or started
  CuSolverMg(const std::vector<int>& devices, Index block);
  ~CuSolverMg();

  /// Overwrites the lower triangle of A (n×n, in host memory) with its Cholesky factor. The library supports no upper
  /// triangles.
  /// @throws RuntimeError if A has no factor
  /// @throws RefusedBlock
  void factorize(char type, Index n, void* A, Index lda);
  /// Overwrites A (m×n) with its LU factors.
  /// @throws RuntimeError if A is singular
  /// @throws RefusedBlock
  void factorize_with_pivots(char type, Index m, Index n, void* A, Index lda, int* pivots);

 private:
  struct State;
  PauseWorkers pause_;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <tessera/types.hpp>

#include "common/triangle.hpp"

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

/// Seconds that `work` takes on one worker, by the operation's name. The rates come from whoever knows the machine
/// (src/machine/machine_rates.cpp).
using CostFunction = double (*)(const char* operation, const Work& work, int worker);
void set_cost_function(CostFunction function);

// What each tile operation computes, and its buffers. An output whose factor β is 0 may be passed as STARPU_W, if all
// of it is computed: where only a triangle is, the rest must survive, and the tile is always STARPU_RW.
//
// A triangle of a tile that is higher than wide is what the triangle of its matrix has of it: the diagonal enters in
// the row `first_row`, a square begins there of which the triangle is meant, and with it all that is below it, or above
// it.

/// C ← α op(A) op(B) + β C. Buffers: A, B (read), C.
template <Scalar T>
struct GemmArgs {
  Work work;
  Op op_a, op_b;
  T alpha, beta;
  int first_column = 0;  ///< of op(B): that and those after it are used, as many as C has
};
template <Scalar T>
starpu_codelet& gemm();

/// A triangle of C ← α op(A) op(B) + β C. Buffers: A, B (read), C.
template <Scalar T>
struct GemmtArgs {
  Work work;
  Uplo uplo;
  int first_row;
  Op op_a, op_b;
  T alpha, beta;
};
template <Scalar T>
starpu_codelet& gemmt();

/// C ← α A B + β C or α B A + β C, A symmetric or Hermitian. Buffers: A, B (read), C.
template <Scalar T>
struct SymmArgs {
  Work work;
  Side side;
  Uplo uplo;
  T alpha, beta;
};
template <Scalar T>
starpu_codelet& symm();
template <ComplexScalar T>
starpu_codelet& hemm();

/// A triangle of C ← α op(A) op(A)ᵀ + β C, or with ᴴ; then α and β are real. Buffers: A (read), C.
template <Scalar T>
struct SyrkArgs {
  Work work;
  Uplo uplo;
  int first_row;
  Op op;
  T alpha, beta;
};
template <Scalar T>
starpu_codelet& syrk();
template <ComplexScalar T>
starpu_codelet& herk();

/// A triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, or with ᴴ and ᾱ in the second term; then β is real.
/// Buffers: A, B (read), C.
template <Scalar T>
struct Syr2kArgs {
  Work work;
  Uplo uplo;
  int first_row;
  Op op;
  T alpha, beta;
};
template <Scalar T>
starpu_codelet& syr2k();
template <ComplexScalar T>
starpu_codelet& her2k();

/// B ← α op(A) B or α B op(A); trsm: with the inverse of A. Buffers: A (read), B, and if `blocked` also the result of
/// `diagonal_blocks` for A (read), and a workspace as large as `diagonal_block` rows, or columns, of B (scratch).
template <Scalar T>
struct TriangularArgs {
  Work work;
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  T alpha;
  bool blocked;
};
template <Scalar T>
starpu_codelet& trmm();
template <Scalar T>
starpu_codelet& trsm();

/// D ← the blocks of order `diagonal_block` on the diagonal of a triangular A, one beside the other, as full matrices;
/// before them their inverses, as trsm needs both: then D is twice as wide as A. With them, trmm and trsm on a GPU are
/// products (see triangular_blocks.hpp). For GPUs only. Buffers: A (read), D (write).
inline constexpr int diagonal_block = 256;
template <Scalar T>
struct DiagonalBlocksArgs {
  Work work;
  Uplo uplo;
  Diag diag;
  bool inverse;  ///< for trsm
};
template <Scalar T>
starpu_codelet& diagonal_blocks();

/// C ← β C, or a triangle of it. Buffers: C.
template <Scalar T>
struct ScaleArgs {
  Work work;
  Part part;
  int first_row;
  bool real_diagonal;  ///< of a triangle: the imaginary part of the diagonal becomes 0
  T beta;
};
template <Scalar T>
starpu_codelet& scale();

/// C ← D + β C, β ≠ 0, or a triangle of it. Buffers: D (read), C.
template <Scalar T>
struct AddArgs {
  Work work;
  Part part;
  int first_row;
  T beta;
};
template <Scalar T>
starpu_codelet& add();

}  // namespace tessera::codelets

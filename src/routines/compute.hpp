// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "blas/call.hpp"

/// What overloads.cpp calls, and the file of each routine implements.
namespace tessera::detail {

/// A call on matrices of tiles. Members that the routine does not have keep their default values.
template <Scalar T>
struct TileCall {
  blas::Routine routine;
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
  T alpha{};
  const Matrix<T>* A = nullptr;
  const Matrix<T>* B = nullptr;
  T beta{};
  const Matrix<T>* C = nullptr;  ///< the output; the BLAS calls it B for trmm and trsm
};

// For each routine:
// submit_gemm   checks a call on matrices, except its options, and submits its tasks.
// compute_gemm  computes a legal call on column-major matrices, and returns when the result is in the caller's memory.
#define ROUTINE(name, types, shape, alpha, beta) \
  template <Scalar T>                            \
  void submit_##name(const TileCall<T>& call);   \
  template <Scalar T>                            \
  void compute_##name(const blas::Call& call);
#include "blas/routines.def"
#undef ROUTINE

/// Instantiates both functions for all types of a routine: INSTANTIATE(gemm, SDCZ).
#define INSTANTIATE(name, types) FOR_##types(INSTANTIATE_TYPE, name)
#define INSTANTIATE_TYPE(letter, T, name)             \
  template void submit_##name<T>(const TileCall<T>&); \
  template void compute_##name<T>(const blas::Call&);

/// Computes a column-major call that obeys the rules of the BLAS.
/// @throws ArgumentError if the call does not obey Tessera's own rules, ShapeError if the output overlaps an input
void compute_legal(const blas::Call& call);

/// The value of alpha or beta.
template <Scalar T>
T factor(const void* x, blas::FactorKind kind) {
  if (x == nullptr) return {};  // an empty call may pass null
  return kind == blas::FactorKind::Real ? T(*static_cast<const Real<T>*>(x)) : *static_cast<const T*>(x);
}

}  // namespace tessera::detail

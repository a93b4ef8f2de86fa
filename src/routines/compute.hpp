// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/matrix.hpp>

#include "algorithms/plan.hpp"
#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

namespace tessera::machine {
struct Machine;
}

/// The functions that overloads.cpp calls. Each family of routines implements them in its own file.
namespace tessera::routines {

/// A call on tiled matrices. Members that the routine does not have keep their defaults.
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
  const Matrix<T>* C = nullptr;  ///< the output; trmm and trsm call it B
};

// For each family of routines:
// - submit_product checks a call on matrices, except its options, and submits its tasks.
// - compute_product computes a legal call on column-major matrices with a given plan. It returns when the result is in
//   the caller's memory.
#define FAMILY(name)                                                                                 \
  template <Scalar T>                                                                                \
  void submit_##name(const TileCall<T>& call);                                                       \
  template <Scalar T>                                                                                \
  void compute_##name(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan, \
                      const blas::Call& call);
FAMILY(product)     // gemm and gemmt; gemmt has no plans with panels
FAMILY(symmetric)   // symm and hemm; with panels, A is on the left
FAMILY(update)      // syrk, herk, syr2k and her2k; with panels, their factors are not transposed
FAMILY(triangular)  // trmm and trsm; with panels, A is on the left and not transposed
#undef FAMILY

/// Instantiates both functions for all types.
#define INSTANTIATE_FAMILY(name) FOR_SDCZ(INSTANTIATE_FAMILY_TYPE, name)
#define INSTANTIATE_FAMILY_TYPE(letter, T, name)      \
  template void submit_##name<T>(const TileCall<T>&); \
  template void compute_##name<T>(const std::shared_ptr<detail::Session>&, const algorithms::Plan&, const blas::Call&);

/// The plan of a column-major call whose operands the program does not keep.
algorithms::Plan plan_call(const machine::Machine& machine, const blas::Call& call);

/// The seconds that a legal call is predicted to take, according to the plan of a call of about the same size. If only
/// a part is planned, such as the factorization of a solver, the other flops count as equally fast. 0: nothing to do.
double predicted_seconds(const machine::Machine& machine, const blas::Call& call);
double predicted_seconds(const machine::Machine& machine, const blas::LapackCall& call);

/// Whether a routine is Hermitian instead of symmetric. False for real matrices.
template <Scalar T>
bool is_hermitian(blas::Routine routine) {
  return is_complex<T> && blas::properties(routine).is_hermitian();
}

/// Computes a column-major call that obeys the rules of the BLAS.
/// @throws ArgumentError if the call violates Tessera's own rules, ShapeError if the output overlaps an input
void compute_legal(const blas::Call& call);

/// The values of alpha and beta.
template <Scalar T>
struct Factors {
  T alpha, beta;

  explicit Factors(const blas::Call& call)
      : alpha(value(call.alpha, call.properties().alpha)), beta(value(call.beta, call.properties().beta)) {}

 private:
  static T value(const void* x, blas::FactorKind kind) {
    if (x == nullptr) return {};  // an empty call may pass null
    return kind == blas::FactorKind::Real ? T(*static_cast<const Real<T>*>(x)) : *static_cast<const T*>(x);
  }
};

}  // namespace tessera::routines

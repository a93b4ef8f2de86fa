// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <type_traits>

#include <tessera/types.hpp>

/// The argument shapes of routines.def: the argument list of each, in the order of the BLAS, without a layout.
/// Parameter lists, argument lists and tables all follow from these macros.
///
/// `SHAPE_product(USE, ...)` expands to one of these for each argument, where USE is a prefix that the caller
/// chooses:
///   USE_OPTION(Type, member, name, ...)   Type: Side, Uplo, Op or Diag; member: of blas::Call
///   USE_SIZE(name, ...)                   m, n or k
///   USE_FACTOR(Kind, name, ...)           Kind: Alpha or Beta
///   USE_INPUT(name, ld, ...)              a matrix and its leading dimension
///   USE_OUTPUT(name, ld, ...)             the matrix that is overwritten, always last: members C and ldc of blas::Call
/// All but USE_OUTPUT must end with a comma, or expand to nothing.

/// All shapes.
#define SHAPES(SHAPE) \
  SHAPE(product) SHAPE(triangle_product) SHAPE(symmetric) SHAPE(rank_k) SHAPE(rank_2k) SHAPE(triangular)

// clang-format off

/// C ← α op(A) op(B) + β C
#define SHAPE_product(USE, ...)                                                         \
  USE##_OPTION(Op, op_a, op_a, __VA_ARGS__)                                             \
  USE##_OPTION(Op, op_b, op_b, __VA_ARGS__)                                             \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(k, __VA_ARGS__)      \
  ALPHA_A_B_BETA_C(USE, __VA_ARGS__)

/// One triangle of C ← α op(A) op(B) + β C
#define SHAPE_triangle_product(USE, ...)                                                \
  USE##_OPTION(Uplo, uplo, uplo, __VA_ARGS__)                                           \
  USE##_OPTION(Op, op_a, op_a, __VA_ARGS__)                                             \
  USE##_OPTION(Op, op_b, op_b, __VA_ARGS__)                                             \
  USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(k, __VA_ARGS__)                                 \
  ALPHA_A_B_BETA_C(USE, __VA_ARGS__)

/// C ← α A B + β C  or  α B A + β C, A symmetric or Hermitian
#define SHAPE_symmetric(USE, ...)                                                       \
  USE##_OPTION(Side, side, side, __VA_ARGS__)                                           \
  USE##_OPTION(Uplo, uplo, uplo, __VA_ARGS__)                                           \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__)                                 \
  ALPHA_A_B_BETA_C(USE, __VA_ARGS__)

/// One triangle of C ← α op(A) op(A)ᵀ + β C, or with ᴴ
#define SHAPE_rank_k(USE, ...)                                                          \
  USE##_OPTION(Uplo, uplo, uplo, __VA_ARGS__)                                           \
  USE##_OPTION(Op, op_a, op, __VA_ARGS__)                                               \
  USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(k, __VA_ARGS__)                                 \
  USE##_FACTOR(Alpha, alpha, __VA_ARGS__)                                               \
  USE##_INPUT(A, lda, __VA_ARGS__)                                                      \
  USE##_FACTOR(Beta, beta, __VA_ARGS__)                                                 \
  USE##_OUTPUT(C, ldc, __VA_ARGS__)

/// One triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, or with ᴴ and ᾱ in the second term
#define SHAPE_rank_2k(USE, ...)                                                         \
  USE##_OPTION(Uplo, uplo, uplo, __VA_ARGS__)                                           \
  USE##_OPTION(Op, op_a, op, __VA_ARGS__)                                               \
  USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(k, __VA_ARGS__)                                 \
  ALPHA_A_B_BETA_C(USE, __VA_ARGS__)

/// B ← α op(A) B  or  α B op(A), or with the inverse of A, A triangular
#define SHAPE_triangular(USE, ...)                                                      \
  USE##_OPTION(Side, side, side, __VA_ARGS__)                                           \
  USE##_OPTION(Uplo, uplo, uplo, __VA_ARGS__)                                           \
  USE##_OPTION(Op, op_a, op, __VA_ARGS__)                                               \
  USE##_OPTION(Diag, diag, diag, __VA_ARGS__)                                           \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__)                                 \
  USE##_FACTOR(Alpha, alpha, __VA_ARGS__)                                               \
  USE##_INPUT(A, lda, __VA_ARGS__)                                                      \
  USE##_OUTPUT(B, ldb, __VA_ARGS__)

/// The last arguments of most shapes.
#define ALPHA_A_B_BETA_C(USE, ...)                                                      \
  USE##_FACTOR(Alpha, alpha, __VA_ARGS__)                                               \
  USE##_INPUT(A, lda, __VA_ARGS__)                                                      \
  USE##_INPUT(B, ldb, __VA_ARGS__)                                                      \
  USE##_FACTOR(Beta, beta, __VA_ARGS__)                                                 \
  USE##_OUTPUT(C, ldc, __VA_ARGS__)

// clang-format on

// Passes the arguments on by their names: `function(SHAPE_product(PASS))`.
#define PASS_OPTION(Type, member, name, ...) name,
#define PASS_SIZE(name, ...) name,
#define PASS_FACTOR(Kind, name, ...) name,
#define PASS_INPUT(name, ld, ...) name, ld,
#define PASS_OUTPUT(name, ld, ...) name, ld

// The parameters of a function on matrices M<T>, where alpha and beta have types Alpha and Beta.
#define MATRICES_OPTION(Type, member, name, M, T, Alpha, Beta) Type name,
#define MATRICES_SIZE(name, M, T, Alpha, Beta)
#define MATRICES_FACTOR(Kind, name, M, T, Alpha, Beta) FACTOR_##Kind(Alpha, Beta) name,
#define MATRICES_INPUT(name, ld, M, T, Alpha, Beta) const M<T>&name,
#define MATRICES_OUTPUT(name, ld, M, T, Alpha, Beta) const M<T>& name

// The parameters of a function on pointers to T, with sizes of type Size.
#define POINTERS_OPTION(Type, member, name, Size, T, Alpha, Beta) Type name,
#define POINTERS_SIZE(name, Size, T, Alpha, Beta) Size name,
#define POINTERS_FACTOR(Kind, name, Size, T, Alpha, Beta) FACTOR_##Kind(Alpha, Beta) name,
#define POINTERS_INPUT(name, ld, Size, T, Alpha, Beta) const T *name, Size ld,
#define POINTERS_OUTPUT(name, ld, Size, T, Alpha, Beta) T *name, Size ld

/// Selects the type of a factor by its Kind.
#define FACTOR_Alpha(Alpha, Beta) Alpha
#define FACTOR_Beta(Alpha, Beta) Beta

// One DEFINE(letter, type, ...) for each type that SDCZ or CZ in routines.def stands for.
#define FOR_CZ(DEFINE, ...)                   \
  DEFINE(c, std::complex<float>, __VA_ARGS__) \
  DEFINE(z, std::complex<double>, __VA_ARGS__)
#define FOR_SDCZ(DEFINE, ...)    \
  DEFINE(s, float, __VA_ARGS__)  \
  DEFINE(d, double, __VA_ARGS__) \
  FOR_CZ(DEFINE, __VA_ARGS__)
/// The concept that these types satisfy.
#define CONCEPT_CZ ComplexScalar
#define CONCEPT_SDCZ Scalar
/// Selects the functions for these types from four.
#define OF_CZ(S, D, C, Z) C, Z
#define OF_SDCZ(S, D, C, Z) S, D, C, Z

namespace tessera::blas {

/// The types in which a routine exists, as routines.def names them.
enum class Types { SDCZ, CZ };

template <Scalar T>
constexpr bool exists(Types types) {
  return types == Types::SDCZ || is_complex<T>;
}

// The type of alpha or beta, by its kind in routines.def.
template <Scalar T>
using Full = std::type_identity_t<T>;
using tessera::Real;
template <Scalar T>
using None = T;  ///< for a factor that does not appear in the argument list

}  // namespace tessera::blas

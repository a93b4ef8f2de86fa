// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The argument lists of lapack.def, in the order of LAPACK, without a layout and without info, which is always last.
/// Parameter lists, argument lists and tables all follow from these macros, as in shapes.hpp.
///
/// `LAPACK_factor(USE, ...)` expands to one of these for each argument, where USE stands for a prefix of the caller:
///   USE_OPTION(Type, name, ...)   Type: Uplo, Side, Op or Diag; name: member of blas::LapackCall
///   USE_SIZE(name, ...)           m, n, k or nrhs
///   USE_MATRIX(name, ld, ...)     a matrix and its leading dimension
///   USE_PIVOTS(...)               ipiv
///   USE_TAU(...)                  tau
///   USE_WORK(...)                 work and lwork, which the high-level functions of LAPACKE do not have
/// Each must end with a comma or another operator, or expand to nothing.

// clang-format off

/// All argument lists.
#define LAPACK_LISTS(LIST)                                                              \
  LIST(factor) LIST(triangle) LIST(triangular_system) LIST(definite_system)             \
  LIST(rectangle) LIST(inverse) LIST(factored_system) LIST(system)                      \
  LIST(reflectors) LIST(unitary_product) LIST(unitary_factor) LIST(least_squares)

/// potrf, potri, lauum: a triangle of A
#define LAPACK_factor(USE, ...)                                                         \
  USE##_OPTION(Uplo, uplo, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__)                      \
  USE##_MATRIX(A, lda, __VA_ARGS__)

/// trtri: a triangle of A
#define LAPACK_triangle(USE, ...)                                                       \
  USE##_OPTION(Uplo, uplo, __VA_ARGS__) USE##_OPTION(Diag, diag, __VA_ARGS__)           \
  USE##_SIZE(n, __VA_ARGS__) USE##_MATRIX(A, lda, __VA_ARGS__)

/// trtrs: a triangle of A, and right-hand sides
#define LAPACK_triangular_system(USE, ...)                                              \
  USE##_OPTION(Uplo, uplo, __VA_ARGS__) USE##_OPTION(Op, op, __VA_ARGS__)               \
  USE##_OPTION(Diag, diag, __VA_ARGS__)                                                 \
  USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(nrhs, __VA_ARGS__)                              \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_MATRIX(B, ldb, __VA_ARGS__)

/// potrs, posv: a triangle of A, and right-hand sides
#define LAPACK_definite_system(USE, ...)                                                \
  USE##_OPTION(Uplo, uplo, __VA_ARGS__)                                                 \
  USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(nrhs, __VA_ARGS__)                              \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_MATRIX(B, ldb, __VA_ARGS__)

/// getrf
#define LAPACK_rectangle(USE, ...)                                                      \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__)                                 \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_PIVOTS(__VA_ARGS__)

/// getri
#define LAPACK_inverse(USE, ...)                                                        \
  USE##_SIZE(n, __VA_ARGS__) USE##_MATRIX(A, lda, __VA_ARGS__)                          \
  USE##_PIVOTS(__VA_ARGS__) USE##_WORK(__VA_ARGS__)

/// getrs
#define LAPACK_factored_system(USE, ...)                                                \
  USE##_OPTION(Op, op, __VA_ARGS__) LAPACK_system(USE, __VA_ARGS__)

/// gesv
#define LAPACK_system(USE, ...)                                                         \
  USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(nrhs, __VA_ARGS__)                              \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_PIVOTS(__VA_ARGS__)                           \
  USE##_MATRIX(B, ldb, __VA_ARGS__)

/// geqrf
#define LAPACK_reflectors(USE, ...)                                                     \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__)                                 \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_TAU(__VA_ARGS__) USE##_WORK(__VA_ARGS__)

/// ormqr, unmqr: B is called C in LAPACK
#define LAPACK_unitary_product(USE, ...)                                                \
  USE##_OPTION(Side, side, __VA_ARGS__) USE##_OPTION(Op, op, __VA_ARGS__)               \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(k, __VA_ARGS__)      \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_TAU(__VA_ARGS__)                              \
  USE##_MATRIX(B, ldb, __VA_ARGS__) USE##_WORK(__VA_ARGS__)

/// orgqr, ungqr
#define LAPACK_unitary_factor(USE, ...)                                                 \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(k, __VA_ARGS__)      \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_TAU(__VA_ARGS__) USE##_WORK(__VA_ARGS__)

/// gels
#define LAPACK_least_squares(USE, ...)                                                  \
  USE##_OPTION(Op, op, __VA_ARGS__)                                                     \
  USE##_SIZE(m, __VA_ARGS__) USE##_SIZE(n, __VA_ARGS__) USE##_SIZE(nrhs, __VA_ARGS__)   \
  USE##_MATRIX(A, lda, __VA_ARGS__) USE##_MATRIX(B, ldb, __VA_ARGS__)                   \
  USE##_WORK(__VA_ARGS__)

// clang-format on

// One DEFINE(letter, type, ...) for each type that SD in lapack.def stands for; shapes.hpp has the others.
#define FOR_SD(DEFINE, ...)     \
  DEFINE(s, float, __VA_ARGS__) \
  DEFINE(d, double, __VA_ARGS__)

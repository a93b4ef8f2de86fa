// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "arguments.hpp"

/// One call of a level-3 routine, whatever it came in by: Fortran or CBLAS, 32 or 64 bits. Everything behind the
/// symbols (decision, devices, host BLAS, log) takes it in this form, column-major.
namespace tessera::dropin {

enum class Routine : int {
#define ROUTINE(name, types, shape, alpha, beta) name,
#include "routines.def"
#undef ROUTINE
};

/// The argument shapes of src/routines.def. All have a size n.
enum class Shape { product, triangle_product, symmetric, rank_k, rank_2k, triangular };

/// Whether only a triangle of the result is meant.
constexpr bool has_triangle(Shape shape) {
  return shape == Shape::triangle_product || shape == Shape::rank_k || shape == Shape::rank_2k;
}
constexpr bool has_m(Shape shape) { return !has_triangle(shape); }
constexpr bool has_k(Shape shape) { return shape != Shape::symmetric && shape != Shape::triangular; }

struct Properties {
  const char* name;  ///< "gemm"
  Shape shape;
};
inline constexpr Properties routines[] = {
#define ROUTINE(name, types, shape, alpha, beta) {#name, Shape::shape},
#include "routines.def"
#undef ROUTINE
};
inline constexpr int routine_count = static_cast<int>(std::size(routines));

/// What OpenBLAS takes beyond the standard, and nobody else: a conjugate that is not transposed.
inline constexpr auto conj_no_trans = Op{'R'};

/// Where a table has the type.
constexpr int type_index(char type) { return type == 's' ? 0 : type == 'd' ? 1 : type == 'c' ? 2 : 3; }

struct Call {
  Routine routine;
  char type;  ///< s, d, c, z
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
  Index m = 0, n = 0, k = 0;  ///< those that the routine has
  const void* alpha = nullptr;
  const void* A = nullptr;
  Index lda = 1;
  const void* B = nullptr;
  Index ldb = 1;
  const void* beta = nullptr;
  void* C = nullptr;  ///< what is overwritten: of trmm and trsm the matrix that the BLAS calls B
  Index ldc = 1;

  const Properties& properties() const { return routines[static_cast<int>(routine)]; }
  Shape shape() const { return properties().shape; }
  bool is_complex() const { return type == 'c' || type == 'z'; }
  bool is_hermitian() const {
    return routine == Routine::hemm || routine == Routine::herk || routine == Routine::her2k;
  }
  Index element_size() const { return type == 's' ? 4 : type == 'z' ? 16 : 8; }
  /// Of the matrix that is overwritten; only its triangle `uplo` where the result is one.
  Index rows() const { return has_triangle() ? n : m; }
  bool has_triangle() const { return dropin::has_triangle(shape()); }
};

/// Only OpenBLAS can say whether such a call is legal.
inline bool is_for_openblas(const Call& call) { return call.op_a == conj_no_trans || call.op_b == conj_no_trans; }

/// The first argument that is illegal in the reference BLAS: its position, counted as `xerbla` does, or 0. Null
/// pointers and sizes that only Tessera refuses are not among them.
/// @param row_major  the matrices are as a caller of CBLAS has them: only leading dimensions depend on it
int first_illegal(const Call& call, bool row_major);

/// The same call by columns: what is stored by rows is, by columns, the transpose.
/// @pre  alpha of her2k is conjugated by the caller
Call by_columns(Call call);

/// Real floating-point operations, counted as LAPACK does.
double flops(const Call& call);

/// Bytes of operands that must be read, and of the result that must be written, once each.
struct Traffic {
  double in, out;
};
Traffic traffic(const Call& call);

/// Whether the result depends on what C held before. β is compared by value.
bool reads_result(const Call& call);

}  // namespace tessera::dropin

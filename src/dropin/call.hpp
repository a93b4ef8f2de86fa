// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/types.hpp>

#include "routines/arguments.hpp"

/// One call of a level-3 routine, whatever it came in by: Fortran or CBLAS, 32 or 64 bits. Everything behind the
/// symbols (decision, devices, host BLAS, log) takes it in this form, column-major.
namespace tessera::dropin {

enum class Routine : int {
#define ROUTINE(name, types, shape, alpha, beta) name,
#include "routines/routines.def"
#undef ROUTINE
};

/// The argument shapes of src/routines/routines.def. All have a size n.
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
#include "routines/routines.def"
#undef ROUTINE
};
inline constexpr int routine_count = static_cast<int>(std::size(routines));

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

/// The operands as they are stored, column-major: A, B and what is overwritten. B is empty where there is none.
std::array<arguments::StoredMatrix, 3> matrices(const Call& call);

/// The first argument that is illegal in the reference BLAS: its position, counted as `xerbla` does, or 0. Null
/// pointers and sizes that only Tessera refuses are not among them.
/// @param layout  as a caller of CBLAS has the matrices: only leading dimensions depend on it
int first_illegal(const Call& call, Layout layout);
/// The same, with leading dimensions of 2³¹ and more.
int first_refused(const Call& call, Layout layout);

/// Whether integers of 32 bits can hold all sizes and leading dimensions.
bool fits(const Call& call);

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
/// Whether it depends on A and B. α is compared by value.
bool reads_inputs(const Call& call);

}  // namespace tessera::dropin

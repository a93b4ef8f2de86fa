// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/types.hpp>

#include "blas/arguments.hpp"

/// One call of a level-3 routine. The symbols of Fortran and CBLAS, with integers of 32 or 64 bits, convert their
/// arguments to a column-major Call. Everything behind the symbols (decision, devices, host BLAS, log) uses this form.
namespace tessera::dropin {

enum class Routine : int {
#define ROUTINE(name, types, shape, alpha, beta) name,
#include "routines/routines.def"
#undef ROUTINE
};

/// The argument shapes of src/routines/routines.def. All of them have a size n.
enum class Shape { product, triangle_product, symmetric, rank_k, rank_2k, triangular };

/// Whether the routine writes only a triangle of its result.
constexpr bool has_triangle(Shape shape) {
  return shape == Shape::triangle_product || shape == Shape::rank_k || shape == Shape::rank_2k;
}
constexpr bool has_m(Shape shape) { return !has_triangle(shape); }
constexpr bool has_k(Shape shape) { return shape != Shape::symmetric && shape != Shape::triangular; }

struct Properties {
  const char* name;  ///< without the letter of the type: "gemm"
  Shape shape;
};
inline constexpr Properties routines[] = {
#define ROUTINE(name, types, shape, alpha, beta) {#name, Shape::shape},
#include "routines/routines.def"
#undef ROUTINE
};
inline constexpr int routine_count = static_cast<int>(std::size(routines));

/// The index of a type in a table with an entry for each type.
constexpr int type_index(char type) { return type == 's' ? 0 : type == 'd' ? 1 : type == 'c' ? 2 : 3; }

struct Call {
  Routine routine;
  char type;  ///< s, d, c, z
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
  Index m = 0, n = 0, k = 0;  ///< 0 if the routine does not have this size
  const void* alpha = nullptr;
  const void* A = nullptr;
  Index lda = 1;
  const void* B = nullptr;
  Index ldb = 1;
  const void* beta = nullptr;
  void* C = nullptr;  ///< the matrix that is overwritten; the BLAS calls it B for trmm and trsm
  Index ldc = 1;

  const Properties& properties() const { return routines[static_cast<int>(routine)]; }
  Shape shape() const { return properties().shape; }
  bool is_complex() const { return type == 'c' || type == 'z'; }
  bool is_hermitian() const {
    return routine == Routine::hemm || routine == Routine::herk || routine == Routine::her2k;
  }
  Index element_size() const { return type == 's' ? 4 : type == 'z' ? 16 : 8; }
  /// The number of rows of C.
  Index rows() const { return has_triangle() ? n : m; }
  bool has_triangle() const { return dropin::has_triangle(shape()); }
};

/// The operands A, B and C as they are stored, column-major. B is empty if the routine does not have it.
std::array<arguments::StoredMatrix, 3> matrices(const Call& call);

/// The position of the first argument that is illegal in the reference BLAS, as `xerbla` counts, or 0. Null pointers
/// and sizes that only Tessera refuses count as legal.
/// @param layout  the layout that the program passed to CBLAS; it determines which leading dimensions are legal
int first_illegal(const Call& call, Layout layout);
/// The position of the first argument that Tessera refuses, or 0. In addition to the arguments that are illegal in the
/// reference BLAS, these are sizes beyond Tessera's limits, such as leading dimensions of 2³¹ and more.
int first_refused(const Call& call, Layout layout);

/// Whether all sizes and leading dimensions fit into integers of 32 bits.
bool fits(const Call& call);

/// Converts a row-major call to an equivalent column-major one: a row-major matrix is the transpose of a column-major
/// one. Does not conjugate alpha of her2k; the caller must do that.
Call by_columns(Call call);

/// The number of real floating-point operations, counted as LAPACK does.
double flops(const Call& call);

/// Compulsory bytes: each operand is read once, and the result is written once.
struct Traffic {
  double in, out;
};
Traffic traffic(const Call& call);

/// Whether the result depends on what C held before. β is compared by value.
bool reads_result(const Call& call);
/// Whether the result depends on A and B. α is compared by value.
bool reads_inputs(const Call& call);

}  // namespace tessera::dropin

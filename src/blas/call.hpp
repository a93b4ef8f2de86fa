// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <span>

#include <tessera/types.hpp>

#include "arguments.hpp"
#include "common/not_copyable.hpp"
#include "shapes.hpp"

/// A call of a level-3 routine on pointers, as a value: its meaning, its legality and its cost. The C++ routines, the
/// drop-in, the tools and the tests share this code. It needs neither StarPU nor Tessera's library.
namespace tessera::blas {

enum class Routine : int {
#define ROUTINE(name, types, shape, alpha, beta) name,
#include "routines.def"
#undef ROUTINE
};

#define SHAPE(name) name,
enum class Shape { SHAPES(SHAPE) };
#undef SHAPE

enum class FactorKind { None, Real, Full };

/// A line of routines.def.
struct Properties {
  const char* name;  ///< without the letter of the type: "gemm"
  Types types;
  Shape shape;
  FactorKind alpha, beta;

  /// Whether the routine exists for the type with this letter.
  constexpr bool exists(char type) const { return types == Types::SDCZ || type == 'c' || type == 'z'; }
  /// Distinguishes hemm from symm, herk from syrk, and her2k from syr2k.
  constexpr bool is_hermitian() const { return name[0] == 'h' && name[1] == 'e'; }
};
inline constexpr Properties routines[] = {
#define ROUTINE(name, types, shape, alpha, beta) \
  {#name, Types::types, Shape::shape, FactorKind::alpha, FactorKind::beta},
#include "routines.def"
#undef ROUTINE
};
inline constexpr int routine_count = static_cast<int>(std::size(routines));
constexpr const Properties& properties(Routine routine) { return routines[static_cast<int>(routine)]; }

/// The index of a type in a table with an entry for each type.
constexpr int type_index(char type) { return type == 's' ? 0 : type == 'd' ? 1 : type == 'c' ? 2 : 3; }

/// A member of Call that can appear in an argument list.
enum class Member { side, uplo, op_a, op_b, diag, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc };

/// An argument of a shape, and its name in the BLAS. trmm and trsm call the members C and ldc B and ldb.
struct Parameter {
  Member member;
  const char* name;
};

namespace lists {
#define LIST_OPTION(Type, member, name, ...) {Member::member, #name},
#define LIST_SIZE(name, ...) {Member::name, #name},
#define LIST_FACTOR(Kind, name, ...) {Member::name, #name},
#define LIST_INPUT(name, ld, ...) {Member::name, #name}, {Member::ld, #ld},
#define LIST_OUTPUT(name, ld, ...) \
  {Member::C, #name}, { Member::ldc, #ld }
#define SHAPE(name) inline constexpr Parameter name[] = {SHAPE_##name(LIST)};
SHAPES(SHAPE)
#undef SHAPE
}  // namespace lists
#undef LIST_OPTION
#undef LIST_SIZE
#undef LIST_FACTOR
#undef LIST_INPUT
#undef LIST_OUTPUT

/// The argument list of a shape, excluding the layout.
constexpr std::span<const Parameter> parameters(Shape shape) {
  switch (shape) {
#define SHAPE(name) \
  case Shape::name: return lists::name;
    SHAPES(SHAPE)
#undef SHAPE
  }
  return {};
}

constexpr bool has(Shape shape, Member member) {
  for (const auto& parameter : parameters(shape))
    if (parameter.member == member) return true;
  return false;
}

struct Call {
  Routine routine;
  char type;  ///< s, d, c, z
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans;  ///< the op of A, or the only op of the routine
  Op op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
  Index m = 0, n = 0, k = 0;  ///< 0 if the routine does not have this size
  const void* alpha = nullptr;
  const void* A = nullptr;
  Index lda = 1;
  const void* B = nullptr;
  Index ldb = 1;
  const void* beta = nullptr;
  void* C = nullptr;  ///< the output; trmm and trsm call it B
  Index ldc = 1;
  bool exchanged = false;  ///< whether A is what the program calls B: see ByColumns

  const Properties& properties() const { return blas::properties(routine); }
  const char* name() const { return properties().name; }
  Shape shape() const { return properties().shape; }
  bool is_complex() const { return type == 'c' || type == 'z'; }
  bool is_hermitian() const { return properties().is_hermitian(); }
  Index element_size() const { return type == 's' ? 4 : type == 'z' ? 16 : 8; }
  /// The number of rows of C.
  Index rows() const;
  /// Whether the routine writes only a triangle of C.
  bool has_triangle() const;
  /// The order of the symmetric or triangular A.
  Index order() const { return side == Side::Left ? m : n; }
};

/// The values of op that a routine accepts. ConjTrans is illegal for a symmetric result, Trans for a Hermitian one.
arguments::Ops legal_ops(Routine routine, bool complex);

/// A number of rows or columns: one of the call's sizes, or its order().
enum class Extent { m, n, k, order };
Index extent(const Call& call, Extent which);

/// How a routine uses a matrix X: op(X) is rows×columns. If X is a triangle, the other triangle is neither read nor
/// written.
struct Operand {
  bool exists = false;
  Op op = Op::NoTrans;
  Extent rows = Extent::n, columns = Extent::n;
  bool triangle = false;
};
/// How a routine uses A, B and C.
std::array<Operand, 3> operands(const Call& call);

/// A, B and C as stored. A row-major matrix is described by its transpose, which is column-major. Positions do not
/// count the layout; position 0 means that the routine does not have B.
std::array<arguments::StoredMatrix, 3> matrices(const Call& call, Layout layout = Layout::ColMajor);

/// Which rules a call must obey.
enum class Rules {
  Blas,  ///< the rules of the reference BLAS
  Ours,  ///< Tessera's additional rules: no null pointers to accessed matrices, and sizes within its limits
  All,
};
/// The first illegal argument, ignoring whether matrices are in GPU memory. The position counts as for `xerbla`,
/// without the layout.
/// @pre  the layout is legal; it determines which leading dimensions are legal
arguments::Argument first_illegal(const Call& call, Layout layout, Rules rules);
/// The first illegal option.
arguments::Argument first_illegal_option(const Call& call);

/// Whether all sizes and leading dimensions fit into 32-bit integers.
bool fits(const Call& call);

/// The number of real floating-point operations: one multiplication and one addition for each term of each computed
/// element, and four times as many for complex types. Operations with alpha and beta are not counted. trmm and trsm
/// count half of a product with a full matrix.
double flops(const Call& call);

/// Compulsory bytes: each input operand is read once, and the result is written once.
struct Traffic {
  double in, out;
};
Traffic traffic(const Call& call);

/// Whether the result depends on what C held before. β is compared by value.
bool reads_result(const Call& call);
/// Whether the result depends on A and B. α is compared by value.
bool reads_inputs(const Call& call);

constexpr Uplo opposite(Uplo uplo) { return uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower; }
constexpr Side opposite(Side side) { return side == Side::Left ? Side::Right : Side::Left; }

/// An equivalent call in column-major form. A row-major matrix in memory is its transpose in column-major order, so
/// this call computes the transposed result:
/// - gemm and gemmt: with the operands exchanged (`Call::exchanged`), and for gemmt in the other triangle;
/// - symm, hemm, trmm, trsm: with A on the other side and in the other triangle. op(A) stays, because op(A)ᵀ is op(Aᵀ).
///   For a Hermitian A, Aᵀ is the conjugate of A, which is what the memory holds;
/// - syrk, herk, syr2k, her2k: in the other triangle, with the other op, and for her2k with the conjugate of α.
class ByColumns : common::NotCopyable {
 public:
  ByColumns(const Call& call, Layout layout);
  const Call& call() const { return call_; }

 private:
  Call call_;
  alignas(16) std::byte alpha_[16];  ///< the conjugate of α, if needed
};

}  // namespace tessera::blas

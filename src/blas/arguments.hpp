// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <string>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// Checks of arguments, one per argument shape. Positions are the ones that `xerbla` reports.
namespace tessera::arguments {

/// The host BLAS and cuBLAS take sizes as int: leading dimensions and tile sizes must fit.
inline constexpr Index largest_int = std::numeric_limits<int>::max();

enum class Problem {
  None,
  NotALayout,
  NotASide,
  NotAnUplo,
  NotAnOp,
  NotASymmetricOp,
  NotAHermitianOp,
  NotADiag,
  TooSmall,
  TooLarge,
  Null,
  TooManyBytes,
};

/// The first illegal argument; position 0: there is none.
struct Argument {
  int position = 0;
  const char* name = "";
  Problem problem = Problem::None;
  Index value = 0;
  Index bound = 0;
};

/// The values of Op that a routine accepts.
enum class Ops {
  All,
  Symmetric,  ///< NoTrans and Trans, for complex syrk and syr2k: with a conjugate the result would not be symmetric
  Hermitian,  ///< NoTrans and ConjTrans, for herk and her2k: without a conjugate the result would not be Hermitian
};

constexpr Argument illegal_op(int position, const char* name, Op op, Ops allowed = Ops::All) {
  const bool trans = op == Op::Trans && allowed != Ops::Hermitian;
  const bool conj_trans = op == Op::ConjTrans && allowed != Ops::Symmetric;
  if (op == Op::NoTrans || trans || conj_trans) return {};
  const auto problem = allowed == Ops::All         ? Problem::NotAnOp
                       : allowed == Ops::Symmetric ? Problem::NotASymmetricOp
                                                   : Problem::NotAHermitianOp;
  return {position, name, problem, static_cast<Index>(op), 0};
}
constexpr Argument illegal_side(int position, Side side) {
  if (side == Side::Left || side == Side::Right) return {};
  return {position, "side", Problem::NotASide, static_cast<Index>(side), 0};
}
constexpr Argument illegal_uplo(int position, Uplo uplo) {
  if (uplo == Uplo::Lower || uplo == Uplo::Upper) return {};
  return {position, "uplo", Problem::NotAnUplo, static_cast<Index>(uplo), 0};
}
constexpr Argument illegal_diag(int position, Diag diag) {
  if (diag == Diag::NonUnit || diag == Diag::Unit) return {};
  return {position, "diag", Problem::NotADiag, static_cast<Index>(diag), 0};
}
constexpr Argument illegal_layout(Layout layout) {
  if (layout == Layout::ColMajor || layout == Layout::RowMajor) return {};
  return {1, "layout", Problem::NotALayout, static_cast<Index>(layout), 0};
}
constexpr Argument illegal_size(int position, const char* name, Index size) {
  if (size >= 0) return {};
  return {position, name, Problem::TooSmall, size, 0};
}

constexpr Argument first_of(std::initializer_list<Argument> checks) {
  for (const auto& check : checks)
    if (check.position != 0) return check;
  return {};
}

/// Rows and columns of the stored matrix A whose op(A) is m×n.
constexpr Index stored_rows(Op op, Index m, Index n) { return op == Op::NoTrans ? m : n; }
constexpr Index stored_columns(Op op, Index m, Index n) { return op == Op::NoTrans ? n : m; }

/// True if a column-major matrix of n columns takes more than 2^63 bytes.
constexpr bool too_many_bytes(Index n, Index ld, Index element_size) {
  return ld > 0 && n > std::numeric_limits<Index>::max() / element_size / ld;
}

/// A column-major matrix argument of a pointer routine.
struct StoredMatrix {
  const char* name;
  const char* ld_name;
  int position;
  int ld_position;
  Index m, n, ld;
  const void* data;
  bool used;  ///< false: the routine does not access it, and data may be null
  Index element_size;
};

constexpr Argument illegal_leading_dimension(const StoredMatrix& matrix) {
  const Index smallest = std::max<Index>(1, matrix.m);
  if (matrix.ld < smallest) return {matrix.ld_position, matrix.ld_name, Problem::TooSmall, matrix.ld, smallest};
  if (matrix.ld > largest_int) return {matrix.ld_position, matrix.ld_name, Problem::TooLarge, matrix.ld, largest_int};
  return {};
}

constexpr Argument illegal_memory(const StoredMatrix& matrix) {
  if (matrix.m == 0 || matrix.n == 0 || !matrix.used) return {};
  if (matrix.data == nullptr) return {matrix.position, matrix.name, Problem::Null, 0, 0};
  if (too_many_bytes(matrix.n, matrix.ld, matrix.element_size))
    return {matrix.position, matrix.name, Problem::TooManyBytes, matrix.n, matrix.ld};
  return {};
}

template <std::size_t Count>
constexpr Argument first_illegal_matrix(const std::array<StoredMatrix, Count>& matrices) {
  for (const auto& matrix : matrices)
    if (const auto illegal = illegal_leading_dimension(matrix); illegal.position != 0) return illegal;
  for (const auto& matrix : matrices)
    if (const auto illegal = illegal_memory(matrix); illegal.position != 0) return illegal;
  return {};
}

/// The common part of all calls on pointers. Positions are those of the form without a layout.
struct Call {
  Index element_size = 0;
  bool row_major = false;

  /// The rows×columns matrix at `data` as a column-major matrix: a row-major one is its transpose.
  constexpr StoredMatrix matrix(const char* name, const char* ld_name, int position, Index rows, Index columns,
                                const void* data, Index ld, bool used) const {
    if (row_major) std::swap(rows, columns);
    return {name, ld_name, position, position + 1, rows, columns, ld, data, used, element_size};
  }
};

/// C ← α op(A) op(B) + β C
struct ProductCall : Call {
  Op op_a, op_b;
  Index m, n, k;
  const void* A;
  Index lda;
  const void* B;
  Index ldb;
  const void* C;
  Index ldc;
  bool reads_product;  ///< α ≠ 0
};

/// The matrices of the call, the output last.
constexpr std::array<StoredMatrix, 3> matrices(const ProductCall& c) {
  const bool reads = c.reads_product && c.m > 0 && c.n > 0;
  return {{c.matrix("A", "lda", 7, stored_rows(c.op_a, c.m, c.k), stored_columns(c.op_a, c.m, c.k), c.A, c.lda, reads),
           c.matrix("B", "ldb", 9, stored_rows(c.op_b, c.k, c.n), stored_columns(c.op_b, c.k, c.n), c.B, c.ldb, reads),
           c.matrix("C", "ldc", 12, c.m, c.n, c.C, c.ldc, true)}};
}

constexpr Argument first_illegal(const ProductCall& c) {
  const auto illegal = first_of({illegal_op(1, "op_a", c.op_a), illegal_op(2, "op_b", c.op_b),
                                 illegal_size(3, "m", c.m), illegal_size(4, "n", c.n), illegal_size(5, "k", c.k)});
  return illegal.position != 0 ? illegal : first_illegal_matrix(matrices(c));
}

/// One triangle of C ← α op(A) op(B) + β C
struct TriangleProductCall {
  Uplo uplo;
  ProductCall product;  ///< m = n
};

constexpr std::array<StoredMatrix, 3> matrices(const TriangleProductCall& c) { return matrices(c.product); }

constexpr Argument first_illegal(const TriangleProductCall& c) {
  const auto& p = c.product;
  const auto illegal = first_of({illegal_uplo(1, c.uplo), illegal_op(2, "op_a", p.op_a), illegal_op(3, "op_b", p.op_b),
                                 illegal_size(4, "n", p.n), illegal_size(5, "k", p.k)});
  return illegal.position != 0 ? illegal : first_illegal_matrix(matrices(c));
}

/// C ← α A B + β C  or  α B A + β C, A symmetric or Hermitian
struct SymmetricCall : Call {
  Side side;
  Uplo uplo;
  Index m, n;
  const void* A;
  Index lda;
  const void* B;
  Index ldb;
  const void* C;
  Index ldc;
  bool reads_product;  ///< α ≠ 0
};

/// The matrices of the call, the output last.
constexpr std::array<StoredMatrix, 3> matrices(const SymmetricCall& c) {
  const bool reads = c.reads_product && c.m > 0 && c.n > 0;
  const Index order = c.side == Side::Left ? c.m : c.n;
  return {{c.matrix("A", "lda", 6, order, order, c.A, c.lda, reads),
           c.matrix("B", "ldb", 8, c.m, c.n, c.B, c.ldb, reads), c.matrix("C", "ldc", 11, c.m, c.n, c.C, c.ldc, true)}};
}

constexpr Argument first_illegal(const SymmetricCall& c) {
  const auto illegal = first_of(
      {illegal_side(1, c.side), illegal_uplo(2, c.uplo), illegal_size(3, "m", c.m), illegal_size(4, "n", c.n)});
  return illegal.position != 0 ? illegal : first_illegal_matrix(matrices(c));
}

/// One triangle of C ← α op(A) op(A)ᵀ + β C
struct RankKCall : Call {
  Ops ops;
  Uplo uplo;
  Op op;
  Index n, k;
  const void* A;
  Index lda;
  const void* C;
  Index ldc;
  bool reads_product;  ///< α ≠ 0
};

/// The matrices of the call, the output last.
constexpr std::array<StoredMatrix, 2> matrices(const RankKCall& c) {
  return {{c.matrix("A", "lda", 6, stored_rows(c.op, c.n, c.k), stored_columns(c.op, c.n, c.k), c.A, c.lda,
                    c.reads_product && c.n > 0),
           c.matrix("C", "ldc", 9, c.n, c.n, c.C, c.ldc, true)}};
}

constexpr Argument first_illegal(const RankKCall& c) {
  const auto illegal = first_of({illegal_uplo(1, c.uplo), illegal_op(2, "op", c.op, c.ops), illegal_size(3, "n", c.n),
                                 illegal_size(4, "k", c.k)});
  return illegal.position != 0 ? illegal : first_illegal_matrix(matrices(c));
}

/// One triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C
struct Rank2kCall : Call {
  Ops ops;
  Uplo uplo;
  Op op;
  Index n, k;
  const void* A;
  Index lda;
  const void* B;
  Index ldb;
  const void* C;
  Index ldc;
  bool reads_product;  ///< α ≠ 0
};

/// The matrices of the call, the output last.
constexpr std::array<StoredMatrix, 3> matrices(const Rank2kCall& c) {
  const bool reads = c.reads_product && c.n > 0;
  const Index rows = stored_rows(c.op, c.n, c.k), columns = stored_columns(c.op, c.n, c.k);
  return {{c.matrix("A", "lda", 6, rows, columns, c.A, c.lda, reads),
           c.matrix("B", "ldb", 8, rows, columns, c.B, c.ldb, reads),
           c.matrix("C", "ldc", 11, c.n, c.n, c.C, c.ldc, true)}};
}

constexpr Argument first_illegal(const Rank2kCall& c) {
  const auto illegal = first_of({illegal_uplo(1, c.uplo), illegal_op(2, "op", c.op, c.ops), illegal_size(3, "n", c.n),
                                 illegal_size(4, "k", c.k)});
  return illegal.position != 0 ? illegal : first_illegal_matrix(matrices(c));
}

/// B ← α op(A) B  or  α B op(A), or with the inverse of A, A triangular
struct TriangularCall : Call {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  Index m, n;
  const void* A;
  Index lda;
  const void* B;
  Index ldb;
  bool reads_product;  ///< α ≠ 0
};

/// The matrices of the call, the output last.
constexpr std::array<StoredMatrix, 2> matrices(const TriangularCall& c) {
  const Index order = c.side == Side::Left ? c.m : c.n;
  return {{c.matrix("A", "lda", 8, order, order, c.A, c.lda, c.reads_product && c.m > 0 && c.n > 0),
           c.matrix("B", "ldb", 10, c.m, c.n, c.B, c.ldb, true)}};
}

constexpr Argument first_illegal(const TriangularCall& c) {
  const auto illegal = first_of({illegal_side(1, c.side), illegal_uplo(2, c.uplo), illegal_op(3, "op", c.op),
                                 illegal_diag(4, c.diag), illegal_size(5, "m", c.m), illegal_size(6, "n", c.n)});
  return illegal.position != 0 ? illegal : first_illegal_matrix(matrices(c));
}

/// The problem as a phrase that follows the argument's name: "is -1, must be at least 0".
inline std::string explain(const Argument& a) {
  const auto is = [&](const std::string& problem) { return "is " + std::to_string(a.value) + ", must be " + problem; };
  switch (a.problem) {
  case Problem::None: return "is legal";
  case Problem::NotALayout: return is("ColMajor ('C') or RowMajor ('R')");
  case Problem::NotASide: return is("Left ('L') or Right ('R')");
  case Problem::NotAnUplo: return is("Lower ('L') or Upper ('U')");
  case Problem::NotAnOp: return is("NoTrans ('N'), Trans ('T') or ConjTrans ('C')");
  case Problem::NotASymmetricOp: return is("NoTrans ('N') or Trans ('T'): a complex symmetric update has no conjugate");
  case Problem::NotAHermitianOp: return is("NoTrans ('N') or ConjTrans ('C')");
  case Problem::NotADiag: return is("NonUnit ('N') or Unit ('U')");
  case Problem::TooSmall: return is("at least " + std::to_string(a.bound));
  case Problem::TooLarge: return is("at most " + std::to_string(a.bound));
  case Problem::Null: return "is null, but the matrix is not empty";
  case Problem::TooManyBytes:
    return "has " + std::to_string(a.value) + " columns " + std::to_string(a.bound) +
           " elements apart, more bytes than 2^63";
  }
  return {};
}

/// @throws ArgumentError if the argument is illegal
inline void require_legal(const char* routine, const Argument& a) {
  if (a.position != 0) throw ArgumentError(routine, a.position, a.name, explain(a));
}

}  // namespace tessera::arguments

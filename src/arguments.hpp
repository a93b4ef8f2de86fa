// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// What is an illegal argument, once per argument shape. The positions are those that `xerbla` reports.
namespace tessera::arguments {

/// The BLAS underneath counts in int: leading dimensions and tile sizes must fit.
inline constexpr Index largest_int = std::numeric_limits<int>::max();

enum class Problem { None, NotAnOp, TooSmall, TooLarge, Null, TooManyBytes };

/// The first illegal argument, or position 0.
struct Argument {
  int position = 0;
  const char* name = "";
  Problem problem = Problem::None;
  Index value = 0;
  Index bound = 0;
};

constexpr Argument illegal_op(int position, const char* name, Op op) {
  if (op == Op::NoTrans || op == Op::Trans || op == Op::ConjTrans) return {};
  return {position, name, Problem::NotAnOp, static_cast<Index>(op), 0};
}

/// Rows and columns of the stored matrix whose op is m×n.
constexpr Index stored_rows(Op op, Index m, Index n) { return op == Op::NoTrans ? m : n; }
constexpr Index stored_columns(Op op, Index m, Index n) { return op == Op::NoTrans ? n : m; }

/// True if a column-major matrix of that shape does not fit a 64-bit address space.
constexpr bool too_many_bytes(Index n, Index ld, Index element_size) {
  return ld > 0 && n > std::numeric_limits<Index>::max() / element_size / ld;
}

/// A matrix of a pointer routine. `used`: false if the routine will not touch it, so that null is fine.
struct StoredMatrix {
  const char* name;
  const char* ld_name;
  int position;
  int ld_position;
  Index m, n, ld;
  const void* data;
  bool used;
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

/// C ← α op(A) op(B) + β C
struct ProductCall {
  Op op_a, op_b;
  Index m, n, k;
  const void* A;
  Index lda;
  const void* B;
  Index ldb;
  const void* C;
  Index ldc;
  bool reads_product;  ///< α ≠ 0
  Index element_size;
};

constexpr Argument first_illegal(const ProductCall& c) {
  if (const auto illegal = illegal_op(1, "op_a", c.op_a); illegal.position != 0) return illegal;
  if (const auto illegal = illegal_op(2, "op_b", c.op_b); illegal.position != 0) return illegal;
  if (c.m < 0) return {3, "m", Problem::TooSmall, c.m, 0};
  if (c.n < 0) return {4, "n", Problem::TooSmall, c.n, 0};
  if (c.k < 0) return {5, "k", Problem::TooSmall, c.k, 0};
  const bool reads = c.reads_product && c.m > 0 && c.n > 0;
  const StoredMatrix A{
      "A",   "lda",         7, 8, stored_rows(c.op_a, c.m, c.k), stored_columns(c.op_a, c.m, c.k), c.lda, c.A,
      reads, c.element_size};
  const StoredMatrix B{
      "B",   "ldb",         9, 10, stored_rows(c.op_b, c.k, c.n), stored_columns(c.op_b, c.k, c.n), c.ldb, c.B,
      reads, c.element_size};
  const StoredMatrix C{"C", "ldc", 12, 13, c.m, c.n, c.ldc, c.C, true, c.element_size};
  for (const auto* matrix : {&A, &B, &C})
    if (const auto illegal = illegal_leading_dimension(*matrix); illegal.position != 0) return illegal;
  for (const auto* matrix : {&A, &B, &C})
    if (const auto illegal = illegal_memory(*matrix); illegal.position != 0) return illegal;
  return {};
}

inline std::string explain(const Argument& a) {
  switch (a.problem) {
  case Problem::None: return "is legal";
  case Problem::NotAnOp:
    return "is " + std::to_string(a.value) + ", must be NoTrans ('N'), Trans ('T') or ConjTrans ('C')";
  case Problem::TooSmall: return "is " + std::to_string(a.value) + ", must be at least " + std::to_string(a.bound);
  case Problem::TooLarge: return "is " + std::to_string(a.value) + ", must be at most " + std::to_string(a.bound);
  case Problem::Null: return "is null, but the matrix is not empty";
  case Problem::TooManyBytes:
    return "has " + std::to_string(a.value) + " columns " + std::to_string(a.bound) +
           " elements apart, more bytes than 2^63";
  }
  return {};
}

/// @throws ArgumentError
inline void require_legal(const char* routine, const Argument& a) {
  if (a.position != 0) throw ArgumentError(routine, a.position, a.name, explain(a));
}

}  // namespace tessera::arguments

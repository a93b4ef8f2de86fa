// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "common/device_memory.hpp"

/// Checks of single arguments. Positions count as for `xerbla`.
namespace tessera::blas::arguments {

/// The host BLAS and cuBLAS take sizes as int, so leading dimensions and tile sizes must fit.
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
  OnDevice,
  TooManyBytes,
};

/// The first illegal argument; position 0 means that all are legal.
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
  Symmetric,  ///< NoTrans and Trans, for complex syrk and syr2k: with a conjugate, the result would not be symmetric
  Hermitian,  ///< NoTrans and ConjTrans, for herk and her2k: without a conjugate, the result would not be Hermitian
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
  bool used;  ///< whether the routine accesses the matrix; if not, data may be null
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

/// Checks that the host can access the memory to which an argument points. Null is legal.
inline Argument illegal_for_host(int position, const char* name, const void* data) {
  if (data == nullptr || !common::device_memory::may_exist() || !common::device_memory::gpu_of(data)) return {};
  return {position, name, Problem::OnDevice, 0, 0};
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
  case Problem::OnDevice: return common::device_memory::problem();
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

}  // namespace tessera::blas::arguments

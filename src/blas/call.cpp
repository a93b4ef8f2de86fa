// SPDX-License-Identifier: BSD-3-Clause
#include "call.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <new>
#include <utility>

#include "common/of_type.hpp"

namespace tessera::blas {

namespace {

using arguments::Argument;
using arguments::StoredMatrix;

double number(Index x) { return static_cast<double>(x); }

/// Elements of a triangle of order n, with its diagonal.
double half(Index n) { return number(n) * number(n + 1) / 2; }

/// Whether the scalar x is 0. An empty call may pass a null pointer, which counts as 0.
bool is_zero(const Call& c, const void* x, FactorKind kind) {
  if (x == nullptr) return true;
  return common::with_type(c.type, [&]<Scalar T>(T) {
    return kind == FactorKind::Real ? *static_cast<const Real<T>*>(x) == Real<T>{} : *static_cast<const T*>(x) == T{};
  });
}

/// The argument if it is an illegal option or size; otherwise a legal one.
Argument illegal_option(const Call& c, const Parameter& parameter, int position) {
  using namespace arguments;
  switch (parameter.member) {
  case Member::side: return illegal_side(position, c.side);
  case Member::uplo: return illegal_uplo(position, c.uplo);
  case Member::op_a: return illegal_op(position, parameter.name, c.op_a, legal_ops(c.routine, c.is_complex()));
  case Member::op_b: return illegal_op(position, parameter.name, c.op_b);
  case Member::diag: return illegal_diag(position, c.diag);
  default: return {};
  }
}
Argument illegal_size(const Call& c, const Parameter& parameter, int position) {
  switch (parameter.member) {
  case Member::m: return arguments::illegal_size(position, parameter.name, c.m);
  case Member::n: return arguments::illegal_size(position, parameter.name, c.n);
  case Member::k: return arguments::illegal_size(position, parameter.name, c.k);
  default: return {};
  }
}

/// Whether the memory, read as column-major, holds the transpose of op(X).
bool is_transposed(const Operand& operand, Layout layout) {
  return (operand.op != Op::NoTrans) != (layout == Layout::RowMajor);
}

/// A, B and C as stored.
/// @param reads  whether the routine accesses A and B
std::array<StoredMatrix, 3> stored_matrices(const Call& c, Layout layout, bool reads) {
  const auto all = operands(c);
  const auto stored = [&](int which, const void* data, Index ld, bool used) -> StoredMatrix {
    const auto& operand = all[static_cast<std::size_t>(which)];
    if (!operand.exists) return {"", "", 0, 0, 0, 0, 1, nullptr, false, c.element_size()};
    Index rows = extent(c, operand.rows), columns = extent(c, operand.columns);
    if (is_transposed(operand, layout)) std::swap(rows, columns);
    return {"", "", 0, 0, rows, columns, ld, data, used, c.element_size()};
  };
  std::array result{stored(0, c.A, c.lda, reads), stored(1, c.B, c.ldb, reads), stored(2, c.C, c.ldc, true)};
  int position = 0;
  for (const auto& [member, name] : parameters(c.shape())) {
    position++;
    switch (member) {
    case Member::A: result[0].name = name, result[0].position = position; break;
    case Member::lda: result[0].ld_name = name, result[0].ld_position = position; break;
    case Member::B: result[1].name = name, result[1].position = position; break;
    case Member::ldb: result[1].ld_name = name, result[1].ld_position = position; break;
    case Member::C: result[2].name = name, result[2].position = position; break;
    case Member::ldc: result[2].ld_name = name, result[2].ld_position = position; break;
    default: break;
    }
  }
  return result;
}

/// A fast check whether the call obeys the rules of the BLAS, for small calls of the drop-in, which need no positions.
/// Ignores arguments that the routine does not have.
bool obeys_the_blas(const Call& c, Layout layout) {
  using namespace arguments;
  const auto legal = [](const Argument& argument) { return argument.position == 0; };
  if (!legal(illegal_side(1, c.side)) || !legal(illegal_uplo(1, c.uplo)) || !legal(illegal_diag(1, c.diag)) ||
      !legal(illegal_op(1, "", c.op_a, legal_ops(c.routine, c.is_complex()))) || !legal(illegal_op(1, "", c.op_b)))
    return false;
  if (c.m < 0 || c.n < 0 || c.k < 0) return false;
  const auto [A, B, C] = operands(c);
  const auto fits_ld = [&](const Operand& operand, Index ld) {
    const Extent rows = is_transposed(operand, layout) ? operand.columns : operand.rows;
    return !operand.exists || ld >= std::max<Index>(1, extent(c, rows));
  };
  return fits_ld(A, c.lda) && fits_ld(B, c.ldb) && fits_ld(C, c.ldc);
}

}  // namespace

Index extent(const Call& c, Extent which) {
  switch (which) {
  case Extent::m: return c.m;
  case Extent::n: return c.n;
  case Extent::k: return c.k;
  case Extent::order: return c.order();
  }
  return 0;
}

arguments::Ops legal_ops(Routine routine, bool complex) {
  const auto& known = properties(routine);
  if (known.shape != Shape::rank_k && known.shape != Shape::rank_2k) return arguments::Ops::All;
  if (known.is_hermitian()) return arguments::Ops::Hermitian;
  return complex ? arguments::Ops::Symmetric : arguments::Ops::All;
}

bool Call::has_triangle() const { return operands(*this)[2].triangle; }
Index Call::rows() const { return extent(*this, operands(*this)[2].rows); }

std::array<Operand, 3> operands(const Call& c) {
  constexpr auto m = Extent::m, n = Extent::n, k = Extent::k, order = Extent::order;
  constexpr auto stored = Op::NoTrans;
  constexpr Operand full{true, stored, m, n}, triangle{true, stored, n, n, true},
      square{true, stored, order, order, true};
  switch (c.shape()) {
  case Shape::product: return {{{true, c.op_a, m, k}, {true, c.op_b, k, n}, full}};
  case Shape::triangle_product: return {{{true, c.op_a, n, k}, {true, c.op_b, k, n}, triangle}};
  case Shape::symmetric: return {{square, full, full}};
  case Shape::rank_k: return {{{true, c.op_a, n, k}, {}, triangle}};
  case Shape::rank_2k: return {{{true, c.op_a, n, k}, {true, c.op_a, n, k}, triangle}};
  case Shape::triangular: return {{square, {}, full}};
  }
  return {};
}

std::array<StoredMatrix, 3> matrices(const Call& c, Layout layout) {
  return stored_matrices(c, layout, c.rows() > 0 && c.n > 0 && reads_inputs(c));
}

Argument first_illegal_option(const Call& c) {
  int position = 0;
  for (const auto& parameter : parameters(c.shape()))
    if (const auto illegal = illegal_option(c, parameter, ++position); illegal.position != 0) return illegal;
  return {};
}

Argument first_illegal(const Call& c, Layout layout, Rules rules) {
  using arguments::Problem;
  if (rules == Rules::Blas && obeys_the_blas(c, layout)) return {};
  if (rules != Rules::Ours) {
    int position = 0;
    for (const auto& parameter : parameters(c.shape())) {
      position++;
      if (const auto illegal = illegal_option(c, parameter, position); illegal.position != 0) return illegal;
      if (const auto illegal = illegal_size(c, parameter, position); illegal.position != 0) return illegal;
    }
  }
  for (const auto& matrix : stored_matrices(c, layout, false))  // α of an illegal call may be unreadable
    if (const auto illegal = illegal_leading_dimension(matrix); illegal.position != 0)
      if (rules == Rules::All || (rules == Rules::Ours) == (illegal.problem == Problem::TooLarge)) return illegal;
  if (rules == Rules::Blas) return {};
  for (const auto& matrix : matrices(c, layout))
    if (const auto illegal = illegal_memory(matrix); illegal.position != 0) return illegal;
  return {};
}

bool fits(const Call& c) {
  const auto [least, most] = std::minmax({c.m, c.n, c.k, c.lda, c.ldb, c.ldc});
  return least >= std::numeric_limits<int>::min() && most <= std::numeric_limits<int>::max();
}

double flops(const Call& c) {
  const double m = number(c.m), n = number(c.n), k = number(c.k), order = number(c.order());
  const double multiply_add = c.is_complex() ? 8 : 2;
  switch (c.shape()) {
  case Shape::product: return multiply_add * m * n * k;
  case Shape::triangle_product:
  case Shape::rank_k: return multiply_add * half(c.n) * k;
  case Shape::symmetric: return multiply_add * m * n * order;
  case Shape::rank_2k: return multiply_add * 2 * half(c.n) * k;
  case Shape::triangular: return multiply_add * m * n * order / 2;
  }
  return 0;
}

Traffic traffic(const Call& c) {
  const auto all = operands(c);
  const auto bytes = [&](const Operand& operand) {
    if (!operand.exists) return 0.0;
    const Index rows = extent(c, operand.rows), columns = extent(c, operand.columns);
    return number(c.element_size()) * (operand.triangle ? half(rows) : number(rows) * number(columns));
  };
  const double written = bytes(all[2]);
  return {(reads_inputs(c) ? bytes(all[0]) + bytes(all[1]) : 0) + (reads_result(c) ? written : 0), written};
}

bool reads_result(const Call& c) {
  const auto kind = c.properties().beta;
  return kind == FactorKind::None ? reads_inputs(c) : !is_zero(c, c.beta, kind);
}

bool reads_inputs(const Call& c) {
  const auto kind = c.properties().alpha;
  return kind == FactorKind::None || !is_zero(c, c.alpha, kind);
}

ByColumns::ByColumns(const Call& call, Layout layout) : call_(call) {
  if (layout == Layout::ColMajor) return;
  auto& c = call_;
  switch (c.shape()) {
  case Shape::product:
  case Shape::triangle_product:
    std::swap(c.op_a, c.op_b), std::swap(c.A, c.B), std::swap(c.lda, c.ldb);
    c.exchanged = !c.exchanged;
    if (c.has_triangle()) c.uplo = opposite(c.uplo);
    else std::swap(c.m, c.n);
    break;
  case Shape::symmetric:
  case Shape::triangular: c.side = opposite(c.side), c.uplo = opposite(c.uplo), std::swap(c.m, c.n); break;
  case Shape::rank_k:
  case Shape::rank_2k:
    c.uplo = opposite(c.uplo);
    if (c.op_a != Op::NoTrans) c.op_a = Op::NoTrans;
    else c.op_a = c.is_hermitian() ? Op::ConjTrans : Op::Trans;
    if (c.routine != Routine::her2k || c.alpha == nullptr) break;
    common::with_type(c.type, [&]<Scalar T>(T) {
      if constexpr (is_complex<T>) c.alpha = new (alpha_) T(std::conj(*static_cast<const T*>(c.alpha)));
    });
    break;
  }
}

}  // namespace tessera::blas

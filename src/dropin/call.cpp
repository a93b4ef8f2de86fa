// SPDX-License-Identifier: BSD-3-Clause
#include "call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/of_type.hpp"
#include "routines/flipped.hpp"

namespace tessera::dropin {

namespace {

using namespace arguments;
using detail::flipped;

/// The part of a call of arguments.hpp that all shapes share. The checks of null pointers are off; the host BLAS
/// handles them.
arguments::Call common(const Call& c, Layout layout) { return {c.element_size(), layout == Layout::RowMajor}; }

ProductCall product(const Call& c, Layout layout) {
  return {common(c, layout), c.op_a, c.op_b, c.m, c.n, c.k, c.A, c.lda, c.B, c.ldb, c.C, c.ldc, false};
}

Ops allowed(const Call& c) {
  if (c.is_hermitian()) return Ops::Hermitian;
  return c.is_complex() ? Ops::Symmetric : Ops::All;
}

/// Calls `function` with the same call as a struct of arguments.hpp.
template <typename Function>
auto with_shape(const Call& c, Layout layout, Function function) {
  const auto base = common(c, layout);
  switch (c.shape()) {
  case Shape::product: break;
  case Shape::triangle_product: {
    auto square = product(c, layout);
    square.m = c.n;
    return function(TriangleProductCall{c.uplo, square});
  }
  case Shape::symmetric:
    return function(SymmetricCall{base, c.side, c.uplo, c.m, c.n, c.A, c.lda, c.B, c.ldb, c.C, c.ldc, false});
  case Shape::rank_k:
    return function(RankKCall{base, allowed(c), c.uplo, c.op_a, c.n, c.k, c.A, c.lda, c.C, c.ldc, false});
  case Shape::rank_2k:
    return function(Rank2kCall{base, allowed(c), c.uplo, c.op_a, c.n, c.k, c.A, c.lda, c.B, c.ldb, c.C, c.ldc, false});
  case Shape::triangular:
    return function(TriangularCall{base, c.side, c.uplo, c.op_a, c.diag, c.m, c.n, c.A, c.lda, c.C, c.ldc, false});
  }
  return function(product(c, layout));
}

/// Whether the scalar x is 0. Null, which an empty call may pass, counts as 0.
/// @param real  x is real although the call is complex: alpha and beta of herk, beta of her2k
bool is_zero(const Call& c, const void* x, bool real) {
  if (x == nullptr) return true;
  return with_type(c.type, [&]<Scalar T>(T) {
    return real ? *static_cast<const Real<T>*>(x) == Real<T>{} : *static_cast<const T*>(x) == T{};
  });
}

}  // namespace

std::array<StoredMatrix, 3> matrices(const Call& call) {
  return with_shape(call, Layout::ColMajor, [](const auto& typed) -> std::array<StoredMatrix, 3> {
    const auto all = arguments::matrices(typed);
    if constexpr (all.size() == 3) return all;
    else return {all[0], {}, all[1]};
  });
}

int first_illegal(const Call& call, Layout layout) {
  return with_shape(call, layout, [](const auto& typed) {
    const auto illegal = arguments::first_illegal(typed);
    if (illegal.problem == Problem::Null || illegal.problem == Problem::TooManyBytes) return 0;
    if (illegal.problem != Problem::TooLarge) return illegal.position;
    for (const auto& matrix : arguments::matrices(typed))  // all arguments before the leading dimensions are legal
      if (matrix.ld < std::max<Index>(1, matrix.m)) return matrix.ld_position;
    return 0;
  });
}

int first_refused(const Call& call, Layout layout) {
  return with_shape(call, layout, [](const auto& typed) { return arguments::first_illegal(typed).position; });
}

bool fits(const Call& c) {
  const auto [least, most] = std::minmax({c.m, c.n, c.k, c.lda, c.ldb, c.ldc});
  return least >= std::numeric_limits<int>::min() && most <= std::numeric_limits<int>::max();
}

Call by_columns(Call c) {
  switch (c.shape()) {
  case Shape::product:
  case Shape::triangle_product:
    std::swap(c.op_a, c.op_b), std::swap(c.A, c.B), std::swap(c.lda, c.ldb);
    if (has_m(c.shape())) std::swap(c.m, c.n);
    else c.uplo = flipped(c.uplo);
    break;
  case Shape::symmetric:
  case Shape::triangular: c.side = flipped(c.side), c.uplo = flipped(c.uplo), std::swap(c.m, c.n); break;
  case Shape::rank_k:
  case Shape::rank_2k:
    c.uplo = flipped(c.uplo);
    if (c.op_a != Op::NoTrans) c.op_a = Op::NoTrans;
    else c.op_a = c.is_hermitian() ? Op::ConjTrans : Op::Trans;
    break;
  }
  return c;
}

double flops(const Call& c) {
  const double m = static_cast<double>(c.m), n = static_cast<double>(c.n), k = static_cast<double>(c.k);
  const double order = c.side == Side::Left ? m : n;
  const double multiply_add = c.is_complex() ? 8 : 2;
  switch (c.shape()) {
  case Shape::product: return multiply_add * m * n * k;
  case Shape::triangle_product: return multiply_add * n * n * k / 2;
  case Shape::symmetric: return multiply_add * m * n * order;
  case Shape::rank_k: return multiply_add * n * n * k / 2;
  case Shape::rank_2k: return multiply_add * n * n * k;
  case Shape::triangular: return multiply_add * m * n * order / 2;
  }
  return 0;
}

Traffic traffic(const Call& c) {
  const double m = static_cast<double>(c.m), n = static_cast<double>(c.n), k = static_cast<double>(c.k);
  const double order = c.side == Side::Left ? m : n, size = static_cast<double>(c.element_size());
  const double written = size * (c.has_triangle() ? n * n / 2 : m * n);
  double read = reads_result(c) ? written : 0;
  switch (c.shape()) {
  case Shape::product: read += size * (m * k + k * n); break;
  case Shape::triangle_product:
  case Shape::rank_2k: read += size * 2 * n * k; break;
  case Shape::symmetric: read += size * (order * order / 2 + m * n); break;
  case Shape::rank_k: read += size * n * k; break;
  case Shape::triangular: read += size * order * order / 2; break;
  }
  return {read, written};
}

bool reads_result(const Call& c) {
  if (c.shape() == Shape::triangular) return !is_zero(c, c.alpha, false);
  const bool real = c.routine == Routine::herk || c.routine == Routine::her2k;
  return !is_zero(c, c.beta, real);
}

bool reads_inputs(const Call& c) { return !is_zero(c, c.alpha, c.routine == Routine::herk); }

}  // namespace tessera::dropin

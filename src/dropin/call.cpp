// SPDX-License-Identifier: BSD-3-Clause
#include "call.hpp"

#include <utility>

#include "codelets/of_type.hpp"
#include "flipped.hpp"

namespace tessera::dropin {

namespace {

using namespace arguments;
using detail::flipped;

/// What `first_illegal` of arguments.hpp takes. Whether memory is read does not matter here: null is the host's affair.
arguments::Call common(const Call& c, bool row_major) { return {c.element_size(), row_major}; }

ProductCall product(const Call& c, bool row_major) {
  return {common(c, row_major), c.op_a, c.op_b, c.m, c.n, c.k, c.A, c.lda, c.B, c.ldb, c.C, c.ldc, false};
}

Ops allowed(const Call& c) {
  if (c.is_hermitian()) return Ops::Hermitian;
  return c.is_complex() ? Ops::Symmetric : Ops::All;
}

Argument check(const Call& c, bool row_major) {
  switch (c.shape()) {
  case Shape::product: return arguments::first_illegal(product(c, row_major));
  case Shape::triangle_product: {
    auto square = product(c, row_major);
    square.m = c.n;
    return arguments::first_illegal(TriangleProductCall{c.uplo, square});
  }
  case Shape::symmetric:
    return arguments::first_illegal(
        SymmetricCall{common(c, row_major), c.side, c.uplo, c.m, c.n, c.A, c.lda, c.B, c.ldb, c.C, c.ldc, false});
  case Shape::rank_k:
    return arguments::first_illegal(
        RankKCall{common(c, row_major), allowed(c), c.uplo, c.op_a, c.n, c.k, c.A, c.lda, c.C, c.ldc, false});
  case Shape::rank_2k:
    return arguments::first_illegal(Rank2kCall{common(c, row_major), allowed(c), c.uplo, c.op_a, c.n, c.k, c.A, c.lda,
                                               c.B, c.ldb, c.C, c.ldc, false});
  case Shape::triangular:
    return arguments::first_illegal(
        TriangularCall{common(c, row_major), c.side, c.uplo, c.op_a, c.diag, c.m, c.n, c.A, c.lda, c.C, c.ldc, false});
  }
  return {};
}

/// @param real  herk's alpha and beta, and her2k's beta
bool is_zero(const Call& c, const void* x, bool real) {
  return with_type(c.type, [&]<Scalar T>(T) {
    return real ? *static_cast<const Real<T>*>(x) == Real<T>{} : *static_cast<const T*>(x) == T{};
  });
}

}  // namespace

int first_illegal(const Call& call, bool row_major) {
  const auto illegal = check(call, row_major);
  switch (illegal.problem) {
  case Problem::TooLarge:
  case Problem::Null:
  case Problem::TooManyBytes: return 0;
  default: return illegal.position;
  }
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
    if (c.op_a == conj_no_trans)
      c.op_a = c.is_complex() ? c.op_a : Op::Trans;  // for the host: of complex numbers, illegal
    else if (c.op_a != Op::NoTrans) c.op_a = Op::NoTrans;
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

}  // namespace tessera::dropin

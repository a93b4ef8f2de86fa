// SPDX-License-Identifier: BSD-3-Clause
#include "lapack_call.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace tessera::blas {

namespace {

double to_double(Index x) { return static_cast<double>(x); }

/// The names of the arguments of each list, without a layout and info.
namespace names {
#define NAME_OPTION(Type, name, ...) #name,
#define NAME_SIZE(name, ...) #name,
#define NAME_MATRIX(name, ld, ...) #name, #ld,
#define NAME_PIVOTS(...) "ipiv",
#define NAME_TAU(...) "tau",
#define NAME_WORK(...) "work", "lwork",
#define LIST(list) constexpr const char* list[] = {LAPACK_##list(NAME, )};
LAPACK_LISTS(LIST)
#undef LIST
}  // namespace names

std::span<const char* const> arguments(LapackArguments list) {
  switch (list) {
#define LIST(name) \
  case LapackArguments::name: return names::name;
    LAPACK_LISTS(LIST)
#undef LIST
  }
  return {};
}

bool is_legal_uplo(const LapackCall& c) { return c.uplo == Uplo::Lower || c.uplo == Uplo::Upper; }
bool is_legal_side(const LapackCall& c) { return c.side == Side::Left || c.side == Side::Right; }
bool multiplies_by_q(const LapackCall& c) { return c.properties().arguments == LapackArguments::unitary_product; }
bool generates_q(const LapackCall& c) { return c.properties().arguments == LapackArguments::unitary_factor; }
/// For a unitary factor, only one kind of transpose is legal: Trans for real matrices, ConjTrans for complex ones.
bool is_legal_op(const LapackCall& c) {
  const bool unitary = multiplies_by_q(c) || c.routine == LapackRoutine::gels;
  const bool trans = c.op == Op::Trans && !(unitary && c.is_complex()),
             conj_trans = c.op == Op::ConjTrans && !(unitary && !c.is_complex());
  return c.op == Op::NoTrans || trans || conj_trans;
}
bool is_legal_diag(const LapackCall& c) { return c.diag == Diag::NonUnit || c.diag == Diag::Unit; }
bool is_legal_n(const LapackCall& c) { return c.n >= 0 && (!generates_q(c) || c.n <= c.m); }
bool is_legal_k(const LapackCall& c) {
  return c.k >= 0 && (!generates_q(c) || c.k <= c.n) && (!multiplies_by_q(c) || c.k <= c.rows());
}
Index least_lda(const LapackCall& c) { return std::max<Index>(1, c.by_rows() ? c.columns() : c.rows()); }
Index least_ldb(const LapackCall& c) { return std::max<Index>(1, c.by_rows() ? c.right_columns() : c.right_rows()); }
bool is_legal_lwork(const LapackCall& c) {
  if (!c.properties().has_work()) return true;
  const Index order = std::min(c.m, c.n);
  const Index least = c.routine == LapackRoutine::gels              ? order + std::max(order, c.nrhs)
                      : multiplies_by_q(c) && c.side == Side::Right ? c.m
                                                                    : c.n;
  return c.lwork >= std::max<Index>(1, least);
}

bool is_legal_argument(const LapackCall& c, std::string_view name) {
  if (name == "uplo") return is_legal_uplo(c);
  if (name == "side") return is_legal_side(c);
  if (name == "op") return is_legal_op(c);
  if (name == "diag") return is_legal_diag(c);
  if (name == "m") return c.m >= 0;
  if (name == "n") return is_legal_n(c);
  if (name == "k") return is_legal_k(c);
  if (name == "nrhs") return c.nrhs >= 0;
  if (name == "lda") return c.lda >= least_lda(c);
  if (name == "ldb") return c.ldb >= least_ldb(c);
  if (name == "lwork") return is_legal_lwork(c) || c.lwork == -1;
  return true;
}

}  // namespace

Index LapackCall::rows() const {
  switch (properties().arguments) {
  case LapackArguments::rectangle:
  case LapackArguments::reflectors:
  case LapackArguments::unitary_factor:
  case LapackArguments::least_squares: return m;
  case LapackArguments::unitary_product: return side == Side::Left ? m : n;
  default: return n;
  }
}
Index LapackCall::columns() const { return properties().arguments == LapackArguments::unitary_product ? k : n; }
Index LapackCall::right_rows() const {
  const auto list = properties().arguments;
  return list == LapackArguments::unitary_product ? m : list == LapackArguments::least_squares ? std::max(m, n) : n;
}
Index LapackCall::right_columns() const {
  return properties().arguments == LapackArguments::unitary_product ? n : nrhs;
}

double StoredOperand::elements() const {
  return triangle ? to_double(n) * to_double(n + 1) / 2 : to_double(m) * to_double(n);
}

std::array<StoredOperand, 2> operands(const LapackCall& c) {
  const auto& known = c.properties();
  StoredOperand A{c.A, c.rows(), c.columns(), c.lda, {}, known.matrix}, B;
  if (known.has_triangle()) A.triangle = c.by_rows() ? opposite(c.uplo) : c.uplo;
  if (known.has_right_sides()) B = {c.B, c.right_rows(), c.right_columns(), c.ldb, {}, Use::Overwritten};
  if (c.by_rows()) std::swap(A.m, A.n), std::swap(B.m, B.n);
  return {A, B};
}

bool is_legal(const LapackCall& c) {
  return is_legal_uplo(c) && is_legal_side(c) && is_legal_op(c) && is_legal_diag(c) && c.m >= 0 && is_legal_n(c) &&
         is_legal_k(c) && c.nrhs >= 0 && c.lda >= least_lda(c) &&
         (!c.properties().has_right_sides() || c.ldb >= least_ldb(c)) && is_legal_lwork(c);
}

int first_illegal(const LapackCall& c) {
  int position = 0;
  for (const char* name : arguments(c.properties().arguments)) {
    position++;
    if (!is_legal_argument(c, name)) return position;
  }
  return 0;
}

int position_of(const LapackCall& c, const char* argument) {
  int position = 0;
  for (const char* name : arguments(c.properties().arguments)) {
    position++;
    if (std::string_view(name) == argument) return position;
  }
  return 0;
}

bool fits(const LapackCall& c) {
  const auto [least, most] = std::minmax({c.m, c.n, c.k, c.nrhs, c.lda, c.ldb});
  return least >= std::numeric_limits<int>::min() && most <= std::numeric_limits<int>::max();
}

double flops(const LapackCall& c) {
  const double m = to_double(c.rows()), n = to_double(c.n), k = std::min(m, n);
  const double cube = n * n * n, lu = 2 * m * n * k - (m + n) * k * k + 2.0 / 3 * k * k * k,
               solves = 2 * n * n * to_double(c.nrhs);
  const double large = std::max(m, n), qr = 2 * k * k * (large - k / 3), reflectors = to_double(c.k),
               order = to_double(c.rows());
  const auto real = [&] {
    switch (c.routine) {
    case LapackRoutine::potrf:
    case LapackRoutine::lauum:
    case LapackRoutine::trtri: return cube / 3;
    case LapackRoutine::potri: return 2 * cube / 3;
    case LapackRoutine::trtrs: return solves / 2;
    case LapackRoutine::potrs:
    case LapackRoutine::getrs: return solves;
    case LapackRoutine::posv: return cube / 3 + solves;
    case LapackRoutine::getrf: return lu;
    case LapackRoutine::getri: return 4 * cube / 3;
    case LapackRoutine::gesv: return lu + solves;
    case LapackRoutine::geqrf: return qr;
    case LapackRoutine::ormqr:
    case LapackRoutine::unmqr:
      return 2 * reflectors * (2 * order - reflectors) * (c.side == Side::Left ? to_double(c.n) : to_double(c.m));
    case LapackRoutine::orgqr:
    case LapackRoutine::ungqr:
      return reflectors * (4 * m * n - 2 * (m + n) * reflectors + 4.0 / 3 * reflectors * reflectors);
    case LapackRoutine::gels: return to_double(c.nrhs) > 0 ? qr + to_double(c.nrhs) * k * (4 * large - k) : 0;
    }
    return 0.0;
  };
  return (c.is_complex() ? 4 : 1) * real();
}

Traffic traffic(const LapackCall& c) {
  Traffic sum{};
  for (const auto& operand : operands(c)) {
    if (operand.use == Use::None) continue;
    const double bytes = operand.elements() * to_double(c.element_size());
    sum.in += bytes;
    if (operand.use == Use::Overwritten) sum.out += bytes;
  }
  return sum;
}

}  // namespace tessera::blas

// SPDX-License-Identifier: BSD-3-Clause
#include "lapack_call.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace tessera::blas {

namespace {

using arguments::Argument, arguments::Problem;

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

std::span<const char* const> argument_names(LapackArguments list) {
  switch (list) {
#define LIST(name) \
  case LapackArguments::name: return names::name;
    LAPACK_LISTS(LIST)
#undef LIST
  }
  return {};
}

/// The legal values of op. For a unitary factor, only one kind of transpose is legal: Trans for real matrices,
/// ConjTrans for complex ones.
arguments::Ops legal_ops(const LapackCall& c, Rules rules) {
  using arguments::Ops;
  const bool unitary = c.properties().arguments == LapackArguments::unitary_product || c.routine == LapackRoutine::gels;
  if (!unitary) return Ops::All;
  return c.is_complex() ? Ops::Hermitian : rules == Rules::Blas ? Ops::Symmetric : Ops::All;
}

/// The largest legal value of a size.
Index most(const LapackCall& c, Index LapackCall::*size) {
  const auto list = c.properties().arguments;
  if (list == LapackArguments::unitary_factor && size == &LapackCall::n) return c.m;
  if (list == LapackArguments::unitary_factor && size == &LapackCall::k) return c.n;
  if (list == LapackArguments::unitary_product && size == &LapackCall::k) return c.rows();
  return std::numeric_limits<Index>::max();
}

Index least_work(const LapackCall& c) {
  const bool from_right = c.properties().arguments == LapackArguments::unitary_product && c.side == Side::Right;
  const Index order = std::min(c.m, c.n), least = from_right ? c.m : c.n;
  return std::max<Index>(1, c.routine == LapackRoutine::gels ? order + std::max(order, c.nrhs) : least);
}

/// Checks the arguments of a call, one after the other. Each function returns whether its argument is illegal.
class Check {
 public:
  Check(const LapackCall& call, Rules rules) : c_(call), rules_(rules) {}

  bool option(Uplo uplo) { return found(arguments::illegal_uplo(++position_, uplo)); }
  bool option(Side side) { return found(arguments::illegal_side(++position_, side)); }
  bool option(Diag diag) { return found(arguments::illegal_diag(++position_, diag)); }
  bool option(Op op) { return found(arguments::illegal_op(++position_, "op", op, legal_ops(c_, rules_))); }
  bool size(const char* name, Index LapackCall::*size) {
    const Index value = c_.*size, largest = most(c_, size);
    if (found(arguments::illegal_size(++position_, name, value))) return true;
    return value > largest && found({position_, name, Problem::TooLarge, value, largest});
  }
  bool leading_dimension(const StoredOperand& x) {
    position_ += 2;
    const auto illegal = arguments::illegal_leading_dimension(
        {x.name, x.ld_name, position_ - 1, position_, x.m, x.n, x.ld, nullptr, false, c_.element_size()});
    return (rules_ != Rules::Blas || illegal.problem != Problem::TooLarge) && found(illegal);
  }
  bool pivots() { return c_.pivoted && tau(); }
  bool tau() { return position_++, false; }
  bool work() {
    position_ += 2;
    const Index least = least_work(c_);
    return c_.lwork < least && c_.lwork != -1 && found({position_, "lwork", Problem::TooSmall, c_.lwork, least});
  }

  const Argument& illegal() const { return illegal_; }

 private:
  bool found(const Argument& argument) {
    if (argument.position != 0) illegal_ = argument;
    return argument.position != 0;
  }

  const LapackCall& c_;
  Rules rules_;
  int position_ = 0;
  Argument illegal_;
};

/// Whether the routine accesses A, its pivots and its scalar factors. Some routines need them only for B.
bool uses_a(const LapackCall& c) {
  const bool only_for_b = c.properties().matrix == Use::Read || c.routine == LapackRoutine::gels;
  const bool finds_zeros = c.routine == LapackRoutine::trtrs && c.diag == Diag::NonUnit;
  return !only_for_b || finds_zeros || (c.right_rows() > 0 && c.right_columns() > 0);
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
  StoredOperand A{c.A, c.rows(), c.columns(), c.lda, {}, known.matrix, "A", "lda"}, B;
  if (known.has_triangle()) A.triangle = c.by_rows() ? opposite(c.uplo) : c.uplo;
  if (known.has_right_sides()) B = {c.B, c.right_rows(), c.right_columns(), c.ldb, {}, Use::Overwritten, "B", "ldb"};
  if (known.arguments == LapackArguments::unitary_product) B.name = "C", B.ld_name = "ldc";
  if (c.by_rows()) std::swap(A.m, A.n), std::swap(B.m, B.n);
  return {A, B};
}

std::array<arguments::StoredMatrix, 2> matrices(const LapackCall& c) {
  const auto [A, B] = operands(c);
  const auto stored = [&](const char* argument, const StoredOperand& x, bool used) -> arguments::StoredMatrix {
    const int at = position_of(c, argument);
    return {x.name, x.ld_name, at, at + 1, x.m, x.n, x.ld, x.data, used, c.element_size()};
  };
  return {stored("A", A, uses_a(c)), stored("B", B, B.use != Use::None)};
}

Argument first_illegal(const LapackCall& c, Rules rules) {
  const auto [A, B] = operands(c);
  Check check(c, rules);
#define CHECK_OPTION(Type, name, ...) check.option(c.name) ||
#define CHECK_SIZE(name, ...) check.size(#name, &LapackCall::name) ||
#define CHECK_MATRIX(name, ...) check.leading_dimension(name) ||
#define CHECK_PIVOTS(...) check.pivots() ||
#define CHECK_TAU(...) check.tau() ||
#define CHECK_WORK(...) check.work() ||
  switch (c.properties().arguments) {
#define LIST(name) \
  case LapackArguments::name: return LAPACK_##name(CHECK, ) false ? check.illegal() : Argument{};
    LAPACK_LISTS(LIST)
#undef LIST
  }
  return {};
}

bool is_legal(const LapackCall& c) { return c.lwork != -1 && first_illegal(c).position == 0; }

int position_of(const LapackCall& c, const char* argument) {
  int position = 0;
  for (const std::string_view name : argument_names(c.properties().arguments)) {
    if (c.pivoted || name != "ipiv") position++;
    if (name == argument) return position;
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

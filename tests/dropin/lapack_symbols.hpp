// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "blas/lapack_call.hpp"
#include "blas/shapes.hpp"
#include "common/of_type.hpp"
#include "support/dense.hpp"

/// Calls of all routines of src/blas/lapack.def through each of their symbols.
namespace tessera::blas {

inline std::ostream& operator<<(std::ostream& out, const LapackCall& c) {
  return out << c.type << c.name() << " uplo " << static_cast<char>(c.uplo) << " op " << static_cast<char>(c.op)
             << " diag " << static_cast<char>(c.diag) << " layout " << static_cast<char>(c.layout) << " m " << c.m
             << " n " << c.n << " nrhs " << c.nrhs;
}

}  // namespace tessera::blas

namespace tessera::test {

using blas::LapackCall, blas::LapackRoutine;

/// A naming scheme of symbols, and the way to pass arguments to them.
struct LapackFamily {
  const char* prefix;
  const char* middle;  ///< "_work" or ""
  const char* suffix;
  bool wide;  ///< integers of 64 bits
  bool lowercase = false;
  bool in_c() const { return *prefix != '\0'; }
  bool has_work() const { return !in_c() || *middle != '\0'; }
};
inline constexpr std::array lapack_families{
    LapackFamily{"", "", "_", false},
    LapackFamily{"", "", "_", false, true},
    LapackFamily{"", "", "_64_", true},
    LapackFamily{"", "", "64_", true},
    LapackFamily{"LAPACKE_", "", "", false},
    LapackFamily{"LAPACKE_", "", "", false, true},
    LapackFamily{"LAPACKE_", "_work", "", false},
    LapackFamily{"LAPACKE_", "", "64_", true},
    LapackFamily{"LAPACKE_", "_work", "64_", true},
    LapackFamily{"LAPACKE_", "", "_64", true},
    LapackFamily{"LAPACKE_", "_work", "_64", true},
};

inline std::string symbol_of(const LapackFamily& family, const LapackCall& call) {
  return std::string(family.prefix) + call.type + call.name() + family.middle + family.suffix;
}

/// The value of info before a call through a Fortran symbol.
inline constexpr int untouched_info = -99;

namespace lapack_interface {

template <typename Option>
char letter(Option option, bool lowercase) {
  const auto x = static_cast<char>(option);
  return lowercase ? static_cast<char>(std::tolower(static_cast<unsigned char>(x))) : x;
}

#define LOCAL_OPTION(Type, name, ...) const char name = letter(c.name, lowercase);
#define LOCAL_SIZE(name, ...) const Int name = static_cast<Int>(c.name);
#define LOCAL_MATRIX(name, ld, ...) const Int ld = static_cast<Int>(c.ld);
#define LOCAL_PIVOTS(...)
#define LOCAL_TAU(...)
#define LOCAL_WORK(...) const Int lwork = static_cast<Int>(c.lwork);

#define GIVE_OPTION(Type, name, ...) &name,
#define GIVE_SIZE(name, ...) &name,
#define GIVE_MATRIX(name, ld, ...) c.name, &ld,
#define GIVE_PIVOTS(...) c.ipiv,
#define GIVE_TAU(...) c.tau,
#define GIVE_WORK(...) c.work, &lwork,

#define VALUE_OPTION(Type, name, ...) , name
#define VALUE_SIZE(name, ...) , name
#define VALUE_MATRIX(name, ld, ...) , c.name, ld
#define VALUE_PIVOTS(...) , c.ipiv
#define VALUE_TAU(...) , c.tau
#define VALUE_WORK(...) , c.work, lwork

#define HIGH_OPTION(...) VALUE_OPTION(__VA_ARGS__)
#define HIGH_SIZE(...) VALUE_SIZE(__VA_ARGS__)
#define HIGH_MATRIX(...) VALUE_MATRIX(__VA_ARGS__)
#define HIGH_PIVOTS(...) VALUE_PIVOTS(__VA_ARGS__)
#define HIGH_TAU(...) VALUE_TAU(__VA_ARGS__)
#define HIGH_WORK(...)

template <typename... X>
void call_fortran(void* address, X... x) {
  reinterpret_cast<void (*)(X...)>(address)(x...);
}
template <typename Int, typename... X>
Int call_c(void* address, X... x) {
  return reinterpret_cast<Int (*)(X...)>(address)(x...);
}

template <typename Int>
Index call_fortran(void* address, const LapackCall& c, bool lowercase) {
  Int info = untouched_info;
  switch (c.routine) {
#define LAPACK(name, list, ...)                                                 \
  case LapackRoutine::name: {                                                   \
    LAPACK_##list(LOCAL, ) call_fortran(address, LAPACK_##list(GIVE, ) & info); \
    break;                                                                      \
  }
#include "blas/lapack.def"
#undef LAPACK
  }
  return info;
}

template <typename Int>
Index call_c(void* address, const LapackCall& c, int layout, const LapackFamily& family) {
  const bool lowercase = family.lowercase;
  switch (c.routine) {
#define LAPACK(name, list, ...)                                                                               \
  case LapackRoutine::name: {                                                                                 \
    LAPACK_##list(LOCAL, ) if (!family.has_work()) return call_c<Int>(address, layout LAPACK_##list(HIGH, )); \
    return call_c<Int>(address, layout LAPACK_##list(VALUE, ));                                               \
  }
#include "blas/lapack.def"
#undef LAPACK
  }
  return untouched_info;
}

}  // namespace lapack_interface

/// Calls a symbol of a family. The layout is that of the call; Fortran ignores it.
inline Index call_lapack(void* address, const LapackFamily& family, const LapackCall& call) {
  using namespace lapack_interface;
  const int layout = call.layout == Layout::ColMajor ? 102 : call.layout == Layout::RowMajor ? 101 : 7;
  if (family.in_c() && family.wide) return call_c<std::int64_t>(address, call, layout, family);
  if (family.in_c()) return call_c<int>(address, call, layout, family);
  if (family.wide) return call_fortran<std::int64_t>(address, call, family.lowercase);
  return call_fortran<int>(address, call, family.lowercase);
}

/// The operands of a call, with memory of their own.
template <Scalar T>
struct LapackOperands {
  Dense<T> A, B;
  std::vector<Index> pivots;
  std::vector<T> tau = {};

  /// The memory of the arguments of one call.
  struct Memory {
    std::vector<std::int32_t> narrow;
    std::vector<std::int64_t> wide;
    std::vector<T> work;
  };
  /// Completes `call` with these operands.
  LapackCall with(LapackCall call, Memory& memory, bool wide) {
    call.wide = wide;
    call.A = A.data.data(), call.lda = A.ld;
    call.B = B.data.data(), call.ldb = B.ld;
    memory.narrow.assign(pivots.begin(), pivots.end());
    memory.wide.assign(pivots.begin(), pivots.end());
    call.ipiv = wide ? static_cast<void*>(memory.wide.data()) : memory.narrow.data();
    call.tau = tau.data();
    memory.work.resize(static_cast<std::size_t>(64 * std::max({Index{1}, call.m, call.n, call.nrhs})));
    call.work = memory.work.data(), call.lwork = static_cast<Index>(memory.work.size());
    return call;
  }
  void take_pivots(const Memory& memory, bool wide) {
    if (wide) pivots.assign(memory.wide.begin(), memory.wide.end());
    else pivots.assign(memory.narrow.begin(), memory.narrow.end());
  }
};

/// Makes the call, and keeps its results. Returns info.
template <Scalar T>
Index call_with(LapackOperands<T>& operands, void* address, const LapackFamily& family, const LapackCall& call) {
  typename LapackOperands<T>::Memory memory;
  const Index info = call_lapack(address, family, operands.with(call, memory, family.wide));
  operands.take_pivots(memory, family.wide);
  return info;
}

/// The host's own function, which is not that of the drop-in.
inline void* host_function(const LapackCall& call) {
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return dlsym(library, (std::string(1, call.type) + call.name() + "_").c_str());
}

template <Scalar T>
Dense<T> stored_as(const Dense<T>& X, const Dense<T>& like) {
  auto Y = like;
  for (Index j = 0; j < X.n; j++)
    for (Index i = 0; i < X.m; i++) Y(i, j) = X(i, j);
  return Y;
}

/// The results of the host's function. They are in columns, because it has no layout.
template <Scalar T>
Index make_on_host(LapackOperands<T>& operands, const LapackCall& call) {
  auto columns = call;
  columns.layout = Layout::ColMajor;
  auto packed_ones = operands;
  packed_ones.A = packed(operands.A), packed_ones.B = packed(operands.B);
  const Index info = call_with(packed_ones, host_function(call), lapack_families[0], columns);
  operands.A = stored_as(packed_ones.A, operands.A), operands.B = stored_as(packed_ones.B, operands.B);
  operands.pivots = packed_ones.pivots, operands.tau = packed_ones.tau;
  return info;
}

/// Operands on which the routine succeeds: factors if it needs them, computed by the host. A triangle that the routine
/// does not use holds NaN. The layout is that of the call.
template <Scalar T>
LapackOperands<T> legal_operands(const LapackCall& call, std::uint64_t seed, Index pad = 3) {
  const auto& known = call.properties();
  const Index m = call.rows(), n = call.columns();
  auto A = random_matrix<T>(m, n, seed);
  const bool definite = known.has_triangle();
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < std::min(m, j + 1); i++)
      if (definite && i == j) A(i, j) = T(static_cast<Real<T>>(2 * n));
      else if (definite) A(j, i) = conjugate(A(i, j));
  // Well-conditioned, so that solutions can be compared, and with rows to exchange.
  for (Index j = 0; !definite && j < std::min(m, n); j++) A((j + 1) % m, j) += T(static_cast<Real<T>>(n));
  const bool has_b = known.has_right_sides();
  LapackOperands<T> result{
      A, random_matrix<T>(has_b ? call.right_rows() : n, has_b ? call.right_columns() : 0, seed + 1), {}};
  result.pivots.assign(static_cast<std::size_t>(std::min(m, n)), 0);
  result.tau.assign(result.pivots.size(), T{});
  const auto factorize = [&](LapackRoutine routine) {
    auto factorization = call;
    factorization.routine = routine, factorization.layout = Layout::ColMajor;
    factorization.m = m, factorization.n = n;
    if (call_with(result, host_function(factorization), lapack_families[0], factorization) != 0)
      throw std::runtime_error("the host cannot factorize");
  };
  using enum LapackRoutine;
  if (call.routine == potri || call.routine == potrs || call.routine == lauum) factorize(potrf);
  if (call.routine == getri || call.routine == getrs) factorize(getrf);
  if (known.arguments == blas::LapackArguments::unitary_product ||
      known.arguments == blas::LapackArguments::unitary_factor)
    factorize(geqrf);
  const auto stored = [&](const Dense<T>& X) {
    Dense<T> Y(X.m, X.n, call.layout, pad);
    for (Index j = 0; j < X.n; j++)
      for (Index i = 0; i < X.m; i++) Y(i, j) = X(i, j);
    return Y;
  };
  result.A = stored(result.A), result.B = stored(result.B);
  if (definite)
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++)
        if (i != j && (i < j) == (call.uplo == Uplo::Lower))
          result.A(i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  return result;
}

/// Calls body(call) for all routines, types T and their options, in one layout.
template <Scalar T, typename Body>
void for_all_lapack_calls(Layout layout, Index m, Index n, Index nrhs, Body body) {
  using enum blas::LapackArguments;
  for (int r = 0; r < blas::lapack_routine_count; r++) {
    LapackCall call{.routine = static_cast<LapackRoutine>(r),
                    .type = common::of_type<T>('s', 'd', 'c', 'z'),
                    .layout = layout,
                    .n = n};
    const auto& known = call.properties();
    if (!known.exists(call.type)) continue;
    const auto list = known.arguments;
    const bool product = list == unitary_product, unitary = product || list == least_squares;
    if (list == rectangle || list == reflectors || list == least_squares || product) call.m = m;
    if (list == unitary_factor) call.m = std::max(m, n), call.n = std::min(m, n), call.k = call.n - call.n / 4;
    if (known.has_right_sides() && !product) call.nrhs = nrhs;
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      for (const Diag diag : {Diag::NonUnit, Diag::Unit})
        for (const Side side : {Side::Left, Side::Right})
          for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
            if (!known.has_triangle() && uplo != Uplo::Lower) continue;
            if (!product && side != Side::Left) continue;
            const bool solves_triangle = list == triangular_system;
            if (!solves_triangle && call.routine != LapackRoutine::trtri && diag != Diag::NonUnit) continue;
            if (!solves_triangle && !unitary && call.routine != LapackRoutine::getrs && op != Op::NoTrans) continue;
            if (unitary && op == (is_complex<T> ? Op::Trans : Op::ConjTrans)) continue;
            call.uplo = uplo, call.diag = diag, call.side = side, call.op = op;
            if (product) call.k = call.rows() - call.rows() / 4;
            body(call);
          }
  }
}

/// Whether two runs of a well-conditioned call have the same results within the errors of rounding, and wrote nothing
/// else: unused triangles, other right-hand sides and padding are equal bit by bit.
template <Scalar T>
::testing::AssertionResult same_results(const LapackOperands<T>& ours, const LapackOperands<T>& hosts) {
  const auto same = [](const Dense<T>& X, const Dense<T>& Y) {
    double most = 1;
    for (const T& y : Y.data)
      if (std::isfinite(std::abs(y))) most = std::max<double>(most, std::abs(y));
    const double bound = 200 * static_cast<double>(std::max<Index>(8, X.n)) * unit<T> * most;
    for (std::size_t i = 0; i < X.data.size(); i++) {
      const T &x = X.data[i], &y = Y.data[i];
      if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(std::abs(x - y) <= bound)) return false;
    }
    return true;
  };
  if (!same(ours.A, hosts.A)) return ::testing::AssertionFailure() << "another A";
  if (!same(ours.B, hosts.B)) return ::testing::AssertionFailure() << "another B";
  for (std::size_t i = 0; i < ours.tau.size(); i++)
    if (!(std::abs(ours.tau[i] - hosts.tau[i]) <= 1e4 * unit<T>)) return ::testing::AssertionFailure() << "another tau";
  if (ours.pivots != hosts.pivots) return ::testing::AssertionFailure() << "other pivots";
  return ::testing::AssertionSuccess();
}

}  // namespace tessera::test

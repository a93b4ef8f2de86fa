// SPDX-License-Identifier: BSD-3-Clause
// dsgesv, zcgesv, dsposv and zcposv: LU or Cholesky in single precision, with refinement to double precision. If the
// solution does not become as accurate as that of gesv or posv, the matrix is factorized in double precision. The
// algorithm, ITER and INFO are those of LAPACK (Buttari et al., ACM TOMS 34(4), 2008). Each factorization, solve and
// product is a separate call.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "common/columns.hpp"
#include "device_operands.hpp"
#include "dispatch.hpp"
#include "fortran_call.hpp"
#include "guest.hpp"
#include "option.hpp"
#include "xerbla.hpp"

namespace tessera::dropin {

namespace {

using blas::LapackRoutine;

/// The arguments of dsgesv, dsposv and their complex counterparts. A, X and work hold T, swork holds Low.
template <typename T, typename Low, typename Int>
struct Mixed {
  const char* uplo;  ///< triangle of a positive definite matrix; null: a general matrix
  const Int *n, *nrhs;
  T* A;
  const Int* lda;
  Int* ipiv;
  const T* B;
  const Int* ldb;
  T* X;
  const Int* ldx;
  T* work;
  Low* swork;
  double* rwork;  ///< workspace of n elements; null for real matrices
  Int *iter, *info;

  double* row_sums() const {
    if constexpr (is_complex<T>) return rwork;
    else return work;
  }
};

constexpr int most_iterations = 30;

constexpr char letter(const float* /*type*/) { return 's'; }
constexpr char letter(const double* /*type*/) { return 'd'; }
constexpr char letter(const std::complex<float>* /*type*/) { return 'c'; }
constexpr char letter(const std::complex<double>* /*type*/) { return 'z'; }

double part(const double& x, int index) { return index == 0 ? x : 0; }
double part(const std::complex<double>& x, int index) { return index == 0 ? x.real() : x.imag(); }
/// The sum of the magnitudes of the real and imaginary parts.
template <typename T>
double magnitude(const T& x) {
  return std::abs(part(x, 0)) + std::abs(part(x, 1));
}

/// Copies an m×n matrix, or a triangle of it, to another precision.
/// @return  whether all elements are in range
template <typename From, typename To>
bool convert(Index m, Index n, const From* A, Index lda, To* C, Index ldc, std::optional<Uplo> uplo = {}) {
  std::atomic<bool> fits = true;
  common::for_columns(n, static_cast<double>(m * n) * sizeof(From), [&](Index first, Index last) {
    for (Index j = first; j < last; j++)
      for (Index i = uplo == Uplo::Lower ? j : 0; i < (uplo == Uplo::Upper ? j + 1 : m); i++) {
        const auto& x = A[i + j * lda];
        if constexpr (sizeof(To) < sizeof(From))
          for (const int p : {0, 1})
            if (std::abs(part(x, p)) > static_cast<double>(std::numeric_limits<float>::max())) fits = false;
        C[i + j * ldc] = static_cast<To>(x);
      }
  });
  return fits;
}

template <typename T, typename Low, typename Int>
class Solver {
 public:
  explicit Solver(const Mixed<T, Low, Int>& call)
      : c_(call), uplo_(triangle_of(call)), n_(*call.n), nrhs_(*call.nrhs), lda_(*call.lda), ldb_(*call.ldb),
        ldx_(*call.ldx), sums_(call.row_sums()) {}

  void solve() {
    *c_.iter = static_cast<Int>(refine());
    if (*c_.iter >= 0) {
      *c_.info = 0;
      return;
    }
    *c_.info = static_cast<Int>(factorize(c_.A, lda_));
    if (*c_.info != 0) return;
    copy(c_.B, ldb_, c_.X, ldx_);
    solve_with(c_.A, lda_, c_.X, ldx_);
  }

 private:
  /// @return  ITER: the number of iterations; -2: an element is too large for single precision; -3: the factorization
  ///          failed; -31: no convergence
  int refine() {
    auto* const factors = c_.swork;
    auto* const low = factors + n_ * n_;
    const double bound = norm() * std::numeric_limits<double>::epsilon() / 2 * std::sqrt(static_cast<double>(n_));
    if (!convert(n_, nrhs_, c_.B, ldb_, low, n_) || !convert(n_, n_, c_.A, lda_, factors, n_, uplo_)) return -2;
    if (factorize(factors, n_) != 0) return -3;
    solve_with(factors, n_, low, n_);
    convert(n_, nrhs_, low, n_, c_.X, ldx_);
    for (int iteration = 0;; iteration++) {
      residual();
      if (is_accurate(bound)) return iteration;
      if (iteration == most_iterations) return -most_iterations - 1;
      if (!convert(n_, nrhs_, c_.work, n_, low, n_)) return -2;
      solve_with(factors, n_, low, n_);
      for (Index j = 0; j < nrhs_; j++)
        for (Index i = 0; i < n_; i++) c_.X[i + j * ldx_] += static_cast<T>(low[i + j * n_]);
    }
  }

  static std::optional<Uplo> triangle_of(const Mixed<T, Low, Int>& call) {
    if (call.uplo == nullptr) return {};
    return option<Uplo>(call.uplo);
  }

  /// The magnitude of an element; the diagonal of a Hermitian matrix is real.
  double size(Index i, Index j) const {
    const auto& x = c_.A[i + j * lda_];
    return uplo_ && i == j ? std::abs(part(x, 0)) : std::abs(x);
  }
  /// Adds the magnitudes of the stored parts of rows [first, last) to their sums.
  void add_rows(Index first, Index last) {
    for (Index j = 0; j < n_; j++) {
      const Index begin = uplo_ == Uplo::Lower ? std::max(first, j) : first,
                  end = uplo_ == Uplo::Upper ? std::min(last, j + 1) : last;
      for (Index i = begin; i < end; i++) sums_[i] += size(i, j);
    }
  }
  /// Adds the magnitudes of the parts of these rows that are stored as columns.
  void add_mirrored_rows(Index first, Index last) {
    for (Index i = first; i < last; i++) {
      const Index begin = *uplo_ == Uplo::Lower ? i + 1 : 0, end = *uplo_ == Uplo::Lower ? n_ : i;
      for (Index j = begin; j < end; j++) sums_[i] += size(j, i);
    }
  }
  /// The largest row sum of the magnitudes of A, or NaN.
  double norm() {
    common::for_columns(n_, static_cast<double>(n_ * n_) * sizeof(T), [&](Index first, Index last) {
      std::fill(sums_ + first, sums_ + last, 0.0);
      add_rows(first, last);
      if (uplo_) add_mirrored_rows(first, last);
    });
    double largest = 0;
    for (Index i = 0; i < n_; i++)
      if (largest < sums_[i] || std::isnan(sums_[i])) largest = sums_[i];
    return largest;
  }

  void copy(const T* from, Index ld_from, T* to, Index ld_to) {
    for (Index j = 0; j < nrhs_; j++) std::copy_n(from + j * ld_from, n_, to + j * ld_to);
  }

  /// work ← B − A X
  void residual() {
    copy(c_.B, ldb_, c_.work, n_);
    const T minus_one = -1, one = 1;
    Call product{.routine = blas::Routine::gemm,
                 .type = letter(c_.A),
                 .m = n_,
                 .n = nrhs_,
                 .k = n_,
                 .alpha = &minus_one,
                 .A = c_.A,
                 .lda = lda_,
                 .B = c_.X,
                 .ldb = ldx_,
                 .beta = &one,
                 .C = c_.work,
                 .ldc = n_};
    if (uplo_) {
      product.routine = is_complex<T> ? blas::Routine::hemm : blas::Routine::symm;
      product.uplo = *uplo_, product.k = 0;
    }
    require(dispatch(product), "BLAS");
  }

  bool is_accurate(double bound) {
    const auto largest = [&](const T* column) {
      double found = magnitude(column[0]);
      for (Index i = 1; i < n_; i++) found = std::max(found, magnitude(column[i]));
      return found;
    };
    for (Index j = 0; j < nrhs_; j++)
      if (largest(c_.work + j * n_) > largest(c_.X + j * ldx_) * bound) return false;
    return true;
  }

  template <typename Type>
  Index factorize(Type* A, Index lda) {
    Index info = 0;
    require(dispatch(LapackCall{.routine = uplo_ ? LapackRoutine::potrf : LapackRoutine::getrf,
                                .type = letter(A),
                                .wide = sizeof(Int) == 8,
                                .uplo = uplo_.value_or(Uplo::Lower),
                                .m = uplo_ ? 0 : n_,
                                .n = n_,
                                .A = A,
                                .lda = lda,
                                .ipiv = c_.ipiv},
                     info),
            "LAPACK");
    return info;
  }

  template <typename Type>
  void solve_with(Type* A, Index lda, Type* B, Index ldb) {
    Index info = 0;
    require(dispatch(LapackCall{.routine = uplo_ ? LapackRoutine::potrs : LapackRoutine::getrs,
                                .type = letter(A),
                                .wide = sizeof(Int) == 8,
                                .uplo = uplo_.value_or(Uplo::Lower),
                                .n = n_,
                                .nrhs = nrhs_,
                                .A = A,
                                .lda = lda,
                                .ipiv = c_.ipiv,
                                .B = B,
                                .ldb = ldb},
                     info),
            "LAPACK");
  }

  static void require(bool done, const char* what) {
    if (!done) Guest::of_process().abort_without_host(what);
  }

  const Mixed<T, Low, Int>& c_;
  const std::optional<Uplo> uplo_;
  const Index n_, nrhs_, lda_, ldb_, ldx_;
  double* const sums_;  ///< of the rows of A
};

/// The position of the first illegal argument, or 0.
template <typename T, typename Low, typename Int>
int first_illegal(const Mixed<T, Low, Int>& c) {
  const auto least = std::max<Int>(1, *c.n);
  const int after_uplo = c.uplo != nullptr ? 1 : 0;
  if (c.uplo != nullptr && option<Uplo>(c.uplo) != Uplo::Lower && option<Uplo>(c.uplo) != Uplo::Upper) return 1;
  if (*c.n < 0) return 1 + after_uplo;
  if (*c.nrhs < 0) return 2 + after_uplo;
  if (*c.lda < least) return 4 + after_uplo;
  if (*c.ldb < least) return 7;
  if (*c.ldx < least) return 9;
  return 0;
}

/// The pointers that the call accesses. The complex routines have an additional argument `rwork`, which shifts the
/// arguments after it; the routines with `uplo` have no pivots.
template <typename T, typename Low, typename Int>
std::array<PointerArgument, 9> pointers(const Mixed<T, Low, Int>& c) {
  const int more = is_complex<T> ? 1 : 0;
  return {{{c.uplo != nullptr ? 4 : 3, "A", c.A},
           {5, "ipiv", c.ipiv},
           {6, "B", c.B},
           {8, "X", c.X},
           {10, "work", c.work},
           {11, "swork", c.swork},
           {12, "rwork", c.rwork},
           {12 + more, "iter", c.iter},
           {13 + more, "info", c.info}}};
}

/// Handles a call of the program. Calls that stay on the host, compute nothing or are illegal reach the host's LAPACK
/// unchanged, if it has the routine.
/// @param on_host  calls the given function of the host
template <typename T, typename Low, typename Int, typename OnHost>
void make(const char* routine, const char* suffix, KnownSymbol& known, const Mixed<T, Low, Int>& c, OnHost on_host) {
  auto& guest = Guest::of_process();
  const int illegal = first_illegal(c);
  const double n = static_cast<double>(*c.n),
               operations = (sizeof(T) == 16 ? 4.0 : 1.0) / (c.uplo != nullptr ? 3 : 1.5) * n * n * n;
  if (illegal == 0 && *c.n > 0 && *c.nrhs > 0)
    if (const int position = refused(pointers(c), routine, sizeof(Int) == 8); position > 0) {
      if (is_on_host(c.info)) *c.info = -static_cast<Int>(position);
      return;
    }
  if (illegal != 0 || *c.n == 0 || *c.nrhs == 0 || guest.is_inside() || guest.decision().stays(operations)) {
    void* const found = known.find([&] { return find_lapack(guest.host(), (std::string(routine) + suffix).c_str()); });
    if (found != nullptr) return on_host(found);
  }
  if (illegal != 0) {
    *c.info = -static_cast<Int>(illegal);
    return report_illegal(routine, sizeof(Int) == 8, illegal);
  }
  *c.iter = *c.info = 0;
  if (*c.n > 0) Solver<T, Low, Int>(c).solve();
}

}  // namespace

// The arguments that only some of the routines have.
#define WITH(...) __VA_ARGS__,
#define WITHOUT(...)
#define WITH_OR_NULL(argument) argument
#define WITHOUT_OR_NULL(argument) nullptr
#define DEFINE_SYMBOL(name, suffix, Int, T, Low, UPLO, PIVOTS, RWORK)                                              \
  void name##suffix(UPLO(const char* uplo) const Int* n, const Int* nrhs, T* A, const Int* lda,                    \
                    PIVOTS(Int* ipiv) const T* B, const Int* ldb, T* X, const Int* ldx, T* work, Low* swork,       \
                    RWORK(double* rwork) Int* iter, Int* info) {                                                   \
    static KnownSymbol known;                                                                                      \
    const Mixed<T, Low, Int> call{                                                                                 \
        UPLO##_OR_NULL(uplo),   n,    nrhs, A, lda, PIVOTS##_OR_NULL(ipiv), B, ldb, X, ldx, work, swork,           \
        RWORK##_OR_NULL(rwork), iter, info};                                                                       \
    make(#name, #suffix, known, call, [&](void* host) {                                                            \
      call_function(host, UPLO(uplo) n, nrhs, A, lda, PIVOTS(ipiv) B, ldb, X, ldx, work, swork, RWORK(rwork) iter, \
                    info);                                                                                         \
    });                                                                                                            \
  }
#define DEFINE(name, ...)                              \
  DEFINE_SYMBOL(name, _, int, __VA_ARGS__)             \
  DEFINE_SYMBOL(name, _64_, std::int64_t, __VA_ARGS__) \
  DEFINE_SYMBOL(name, 64_, std::int64_t, __VA_ARGS__)

extern "C" {
DEFINE(dsgesv, double, float, WITHOUT, WITH, WITHOUT)
DEFINE(zcgesv, std::complex<double>, std::complex<float>, WITHOUT, WITH, WITH)
DEFINE(dsposv, double, float, WITH, WITHOUT, WITHOUT)
DEFINE(zcposv, std::complex<double>, std::complex<float>, WITH, WITHOUT, WITH)
}

}  // namespace tessera::dropin

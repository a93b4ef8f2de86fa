// SPDX-License-Identifier: BSD-3-Clause
// Factorizations and solves in C.
#include <gmock/gmock.h>

#include <complex>
#include <vector>

#include <tessera/tessera.h>
#include <tessera/types.hpp>

#include "support/larger.hpp"
#include "support/tested_types.hpp"

namespace tessera::test::c_solvers_cpp {
namespace {

using ::testing::HasSubstr;

constexpr int n = 21, nrhs = 2;

/// The functions of one type, as pointers to void.
template <typename T>
struct Functions;
#define FUNCTIONS(letter, T, mqr, gqr)                                 \
  template <>                                                          \
  struct Functions<T> {                                                \
    static constexpr char type = #letter[0];                           \
    static constexpr auto potrf = tessera_##letter##potrf;             \
    static constexpr auto potrs = tessera_##letter##potrs;             \
    static constexpr auto posv = tessera_##letter##posv;               \
    static constexpr auto getrf = tessera_##letter##getrf;             \
    static constexpr auto getrs = tessera_##letter##getrs;             \
    static constexpr auto gesv = tessera_##letter##gesv;               \
    static constexpr auto getrf_nopiv = tessera_##letter##getrf_nopiv; \
    static constexpr auto getrs_nopiv = tessera_##letter##getrs_nopiv; \
    static constexpr auto gesv_nopiv = tessera_##letter##gesv_nopiv;   \
    static constexpr auto trtri = tessera_##letter##trtri;             \
    static constexpr auto trtrs = tessera_##letter##trtrs;             \
    static constexpr auto lauum = tessera_##letter##lauum;             \
    static constexpr auto potri = tessera_##letter##potri;             \
    static constexpr auto getri = tessera_##letter##getri;             \
    static constexpr auto geqrf = tessera_##letter##geqrf;             \
    static constexpr auto unmqr = tessera_##letter##mqr;               \
    static constexpr auto ungqr = tessera_##letter##gqr;               \
    static constexpr auto gels = tessera_##letter##gels;               \
  };
FUNCTIONS(s, float, ormqr, orgqr)
FUNCTIONS(d, double, ormqr, orgqr)
FUNCTIONS(c, std::complex<float>, unmqr, ungqr)
FUNCTIONS(z, std::complex<double>, unmqr, ungqr)

/// A has 4 on the diagonal and 1 elsewhere; X is a matrix of ones, and B = A X.
template <typename T>
struct Problem {
  std::vector<T> A = std::vector<T>(n * n), B = std::vector<T>(n * nrhs);
  Problem() {
    for (int i = 0; i < n; i++) {
      A[i + i * n] = 4;
      if (i > 0) A[i + (i - 1) * n] = A[i - 1 + i * n] = 1;
      for (int j = 0; j < nrhs; j++) B[i + j * n] = i == 0 || i == n - 1 ? 5 : 6;
    }
  }
  double error() const {
    double worst = 0;
    for (const auto x : B) worst = larger(worst, static_cast<double>(std::abs(x - T(1))));
    return worst;
  }
};

template <typename T>
class CSolvers : public ::testing::Test {};
TYPED_TEST_SUITE(CSolvers, ScalarTypes);

TYPED_TEST(CSolvers, SolveOnPointers) {
  using F = Functions<TypeParam>;
  for (const auto uplo : {TESSERA_LOWER, TESSERA_UPPER}) {
    Problem<TypeParam> p, q;
    int64_t info = -1;
    ASSERT_EQ(F::posv(TESSERA_COL_MAJOR, uplo, n, nrhs, p.A.data(), n, p.B.data(), n, &info), TESSERA_SUCCESS);
    EXPECT_EQ(info, 0);
    EXPECT_LT(p.error(), 1e-5);
    ASSERT_EQ(F::potrf(TESSERA_COL_MAJOR, uplo, n, q.A.data(), n, &info), TESSERA_SUCCESS);
    ASSERT_EQ(F::potrs(TESSERA_COL_MAJOR, uplo, n, nrhs, q.A.data(), n, q.B.data(), n), TESSERA_SUCCESS);
    EXPECT_LT(q.error(), 1e-5);
    Problem<TypeParam> bad;
    bad.A[5 + 5 * n] = -1;
    EXPECT_EQ(F::potrf(TESSERA_COL_MAJOR, uplo, n, bad.A.data(), n, &info), TESSERA_SUCCESS);
    EXPECT_EQ(info, 6);
  }
}

TYPED_TEST(CSolvers, SolveOnMatrices) {
  Problem<TypeParam> p;
  tessera_matrix *A = nullptr, *B = nullptr;
  ASSERT_EQ(tessera_matrix_create(Functions<TypeParam>::type, p.A.data(), n, n, n, 8, 8, &A), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(Functions<TypeParam>::type, p.B.data(), n, nrhs, n, 8, 8, &B), TESSERA_SUCCESS);
  tessera_info* info = nullptr;
  ASSERT_EQ(tessera_potrf_submit(TESSERA_LOWER, A, &info), TESSERA_SUCCESS);
  EXPECT_NE(tessera_info_handle(info), nullptr);
  ASSERT_EQ(tessera_potrs_submit(TESSERA_LOWER, A, B), TESSERA_SUCCESS);
  int64_t value = -1;
  EXPECT_EQ(tessera_info_wait(info, &value), TESSERA_SUCCESS);
  EXPECT_EQ(value, 0);
  tessera_info_destroy(info);
  EXPECT_EQ(tessera_matrix_destroy(B), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_destroy(A), TESSERA_SUCCESS);
  EXPECT_LT(p.error(), 1e-5);
}

TYPED_TEST(CSolvers, SolveWithPivotsOnPointers) {
  using F = Functions<TypeParam>;
  Problem<TypeParam> p, q;
  std::vector<int64_t> pivots(n);
  int64_t info = -1;
  ASSERT_EQ(F::gesv(TESSERA_COL_MAJOR, n, nrhs, p.A.data(), n, pivots.data(), p.B.data(), n, &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_LT(p.error(), 1e-5);
  ASSERT_EQ(F::getrf(TESSERA_COL_MAJOR, n, n, q.A.data(), n, pivots.data(), &info), TESSERA_SUCCESS);
  for (const auto op : {TESSERA_NO_TRANS, TESSERA_TRANS, TESSERA_CONJ_TRANS}) {  // A is symmetric
    Problem<TypeParam> right;
    ASSERT_EQ(F::getrs(TESSERA_COL_MAJOR, op, n, nrhs, q.A.data(), n, pivots.data(), right.B.data(), n),
              TESSERA_SUCCESS);
    EXPECT_LT(right.error(), 1e-5);
  }
}

TYPED_TEST(CSolvers, SolveWithPivotsOnMatrices) {
  Problem<TypeParam> p, q;
  tessera_matrix *A = nullptr, *B = nullptr, *C = nullptr, *D = nullptr;
  constexpr char type = Functions<TypeParam>::type;
  ASSERT_EQ(tessera_matrix_create(type, p.A.data(), n, n, n, n, 8, &A), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, p.B.data(), n, nrhs, n, n, 8, &B), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, q.A.data(), n, n, n, n, 8, &C), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, q.B.data(), n, nrhs, n, n, 8, &D), TESSERA_SUCCESS);
  tessera_pivots* pivots = nullptr;
  tessera_info* info = nullptr;
  ASSERT_EQ(tessera_getrf_submit(A, &pivots, &info), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_getrs_submit(TESSERA_NO_TRANS, A, pivots, B), TESSERA_SUCCESS);
  std::vector<int64_t> rows(n);
  EXPECT_EQ(tessera_pivots_wait(pivots, rows.data()), TESSERA_SUCCESS);
  for (int i = 0; i < n; i++) EXPECT_EQ(rows[i], i + 1) << "the diagonal dominates";
  int64_t value = -1;
  EXPECT_EQ(tessera_info_wait(info, &value), TESSERA_SUCCESS);
  EXPECT_EQ(value, 0);
  tessera_pivots_destroy(pivots);
  tessera_info_destroy(info);
  ASSERT_EQ(tessera_gesv_submit(C, D, &pivots, &info), TESSERA_SUCCESS);
  tessera_pivots_destroy(pivots);
  tessera_info_destroy(info);
  for (auto* matrix : {A, B, C, D}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
  EXPECT_LT(p.error(), 1e-5);
  EXPECT_LT(q.error(), 1e-5);
}

TYPED_TEST(CSolvers, SolveWithoutPivotsOnPointers) {
  using F = Functions<TypeParam>;
  Problem<TypeParam> p, q;
  int64_t info = -1;
  double growth = 0;
  ASSERT_EQ(F::gesv_nopiv(TESSERA_COL_MAJOR, n, nrhs, p.A.data(), n, p.B.data(), n, &growth, &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(growth, 1);
  EXPECT_LT(p.error(), 1e-5);
  ASSERT_EQ(F::getrf_nopiv(TESSERA_COL_MAJOR, n, n, q.A.data(), n, nullptr, &info), TESSERA_SUCCESS);
  for (const auto op : {TESSERA_NO_TRANS, TESSERA_TRANS, TESSERA_CONJ_TRANS}) {  // A is symmetric
    Problem<TypeParam> right;
    ASSERT_EQ(F::getrs_nopiv(TESSERA_COL_MAJOR, op, n, nrhs, q.A.data(), n, right.B.data(), n), TESSERA_SUCCESS);
    EXPECT_LT(right.error(), 1e-5);
  }
  Problem<TypeParam> bad;
  bad.A[0] = 0;
  EXPECT_EQ(F::getrf_nopiv(TESSERA_ROW_MAJOR, n, n, bad.A.data(), n, &growth, &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 1);
}

TYPED_TEST(CSolvers, SolveWithoutPivotsOnMatrices) {
  Problem<TypeParam> p, q;
  tessera_matrix *A = nullptr, *B = nullptr, *C = nullptr, *D = nullptr;
  constexpr char type = Functions<TypeParam>::type;
  ASSERT_EQ(tessera_matrix_create(type, p.A.data(), n, n, n, 8, 8, &A), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, p.B.data(), n, nrhs, n, 8, 8, &B), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, q.A.data(), n, n, n, 8, 8, &C), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, q.B.data(), n, nrhs, n, 8, 8, &D), TESSERA_SUCCESS);
  tessera_growth* growth = nullptr;
  tessera_info* info = nullptr;
  ASSERT_EQ(tessera_getrf_nopiv_submit(A, &growth, &info), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_getrs_nopiv_submit(TESSERA_NO_TRANS, A, B), TESSERA_SUCCESS);
  double value = 0;
  EXPECT_EQ(tessera_growth_wait(growth, &value), TESSERA_SUCCESS);
  EXPECT_EQ(value, 1);
  tessera_growth_destroy(growth);
  tessera_info_destroy(info);
  ASSERT_EQ(tessera_gesv_nopiv_submit(C, D, nullptr, &info), TESSERA_SUCCESS);
  int64_t zero = -1;
  EXPECT_EQ(tessera_info_wait(info, &zero), TESSERA_SUCCESS);
  EXPECT_EQ(zero, 0);
  tessera_info_destroy(info);
  for (auto* matrix : {A, B, C, D}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
  EXPECT_LT(p.error(), 1e-5);
  EXPECT_LT(q.error(), 1e-5);
}

/// The largest error of an element of X B, which should be a matrix of ones. X is the inverse of the matrix of a
/// problem.
/// @param lower_only  whether only the lower triangle of X is stored
template <typename T>
double error_of_inverse(const std::vector<T>& X, bool lower_only) {
  const Problem<T> p;
  double worst = 0;
  for (int i = 0; i < n; i++) {
    T sum = 0;
    for (int j = 0; j < n; j++) sum += (lower_only && j > i ? X[j + i * n] : X[i + j * n]) * p.B[j];
    worst = larger(worst, static_cast<double>(std::abs(sum - T(1))));
  }
  return worst;
}

TYPED_TEST(CSolvers, SolveWithTheTrianglesOfAFactor) {
  using F = Functions<TypeParam>;
  const auto col = TESSERA_COL_MAJOR;
  const auto low = TESSERA_LOWER;
  Problem<TypeParam> p;
  int64_t info = -1;
  ASSERT_EQ(F::potrf(col, low, n, p.A.data(), n, &info), TESSERA_SUCCESS);
  for (const auto op : {TESSERA_NO_TRANS, TESSERA_CONJ_TRANS}) {
    info = -1;
    ASSERT_EQ(F::trtrs(col, low, op, TESSERA_NON_UNIT, n, nrhs, p.A.data(), n, p.B.data(), n, &info), TESSERA_SUCCESS);
    EXPECT_EQ(info, 0);
  }
  EXPECT_LT(p.error(), 1e-5);
  p.A[3 + 3 * n] = 0;
  ASSERT_EQ(F::trtrs(col, low, TESSERA_TRANS, TESSERA_NON_UNIT, n, nrhs, p.A.data(), n, p.B.data(), n, &info),
            TESSERA_SUCCESS);
  EXPECT_EQ(info, 4);
}

TYPED_TEST(CSolvers, SolveLeastSquares) {
  using T = TypeParam;
  using F = Functions<T>;
  const auto col = TESSERA_COL_MAJOR;
  const auto plain = TESSERA_NO_TRANS;
  Problem<T> p, q, r;
  int64_t info = -1;
  ASSERT_EQ(F::gels(col, plain, n, n, nrhs, p.A.data(), n, p.B.data(), n, &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_LT(p.error(), 1e-5);
  std::vector<T> tau(n);
  ASSERT_EQ(F::geqrf(col, n, n, q.A.data(), n, tau.data()), TESSERA_SUCCESS);
  EXPECT_EQ(q.A, p.A);
  ASSERT_EQ(F::unmqr(col, TESSERA_LEFT, TESSERA_CONJ_TRANS, n, nrhs, n, q.A.data(), n, tau.data(), q.B.data(), n),
            TESSERA_SUCCESS);
  ASSERT_EQ(F::trtrs(col, TESSERA_UPPER, plain, TESSERA_NON_UNIT, n, nrhs, q.A.data(), n, q.B.data(), n, &info),
            TESSERA_SUCCESS);
  EXPECT_LT(q.error(), 1e-5);
  ASSERT_EQ(F::ungqr(col, n, n, n, q.A.data(), n, tau.data()), TESSERA_SUCCESS);
  T norm{};
  for (int i = 0; i < n; i++) norm += q.A[i] * q.A[i];  // norm² of the first column, which is real
  EXPECT_LT(std::abs(norm - T(1)), 1e-5);

  tessera_matrix *A = nullptr, *B = nullptr;
  tessera_info* result = nullptr;
  const char letter = type_letter<T>;
  ASSERT_EQ(tessera_matrix_create(letter, r.A.data(), n, n, n, n, 8, &A), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(letter, r.B.data(), n, nrhs, n, n, 2, &B), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_gels_submit(plain, A, B, &result), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_info_wait(result, &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 0);
  tessera_info_destroy(result);
  EXPECT_EQ(tessera_matrix_destroy(B), TESSERA_SUCCESS);
  EXPECT_LT(r.error(), 1e-5);
  tessera_reflectors* reflectors = nullptr;
  EXPECT_EQ(tessera_geqrf_submit(A, nullptr), -2);
  ASSERT_EQ(tessera_geqrf_submit(A, &reflectors), TESSERA_SUCCESS);  // factorizes R: all reflectors are trivial
  ASSERT_EQ(tessera_ungqr_submit(A, reflectors), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_reflectors_wait(reflectors, letter, tau.data()), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_reflectors_wait(reflectors, 'x', tau.data()), -2);
  EXPECT_EQ(tessera_unmqr_submit(TESSERA_LEFT, plain, nullptr, reflectors, A), -3);
  tessera_reflectors_destroy(reflectors);
  EXPECT_EQ(tessera_matrix_destroy(A), TESSERA_SUCCESS);
}

TYPED_TEST(CSolvers, InvertOnPointers) {
  using F = Functions<TypeParam>;
  const auto col = TESSERA_COL_MAJOR;
  const auto low = TESSERA_LOWER;
  Problem<TypeParam> p, q, r;
  int64_t info = -1;
  ASSERT_EQ(F::potrf(col, low, n, p.A.data(), n, &info), TESSERA_SUCCESS);
  q.A = p.A;
  ASSERT_EQ(F::potri(col, low, n, p.A.data(), n, &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_LT(error_of_inverse(p.A, true), 1e-5);
  ASSERT_EQ(F::trtri(col, low, TESSERA_NON_UNIT, n, q.A.data(), n, &info), TESSERA_SUCCESS);
  ASSERT_EQ(F::lauum(col, low, n, q.A.data(), n), TESSERA_SUCCESS);
  EXPECT_LT(error_of_inverse(q.A, true), 1e-5);
  std::vector<int64_t> pivots(n);
  ASSERT_EQ(F::getrf(col, n, n, r.A.data(), n, pivots.data(), &info), TESSERA_SUCCESS);
  ASSERT_EQ(F::getri(col, n, r.A.data(), n, pivots.data(), &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_LT(error_of_inverse(r.A, false), 1e-5);
  r.A[3 + 3 * n] = 0;
  EXPECT_EQ(F::getri(col, n, r.A.data(), n, pivots.data(), &info), TESSERA_SUCCESS);
  EXPECT_EQ(info, 4);
}

TYPED_TEST(CSolvers, InvertOnMatrices) {
  Problem<TypeParam> p, q, r;
  tessera_matrix *A = nullptr, *B = nullptr, *C = nullptr;
  constexpr char type = Functions<TypeParam>::type;
  ASSERT_EQ(tessera_matrix_create(type, p.A.data(), n, n, n, 8, 8, &A), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, q.A.data(), n, n, n, 8, 8, &B), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, r.A.data(), n, n, n, n, 8, &C), TESSERA_SUCCESS);
  const auto low = TESSERA_LOWER;
  tessera_info *factorized = nullptr, *inverted = nullptr;
  tessera_pivots* pivots = nullptr;
  int64_t value = -1;
  const auto require_success = [&] {
    EXPECT_EQ(tessera_info_wait(inverted, &value), TESSERA_SUCCESS);
    EXPECT_EQ(value, 0);
    tessera_info_destroy(factorized);
    tessera_info_destroy(inverted);
  };
  ASSERT_EQ(tessera_potrf_submit(low, A, &factorized), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_potri_submit(low, A, &inverted), TESSERA_SUCCESS);
  require_success();
  ASSERT_EQ(tessera_potrf_submit(low, B, &factorized), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_trtri_submit(low, TESSERA_NON_UNIT, B, &inverted), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_lauum_submit(low, B), TESSERA_SUCCESS);
  require_success();
  ASSERT_EQ(tessera_getrf_submit(C, &pivots, &factorized), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_getri_submit(C, pivots, &inverted), TESSERA_SUCCESS);
  require_success();
  tessera_pivots_destroy(pivots);
  for (auto* matrix : {A, B, C}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
  EXPECT_LT(error_of_inverse(p.A, true), 1e-5);
  EXPECT_LT(error_of_inverse(q.A, true), 1e-5);
  EXPECT_LT(error_of_inverse(r.A, false), 1e-5);
}

TEST(CInversesBadInput, IsRefusedByPosition) {
  Problem<double> p;
  const auto before = p.A;
  double* a = p.A.data();
  int64_t info = -7;
  const auto col = TESSERA_COL_MAJOR;
  const auto low = TESSERA_LOWER;
  const auto unit = TESSERA_UNIT;
  EXPECT_EQ(tessera_dtrtri(static_cast<tessera_layout>(0), low, unit, n, a, n, &info), -1);
  EXPECT_EQ(tessera_dtrtri(col, static_cast<tessera_uplo>(0), unit, n, a, n, &info), -2);
  EXPECT_EQ(tessera_dtrtri(col, low, static_cast<tessera_diag>(0), n, a, n, &info), -3);
  EXPECT_EQ(tessera_dtrtri(col, low, unit, -1, a, n, &info), -4);
  EXPECT_EQ(tessera_dtrtri(col, low, unit, n, nullptr, n, &info), -5);
  EXPECT_EQ(tessera_dtrtri(col, low, unit, n, a, n - 1, &info), -6);
  EXPECT_EQ(tessera_dtrtri(col, low, unit, n, a, n, nullptr), -7);
  EXPECT_EQ(tessera_dtrtrs(col, low, static_cast<tessera_op>(0), unit, n, 1, a, n, a, n, &info), -3);
  EXPECT_EQ(tessera_dtrtrs(col, low, TESSERA_TRANS, unit, n, 1, a, n, a, n, nullptr), -11);
  EXPECT_EQ(tessera_dgeqrf(col, n, n, a, n, nullptr), -6);
  EXPECT_EQ(tessera_dormqr(col, static_cast<tessera_side>(0), TESSERA_TRANS, n, 1, n, a, n, a, a, n), -2);
  EXPECT_EQ(tessera_zunmqr(col, TESSERA_LEFT, TESSERA_TRANS, n, 1, n, a, n, a, a, n), -3);
  EXPECT_EQ(tessera_dorgqr(col, n, n, n + 1, a, n, a), -4);
  EXPECT_EQ(tessera_dgels(col, TESSERA_TRANS, n, n, 1, a, n, a, n, nullptr), -10);
  EXPECT_EQ(tessera_dlauum(col, static_cast<tessera_uplo>(0), n, a, n), -2);
  EXPECT_EQ(tessera_dlauum(col, low, n, a, n - 1), -5);
  EXPECT_EQ(tessera_dpotri(col, low, n, a, n - 1, &info), -5);
  EXPECT_EQ(tessera_dpotri(col, low, n, a, n, nullptr), -6);
  std::vector<int64_t> pivots(n, 1);
  EXPECT_EQ(tessera_dgetri(col, n, a, n - 1, pivots.data(), &info), -4);
  EXPECT_EQ(tessera_dgetri(col, n, a, n, nullptr, &info), -5);
  EXPECT_EQ(tessera_dgetri(col, n, a, n, pivots.data(), &info), -5);
  EXPECT_THAT(tessera_last_error(), HasSubstr("tessera_dgetri: argument 5 (ipiv) has 1 at 2, must be from 2 to 21"));
  EXPECT_EQ(tessera_dgetri(col, n, a, n, pivots.data(), nullptr), -6);
  tessera_matrix* A = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', a, n, n, n, 8, 8, &A), TESSERA_SUCCESS);
  tessera_info* result = nullptr;
  EXPECT_EQ(tessera_trtri_submit(low, static_cast<tessera_diag>(0), A, &result), -2);
  EXPECT_EQ(tessera_trtri_submit(low, unit, nullptr, &result), -3);
  EXPECT_EQ(tessera_trtri_submit(low, unit, A, nullptr), -4);
  EXPECT_EQ(tessera_lauum_submit(low, nullptr), -2);
  EXPECT_EQ(tessera_potri_submit(low, A, nullptr), -3);
  EXPECT_EQ(tessera_getri_submit(A, nullptr, &result), -2);
  EXPECT_EQ(tessera_matrix_destroy(A), TESSERA_SUCCESS);
  EXPECT_EQ(info, -7);
  EXPECT_EQ(p.A, before);
}

TEST(CSolversBadInput, IsRefusedByPosition) {
  Problem<double> p;
  const auto before = p.A;
  double *a = p.A.data(), *b = p.B.data();
  int64_t info = -7;
  const auto col = TESSERA_COL_MAJOR;
  const auto low = TESSERA_LOWER;
  EXPECT_EQ(tessera_dpotrf(static_cast<tessera_layout>(0), low, n, a, n, &info), -1);
  EXPECT_EQ(tessera_dpotrf(col, static_cast<tessera_uplo>(0), n, a, n, &info), -2);
  EXPECT_EQ(tessera_dpotrf(col, low, -1, a, n, &info), -3);
  EXPECT_EQ(tessera_dpotrf(col, low, n, nullptr, n, &info), -4);
  EXPECT_EQ(tessera_dpotrf(col, low, n, a, n - 1, &info), -5);
  EXPECT_THAT(tessera_last_error(), HasSubstr("tessera_dpotrf: argument 5 (lda) is 20, must be at least 21"));
  EXPECT_EQ(tessera_dpotrf(col, low, n, a, n, nullptr), -6);
  EXPECT_EQ(tessera_dpotrs(col, low, n, -1, a, n, b, n), -4);
  EXPECT_EQ(tessera_dposv(col, low, n, nrhs, a, n, b, n - 1, &info), -8);
  EXPECT_EQ(tessera_dposv(col, low, n, nrhs, a, n, b, n, nullptr), -9);
  std::vector<int64_t> pivots(n, 1);
  EXPECT_EQ(tessera_dgetrf(col, -1, n, a, n, pivots.data(), &info), -2);
  EXPECT_EQ(tessera_dgetrf(col, n, n, a, n, nullptr, &info), -6);
  EXPECT_EQ(tessera_dgetrf(col, n, n, a, n, pivots.data(), nullptr), -7);
  EXPECT_EQ(tessera_dgetrs(col, static_cast<tessera_op>(0), n, 1, a, n, pivots.data(), b, n), -2);
  EXPECT_EQ(tessera_dgetrs(col, TESSERA_NO_TRANS, n, 1, a, n, pivots.data(), b, n), -7);
  EXPECT_THAT(tessera_last_error(), HasSubstr("(ipiv) has 1 at 2, must be from 2 to 21"));
  EXPECT_EQ(tessera_dgesv(col, n, nrhs, a, n, pivots.data(), b, n - 1, &info), -8);
  EXPECT_EQ(tessera_dgetrf_nopiv(col, n, n, a, n - 1, nullptr, &info), -5);
  EXPECT_EQ(tessera_dgetrf_nopiv(col, n, n, a, n, nullptr, nullptr), -7);
  EXPECT_EQ(tessera_dgetrs_nopiv(col, static_cast<tessera_op>(0), n, 1, a, n, b, n), -2);
  EXPECT_EQ(tessera_dgesv_nopiv(col, n, nrhs, a, n, b, n - 1, nullptr, &info), -7);
  EXPECT_EQ(tessera_dgesv_nopiv(col, n, nrhs, a, n, b, n, nullptr, nullptr), -9);
  tessera_matrix *A = nullptr, *S = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', a, n, n, n, 8, 8, &A), TESSERA_SUCCESS);
  Problem<float> single;
  ASSERT_EQ(tessera_matrix_create('s', single.B.data(), n, nrhs, n, 8, 8, &S), TESSERA_SUCCESS);
  auto* result = reinterpret_cast<tessera_info*>(A);  // must become null
  EXPECT_EQ(tessera_potrf_submit(low, nullptr, &result), -2);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(tessera_potrf_submit(low, A, nullptr), -3);
  EXPECT_EQ(tessera_potrs_submit(low, A, S), -3);
  EXPECT_THAT(tessera_last_error(), HasSubstr("is not of the type of A, d"));
  EXPECT_EQ(tessera_posv_submit(low, A, A, &result), -3);
  EXPECT_EQ(tessera_info_wait(nullptr, &info), -1);
  tessera_pivots* rows = nullptr;
  EXPECT_EQ(tessera_getrf_submit(nullptr, &rows, &result), -1);
  EXPECT_EQ(tessera_getrf_submit(A, nullptr, &result), -2);
  EXPECT_EQ(tessera_getrf_submit(A, &rows, nullptr), -3);
  tessera_matrix* uneven = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', a, n, n, n, 12, 8, &uneven), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_getrf_submit(uneven, &rows, &result), -1) << "tiles of 12x8";
  EXPECT_EQ(tessera_matrix_destroy(uneven), TESSERA_SUCCESS);
  EXPECT_EQ(rows, nullptr);
  EXPECT_EQ(tessera_getrs_submit(TESSERA_NO_TRANS, A, nullptr, S), -3);
  EXPECT_EQ(tessera_pivots_wait(nullptr, pivots.data()), -1);
  auto* growth = reinterpret_cast<tessera_growth*>(A);
  EXPECT_EQ(tessera_getrf_nopiv_submit(nullptr, &growth, &result), -1);
  EXPECT_EQ(growth, nullptr);
  EXPECT_EQ(tessera_getrf_nopiv_submit(A, nullptr, nullptr), -3);
  EXPECT_EQ(tessera_getrs_nopiv_submit(TESSERA_NO_TRANS, A, S), -3);
  EXPECT_EQ(tessera_gesv_nopiv_submit(A, A, nullptr, &result), -2);
  EXPECT_EQ(tessera_growth_wait(nullptr, nullptr), -1);
  EXPECT_EQ(tessera_matrix_destroy(S), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_destroy(A), TESSERA_SUCCESS);
  EXPECT_EQ(info, -7);
  EXPECT_EQ(p.A, before);
}

}  // namespace
}  // namespace tessera::test::c_solvers_cpp

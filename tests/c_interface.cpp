// SPDX-License-Identifier: BSD-3-Clause
// The C interface: the right function for each type, statuses, and messages by thread.
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include <tessera/tessera.h>

#include "support/oracle.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

const auto* const runtime = share_runtime();

constexpr std::array c_ops{TESSERA_NO_TRANS, TESSERA_TRANS, TESSERA_CONJ_TRANS};

template <Scalar T>
tessera_status c_gemm(tessera_op op_a, tessera_op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda,
                      const T* B, Index ldb, T beta, T* C, Index ldc) {
  if constexpr (std::same_as<T, float>) return tessera_sgemm(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  else if constexpr (std::same_as<T, double>)
    return tessera_dgemm(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  else if constexpr (std::same_as<T, std::complex<float>>)
    return tessera_cgemm(op_a, op_b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
  else return tessera_zgemm(op_a, op_b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
}

template <Scalar T>
class CInterface : public ::testing::Test {};
TYPED_TEST_SUITE(CInterface, ScalarTypes);

TYPED_TEST(CInterface, MultipliesPointers) {
  using T = TypeParam;
  constexpr Index m = 20, n = 30, k = 25;
  for (std::size_t a = 0; a < c_ops.size(); a++)
    for (std::size_t b = 0; b < c_ops.size(); b++) {
      const auto A = random_operand<T>(1, all_ops[a], m, k, 1), B = random_operand<T>(2, all_ops[b], k, n, 2);
      const auto before = random_matrix<T>(3, m, n, 3);
      auto C = before;
      const T alpha = factors<T>().back(), beta = T(Real<T>(-0.5));
      ASSERT_EQ(
          c_gemm<T>(c_ops[a], c_ops[b], m, n, k, alpha, A.data(), A.ld(), B.data(), B.ld(), beta, C.data(), C.ld()),
          TESSERA_SUCCESS);
      ASSERT_TRUE(product_is_right<T>({all_ops[a], all_ops[b], alpha, A, B, beta}, before, C));
    }
}

TYPED_TEST(CInterface, MultipliesMatrices) {
  using T = TypeParam;
  constexpr Index m = 20, n = 30, k = 25;
  auto A = integer_matrix<T>(1, k, m, 1), B = integer_matrix<T>(2, k, n), C = integer_matrix<T>(3, m, n), expected = C;
  tessera_matrix *a = nullptr, *b = nullptr, *c = nullptr;
  ASSERT_EQ(tessera_matrix_create(type_letter<T>, A.data(), k, m, A.ld(), 6, 7, &a), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type_letter<T>, B.data(), k, n, B.ld(), 6, 8, &b), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type_letter<T>, C.data(), m, n, C.ld(), 7, 8, &c), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_mt(c), 3);
  EXPECT_EQ(tessera_matrix_nt(c), 4);
  const T alpha = is_complex<T> ? factors<T>()[4] : T(2), beta(3);
  for (int repeat = 0; repeat < 2; repeat++)
    ASSERT_EQ(tessera_gemm_submit(TESSERA_CONJ_TRANS, TESSERA_NO_TRANS, &alpha, a, b, &beta, c), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_wait(c), TESSERA_SUCCESS);
  for (int repeat = 0; repeat < 2; repeat++) host_product<T>({Op::ConjTrans, Op::NoTrans, alpha, A, B, beta}, expected);
  EXPECT_TRUE(C.equals(expected));
  for (auto* matrix : {a, b, c}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
}

TYPED_TEST(CInterface, ReportsThePositionOfAnIllegalArgument) {
  using T = TypeParam;
  const auto A = random_matrix<T>(1, 4, 4);
  auto C = random_matrix<T>(2, 4, 4);
  const auto before = C;
  const auto status = [&](tessera_op op_a, tessera_op op_b, Index m, Index n, Index k, const T* a, Index lda,
                          const T* b, Index ldb, T* c,
                          Index ldc) { return c_gemm<T>(op_a, op_b, m, n, k, T(1), a, lda, b, ldb, T(1), c, ldc); };
  constexpr auto N = TESSERA_NO_TRANS;
  const auto bad = static_cast<tessera_op>(114);
  const T* a = A.data();
  T* c = C.data();
  EXPECT_EQ(status(bad, N, 4, 4, 4, a, 4, a, 4, c, 4), -1);
  EXPECT_THAT(tessera_last_error(), HasSubstr("114"));
  EXPECT_EQ(status(N, bad, 4, 4, 4, a, 4, a, 4, c, 4), -2);
  EXPECT_EQ(status(N, N, -1, 4, 4, a, 4, a, 4, c, 4), -3);
  EXPECT_EQ(status(N, N, 4, -1, 4, a, 4, a, 4, c, 4), -4);
  EXPECT_EQ(status(N, N, 4, 4, -1, a, 4, a, 4, c, 4), -5);
  EXPECT_EQ(status(N, N, 4, 4, 4, nullptr, 4, a, 4, c, 4), -7);
  EXPECT_EQ(status(N, N, 4, 4, 4, a, 3, a, 4, c, 4), -8);
  EXPECT_THAT(tessera_last_error(), HasSubstr("lda"));
  EXPECT_EQ(status(N, N, 4, 4, 4, a, 4, nullptr, 4, c, 4), -9);
  EXPECT_EQ(status(N, N, 4, 4, 4, a, 4, a, 3, c, 4), -10);
  EXPECT_EQ(status(N, N, 4, 4, 4, a, 4, a, 4, nullptr, 4), -12);
  EXPECT_EQ(status(N, N, 4, 4, 4, c, 4, a, 4, c, 4), -12);  // C is an input
  EXPECT_EQ(status(N, N, 4, 4, 4, a, 4, a, 4, c, 3), -13);
  EXPECT_TRUE(C == before);
}

TEST(CInterfaceErrors, NullFactorsOfComplexProducts) {
  std::complex<float> C[1] = {};
  std::complex<double> Z[1] = {};
  const float one[2] = {1, 0};
  const double one_d[2] = {1, 0};
  constexpr auto N = TESSERA_NO_TRANS;
  EXPECT_EQ(tessera_cgemm(N, N, 1, 1, 0, nullptr, C, 1, C, 1, one, C, 1), -6);
  EXPECT_EQ(tessera_cgemm(N, N, 1, 1, 0, one, C, 1, C, 1, nullptr, C, 1), -11);
  EXPECT_EQ(tessera_zgemm(N, N, 1, 1, 0, nullptr, Z, 1, Z, 1, one_d, Z, 1), -6);
  EXPECT_EQ(tessera_zgemm(N, N, 1, 1, 0, one_d, Z, 1, Z, 1, nullptr, Z, 1), -11);
}

TEST(CInterfaceErrors, IllegalMatrices) {
  double data[16] = {};
  auto* matrix = reinterpret_cast<tessera_matrix*>(data);  // must become null
  EXPECT_EQ(tessera_matrix_create('q', data, 4, 4, 4, 2, 2, &matrix), -1);
  EXPECT_EQ(matrix, nullptr);
  EXPECT_THAT(tessera_last_error(), HasSubstr("'q'"));
  EXPECT_EQ(tessera_matrix_create('d', nullptr, 4, 4, 4, 2, 2, &matrix), -2);
  EXPECT_EQ(tessera_matrix_create('d', data, -4, 4, 4, 2, 2, &matrix), -3);
  EXPECT_EQ(tessera_matrix_create('d', data, 4, -4, 4, 2, 2, &matrix), -4);
  EXPECT_EQ(tessera_matrix_create('d', data, 4, 4, 3, 2, 2, &matrix), -5);
  EXPECT_THAT(tessera_last_error(), HasSubstr("is 3, must be at least 4"));
  EXPECT_EQ(tessera_matrix_create('d', data, 4, 4, 4, -2, 2, &matrix), -6);
  EXPECT_EQ(tessera_matrix_create('d', data, 4, 4, 4, 2, -2, &matrix), -7);
  EXPECT_EQ(tessera_matrix_create('d', data, 4, 4, 4, 2, 2, nullptr), -8);
}

/// A message names the function, the argument and the problem once.
TEST(CInterfaceErrors, MessagesOfMatricesAreOneSentence) {
  double data[16] = {};
  tessera_matrix* matrix = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', data, 4, 4, 3, 2, 2, &matrix), -5);
  EXPECT_STREQ(tessera_last_error(), "tessera_matrix_create: argument 5 (ld) is 3, must be at least 4");
}

TEST(CInterfaceErrors, IllegalSubmissions) {
  double data[16] = {};
  float other[16] = {};
  tessera_matrix *d = nullptr, *s = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', data, 4, 4, 4, 2, 2, &d), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create('s', other, 4, 4, 4, 2, 2, &s), TESSERA_SUCCESS);
  constexpr auto N = TESSERA_NO_TRANS;
  const double one = 1;
  EXPECT_EQ(tessera_gemm_submit(static_cast<tessera_op>(0), N, &one, d, d, &one, d), -1);
  EXPECT_EQ(tessera_gemm_submit(N, static_cast<tessera_op>('N'), &one, d, d, &one, d), -2);
  EXPECT_EQ(tessera_gemm_submit(N, N, nullptr, d, d, &one, d), -3);
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, nullptr, d, &one, d), -4);
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, s, d, &one, d), -4);
  EXPECT_THAT(tessera_last_error(), HasSubstr("type"));
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, d, nullptr, &one, d), -5);
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, d, s, &one, d), -5);
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, d, d, nullptr, d), -6);
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, d, d, &one, nullptr), -7);
  EXPECT_EQ(tessera_gemm_submit(N, N, &one, d, d, &one, d), -7);  // C is an input
  EXPECT_EQ(tessera_matrix_destroy(d), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_destroy(s), TESSERA_SUCCESS);
}

TEST(CInterfaceErrors, NoMatrix) {
  EXPECT_EQ(tessera_matrix_destroy(nullptr), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_wait(nullptr), -1);
  EXPECT_EQ(tessera_matrix_mt(nullptr), 0);
  EXPECT_EQ(tessera_matrix_nt(nullptr), 0);
  EXPECT_EQ(tessera_matrix_handle(nullptr, 0, 0), nullptr);
}

TEST(CInterfaceErrors, AreThoseOfTheThread) {
  EXPECT_EQ(tessera_matrix_wait(nullptr), -1);
  const std::string mine = tessera_last_error();
  std::thread([] {
    EXPECT_STREQ(tessera_last_error(), "");
    EXPECT_EQ(tessera_sgemm(TESSERA_NO_TRANS, TESSERA_NO_TRANS, -1, 1, 1, 1, nullptr, 1, nullptr, 1, 0, nullptr, 1),
              -3);
  }).join();
  EXPECT_EQ(tessera_last_error(), mine);
}

TEST(CInterfaceInit, NestsWithFinalize) {
  EXPECT_EQ(tessera_init(-1, -1), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_init(-1, -1), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_finalize(), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_wait(), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_finalize(), TESSERA_SUCCESS);
}

}  // namespace
}  // namespace tessera::test

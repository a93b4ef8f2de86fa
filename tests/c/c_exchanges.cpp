// SPDX-License-Identifier: BSD-3-Clause
// Row exchanges in C.
#include <gmock/gmock.h>

#include <complex>
#include <vector>

#include <tessera/tessera.h>
#include <tessera/types.hpp>

#include "support/tested_types.hpp"

namespace tessera::test::c_exchanges_cpp {
namespace {

using ::testing::HasSubstr;

constexpr int n = 9;

template <typename T>
struct Exchanges;
#define EXCHANGES(letter, T)                               \
  template <>                                              \
  struct Exchanges<T> {                                    \
    static constexpr char type = #letter[0];               \
    static constexpr auto laswp = tessera_##letter##laswp; \
  };
EXCHANGES(s, float)
EXCHANGES(d, double)
EXCHANGES(c, std::complex<float>)
EXCHANGES(z, std::complex<double>)

/// Element (i, j) is 10 i + j.
template <typename T>
std::vector<T> numbered() {
  std::vector<T> A(n * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) A[i + j * n] = static_cast<T>(static_cast<float>(10 * i + j));
  return A;
}

template <typename T>
class CExchanges : public ::testing::Test {};
TYPED_TEST_SUITE(CExchanges, ScalarTypes);

TYPED_TEST(CExchanges, OfRowsOnPointers) {
  using F = Exchanges<TypeParam>;
  const auto A = numbered<TypeParam>();
  const std::vector<int64_t> pivots{3, 9, 9};
  auto X = A;
  ASSERT_EQ(F::laswp(TESSERA_COL_MAJOR, n, X.data(), n, 1, 3, pivots.data(), 1), TESSERA_SUCCESS);
  for (int j = 0; j < n; j++)
    for (const auto& [row, from] : {std::pair{0, 2}, {1, 8}, {2, 1}, {8, 0}, {4, 4}})
      EXPECT_EQ(X[row + j * n], A[from + j * n]) << row;
  ASSERT_EQ(F::laswp(TESSERA_COL_MAJOR, n, X.data(), n, 1, 3, pivots.data(), -1), TESSERA_SUCCESS);
  EXPECT_EQ(X, A);
  ASSERT_EQ(F::laswp(TESSERA_ROW_MAJOR, n, X.data(), n, 2, 2, pivots.data(), 1), TESSERA_SUCCESS);
  for (int j = 0; j < n; j++) EXPECT_EQ(X[j + 1 * n], A[j + 8 * n]);
}

/// The antidiagonal of A dominates, so its rows are exchanged.
TYPED_TEST(CExchanges, OfRowsOnMatrices) {
  constexpr char type = Exchanges<TypeParam>::type;
  std::vector<TypeParam> A(n * n), X = numbered<TypeParam>();
  for (int i = 0; i < n; i++) A[n - 1 - i + i * n] = static_cast<TypeParam>(4);
  tessera_matrix *a = nullptr, *x = nullptr;
  ASSERT_EQ(tessera_matrix_create(type, A.data(), n, n, n, n, 4, &a), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create(type, X.data(), n, n, n, 5, 4, &x), TESSERA_SUCCESS);
  tessera_pivots* pivots = nullptr;
  tessera_info* info = nullptr;
  ASSERT_EQ(tessera_getrf_submit(a, &pivots, &info), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_laswp_submit(x, pivots, 1), TESSERA_SUCCESS);
  EXPECT_NE(tessera_pivots_handle(pivots, 2), nullptr);
  EXPECT_EQ(tessera_pivots_handle(pivots, 3), nullptr);
  EXPECT_EQ(tessera_pivots_handle(pivots, -1), nullptr);
  EXPECT_EQ(tessera_pivots_handle(nullptr, 0), nullptr);
  EXPECT_EQ(tessera_laswp_submit(nullptr, pivots, 1), -1);
  EXPECT_EQ(tessera_laswp_submit(x, nullptr, 1), -2);
  EXPECT_EQ(tessera_laswp_submit(x, pivots, 0), -3);
  EXPECT_THAT(tessera_last_error(), HasSubstr("tessera_laswp_submit: argument 3 (incx) is 0, must be 1 or -1"));
  ASSERT_EQ(tessera_matrix_wait(x), TESSERA_SUCCESS);
  const auto before = numbered<TypeParam>();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) ASSERT_EQ(X[i + j * n], before[n - 1 - i + j * n]);
  tessera_pivots_destroy(pivots);
  tessera_info_destroy(info);
  EXPECT_EQ(tessera_matrix_destroy(x), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_destroy(a), TESSERA_SUCCESS);
}

TEST(CExchangesBadInput, IsRefusedByPosition) {
  std::vector<double> A(n * n, 1);
  std::vector<int64_t> pivots{2, n + 1};
  double* a = A.data();
  const auto col = TESSERA_COL_MAJOR;
  EXPECT_EQ(tessera_dlaswp(static_cast<tessera_layout>(0), n, a, n, 1, 1, pivots.data(), 1), -1);
  EXPECT_EQ(tessera_dlaswp(col, -1, a, n, 1, 1, pivots.data(), 1), -2);
  EXPECT_EQ(tessera_dlaswp(col, n, nullptr, n, 1, 1, pivots.data(), 1), -3);
  EXPECT_EQ(tessera_dlaswp(col, n, a, n, 1, 2, pivots.data(), 1), -4);
  EXPECT_THAT(tessera_last_error(), HasSubstr("tessera_dlaswp: argument 4 (lda) is 9, must be at least 10"));
  EXPECT_EQ(tessera_dlaswp(col, n, a, n, 0, 1, pivots.data(), 1), -5);
  EXPECT_EQ(tessera_dlaswp(col, n, a, n, 1, 2, nullptr, 1), -7);
  pivots[0] = 0;
  EXPECT_EQ(tessera_dlaswp(col, n, a, n, 1, 1, pivots.data(), 1), -7);
  EXPECT_EQ(A, std::vector<double>(n * n, 1));
}

}  // namespace
}  // namespace tessera::test::c_exchanges_cpp

// SPDX-License-Identifier: BSD-3-Clause
// The C interface without the routines: matrices and their views, statuses, and each thread's error message.
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include <tessera/tessera.h>

#include "devices/cpu/host_blas.hpp"
#include "support/matrices.hpp"
#include "support/runtime.hpp"
#include "support/tiled.hpp"

namespace tessera::test::c_interface_cpp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Index tile = 8;
const auto* const runtime = share_runtime(with_tile(tile));

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

/// A message names the function, the argument and the problem, each once.
TEST(CInterfaceErrors, MessagesOfMatricesAreOneSentence) {
  double data[16] = {};
  tessera_matrix* matrix = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', data, 4, 4, 3, 2, 2, &matrix), -5);
  EXPECT_STREQ(tessera_last_error(), "tessera_matrix_create: argument 5 (ld) is 3, must be at least 4");
}

TEST(CInterfaceErrors, IllegalViews) {
  auto A = integer_matrix<std::complex<double>>(1, 4, 6);
  tessera_matrix* a = nullptr;
  ASSERT_EQ(tessera_matrix_create('z', A.data(), 4, 6, A.ld(), 2, 2, &a), TESSERA_SUCCESS);
  auto* view = reinterpret_cast<tessera_matrix*>(A.data());  // must become null
  EXPECT_EQ(tessera_matrix_view(nullptr, 0, 1, 0, 1, &view), -1);
  EXPECT_EQ(view, nullptr);
  EXPECT_EQ(tessera_matrix_view(a, -1, 1, 0, 1, &view), -2);
  EXPECT_EQ(tessera_matrix_view(a, 0, 3, 0, 1, &view), -3);
  EXPECT_EQ(tessera_matrix_view(a, 0, 2, 3, 4, &view), -4);
  EXPECT_THAT(tessera_last_error(), StartsWith("tessera_matrix_view: argument 4 (j0) starts the range [3, 4)"));
  EXPECT_EQ(tessera_matrix_view(a, 0, 1, 0, 1, nullptr), -6);

  EXPECT_EQ(tessera_matrix_transposed(nullptr, TESSERA_TRANS, &view), -1);
  EXPECT_EQ(tessera_matrix_transposed(a, static_cast<tessera_op>(0), &view), -2);
  EXPECT_EQ(tessera_matrix_transposed(a, TESSERA_TRANS, nullptr), -3);
  tessera_matrix* conjugated = nullptr;
  ASSERT_EQ(tessera_matrix_transposed(a, TESSERA_CONJ_TRANS, &conjugated), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_transposed(conjugated, TESSERA_TRANS, &view), -1);
  EXPECT_EQ(view, nullptr);
  EXPECT_THAT(tessera_last_error(), StartsWith("tessera_matrix_transposed: argument 1 (matrix) is a conjugate"));
  for (auto* matrix : {a, conjugated}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
}

TEST(CInterfaceErrors, NoMatrix) {
  EXPECT_EQ(tessera_matrix_destroy(nullptr), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_wait(nullptr), -1);
  EXPECT_EQ(tessera_matrix_mt(nullptr), 0);
  EXPECT_EQ(tessera_matrix_nt(nullptr), 0);
  EXPECT_EQ(tessera_matrix_handle(nullptr, 0, 0), nullptr);
}

TEST(CInterfaceErrors, ArePerThread) {
  EXPECT_EQ(tessera_matrix_wait(nullptr), -1);
  const std::string mine = tessera_last_error();
  std::thread([] {
    EXPECT_STREQ(tessera_last_error(), "");
    EXPECT_EQ(tessera_sgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, -1, 1, 1, 1, nullptr, 1, nullptr, 1,
                            0, nullptr, 1),
              -4);
  }).join();
  EXPECT_EQ(tessera_last_error(), mine);
}

/// A step of a Cholesky factorization on views, which outlive the handle of the whole matrix.
TEST(CInterfaceViews, ShareTheTiles) {
  using T = std::complex<double>;
  constexpr Index n = 2 * tile + 3;
  auto A = integer_matrix<T>(1, n, n), expected = A;
  const T one(1), minus_one(-1);
  tessera_matrix *a = nullptr, *corner = nullptr, *panel = nullptr, *rest = nullptr, *panel_h = nullptr;
  ASSERT_EQ(tessera_matrix_create('z', A.data(), n, n, A.ld(), tile, tile, &a), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_view(a, 0, 1, 0, 1, &corner), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_view(a, 1, 3, 0, 1, &panel), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_view(a, 1, 3, 1, 3, &rest), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_transposed(panel, TESSERA_CONJ_TRANS, &panel_h), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_mt(panel_h), 1);
  EXPECT_EQ(tessera_matrix_nt(panel_h), 2);
  EXPECT_EQ(tessera_matrix_handle(panel_h, 0, 1), tessera_matrix_handle(a, 2, 0));
  EXPECT_EQ(tessera_trsm_submit(TESSERA_RIGHT, TESSERA_LOWER, TESSERA_CONJ_TRANS, TESSERA_UNIT, &one, corner, panel),
            TESSERA_SUCCESS);
  EXPECT_EQ(tessera_herk_submit(TESSERA_LOWER, TESSERA_CONJ_TRANS, &minus_one, panel_h, &one, rest), TESSERA_SUCCESS);
  for (auto* matrix : {a, corner, panel, panel_h}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_destroy(rest), TESSERA_SUCCESS);  // the last view, so it waits for all tiles

  const auto m = static_cast<int>(n - tile), k = static_cast<int>(tile), ld = static_cast<int>(expected.ld());
  device::cpu::trsm<T>(Side::Right, Uplo::Lower, Op::ConjTrans, Diag::Unit, m, k, one, expected.data(), ld,
                       &expected(tile, 0), ld);
  device::cpu::herk<T>(Uplo::Lower, Op::NoTrans, m, k, -1, &expected(tile, 0), ld, 1, &expected(tile, tile), ld);
  EXPECT_TRUE(A.equals(expected));
}

TEST(CInterfaceWithoutMemory, ChecksArguments) {
  char memory = 0;
  auto* matrix = reinterpret_cast<tessera_matrix*>(&memory);  // must become null
  EXPECT_EQ(tessera_matrix_create_without_memory('q', 4, 4, 2, 2, &matrix), -1);
  EXPECT_EQ(matrix, nullptr);
  EXPECT_EQ(tessera_matrix_create_without_memory('d', -4, 4, 2, 2, &matrix), -2);
  EXPECT_EQ(tessera_matrix_create_without_memory('d', 4, -4, 2, 2, &matrix), -3);
  EXPECT_EQ(tessera_matrix_create_without_memory('d', 4, 4, -2, 2, &matrix), -4);
  EXPECT_EQ(tessera_matrix_create_without_memory('d', 4, 4, 2, -2, &matrix), -5);
  EXPECT_STREQ(tessera_last_error(), "tessera_matrix_create_without_memory: argument 5 (nb) is -2, must be at least 0");
  EXPECT_EQ(tessera_matrix_create_without_memory('d', 4, 4, 2, 2, nullptr), -6);
  EXPECT_EQ(tessera_copy_submit(nullptr, nullptr), -2);
}

TEST(CInterfaceWithoutMemory, CarriesAResultFromCallToCall) {
  constexpr Index n = 2 * tile + 3;
  const auto A = integer_matrix<double>(1, n, n);
  HostMatrix<double> D(n, n), product(n, n), expected(n, n);
  const double one = 1, zero = 0;
  tessera_matrix *a = nullptr, *c = nullptr, *d = nullptr, *other = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', const_cast<double*>(A.data()), n, n, A.ld(), tile, tile, &a), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create('d', D.data(), n, n, D.ld(), tile, tile, &d), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create_without_memory('d', n, n, tile, tile, &c), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_create_without_memory('s', n, n, tile, tile, &other), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_copy_submit(c, d), -1);
  EXPECT_STREQ(tessera_last_error(),
               "tessera_copy_submit: argument 1 (A) is a matrix without memory, and its tile (0, 0) is read before "
               "anything has written it");
  EXPECT_EQ(tessera_copy_submit(a, other), -1);
  EXPECT_EQ(tessera_gemm_submit(TESSERA_NO_TRANS, TESSERA_NO_TRANS, &one, a, a, &zero, c), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_wait(c), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_copy_submit(c, d), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_matrix_wait(d), TESSERA_SUCCESS);
  host_product<double>({Op::NoTrans, Op::NoTrans, one, A, A, zero}, product);
  EXPECT_TRUE(D.equals(product));
  EXPECT_EQ(tessera_gemm_submit(TESSERA_NO_TRANS, TESSERA_NO_TRANS, &one, a, c, &zero, d), TESSERA_SUCCESS);
  for (auto* matrix : {a, c, d, other}) EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
  host_product<double>({Op::NoTrans, Op::NoTrans, one, A, product, zero}, expected);
  EXPECT_TRUE(D.equals(expected));
}

TEST(CInterfaceInit, NestsWithFinalize) {
  EXPECT_EQ(tessera_init(-1, -1), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_init(-1, -1), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_finalize(), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_wait(), TESSERA_SUCCESS);
  EXPECT_EQ(tessera_finalize(), TESSERA_SUCCESS);
}

}  // namespace
}  // namespace tessera::test::c_interface_cpp

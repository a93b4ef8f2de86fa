// SPDX-License-Identifier: BSD-3-Clause
// Functions that wait are refused within a StarPU task, before anything is registered or submitted.
#include <gmock/gmock.h>

#include <optional>

#include <tessera/tessera.h>
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "support/oracle.hpp"
#include "support/runtime.hpp"
#include "support/starpu.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime(with_tile(8));

constexpr Index size = 20;

void product(const HostMatrix<double>& A, HostMatrix<double>& C) {
  gemm<double>(Op::NoTrans, Op::NoTrans, size, size, size, 1, A.data(), A.ld(), A.data(), A.ld(), 1, C.data(), C.ld());
}

/// Runs `body` within a task of the program. Returns the message of its exception, or "".
std::string error_in_task(std::function<void()> body) {
  std::string error;
  submit(task_of([&](void** /*buffers*/) {
    try {
      body();
    } catch (const RuntimeError& refusal) {
      error = refusal.what();
    }
  }));
  starpu_task_wait_for_all();
  return error;
}

class InATask : public ::testing::Test {
 protected:
  /// The refused calls have not changed C, and the same call outside of a task gives the right result.
  void TearDown() override {
    EXPECT_TRUE(C.equals(before)) << "it has been touched";
    product(A, C);
    host_product<double>({Op::NoTrans, Op::NoTrans, 1, A, A, 1}, before);
    EXPECT_TRUE(C.equals(before));
  }

  const HostMatrix<double> A = integer_matrix<double>(1, size, size);
  HostMatrix<double> C = integer_matrix<double>(2, size, size), before = C;
};

TEST_F(InATask, RoutinesOnPointersAreRefused) {
  const auto tasks = statistics().tasks;
  const auto a = A.data();
  const auto c = C.data();
  const Index ld = A.ld();
  const std::string because = ": called from within a StarPU task or its callback";
  EXPECT_EQ(error_in_task([&] { product(A, C); }), "gemm" + because);
  EXPECT_EQ(error_in_task(
                [&] { gemmt<double>(Uplo::Lower, Op::NoTrans, Op::NoTrans, size, size, 1, a, ld, a, ld, 1, c, ld); }),
            "gemmt" + because);
  EXPECT_EQ(error_in_task([&] { symm<double>(Side::Left, Uplo::Lower, size, size, 1, a, ld, a, ld, 1, c, ld); }),
            "symm" + because);
  EXPECT_EQ(error_in_task([&] { syrk<double>(Uplo::Lower, Op::NoTrans, size, size, 1, a, ld, 1, c, ld); }),
            "syrk" + because);
  EXPECT_EQ(error_in_task([&] { syr2k<double>(Uplo::Lower, Op::NoTrans, size, size, 1, a, ld, a, ld, 1, c, ld); }),
            "syr2k" + because);
  EXPECT_EQ(error_in_task(
                [&] { trsm<double>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, size, size, 1, a, ld, c, ld); }),
            "trsm" + because);
  EXPECT_EQ(statistics().tasks, tasks) << "something has been submitted";
}

TEST_F(InATask, ARefusedSolverHasScaledNothing) {
  auto huge = C;
  for (Index j = 0; j < size; j++)
    for (Index i = 0; i < size; i++) huge(i, j) *= 1e300;
  const auto unscaled = huge;
  EXPECT_EQ(error_in_task([&] { gels<double>(Op::NoTrans, size, size, 1, huge.data(), huge.ld(), C.data(), C.ld()); }),
            "gels: called from within a StarPU task or its callback");
  EXPECT_TRUE(huge.equals(unscaled));
}

TEST_F(InATask, ARoutineInCIsRefused) {
  tessera_status status = 0;
  std::string error;
  error_in_task([&] {
    status = tessera_dgemm(TESSERA_COL_MAJOR, TESSERA_NO_TRANS, TESSERA_NO_TRANS, size, size, size, 1, A.data(), A.ld(),
                           A.data(), A.ld(), 1, C.data(), C.ld());
    error = tessera_last_error();
  });
  EXPECT_EQ(status, TESSERA_RUNTIME_FAILURE);
  EXPECT_THAT(error, ::testing::HasSubstr("within a StarPU task"));
}

TEST_F(InATask, WaitingIsRefused) {
  const auto c = tiled(C, {8, 8});
  EXPECT_THAT(error_in_task([&] { c.wait(); }), ::testing::HasSubstr("Matrix::wait"));
  EXPECT_THAT(error_in_task([&] { wait(); }), ::testing::HasSubstr("tessera::wait"));
  tessera_status status = 0;
  std::string error;
  error_in_task([&] { status = tessera_wait(), error = tessera_last_error(); });
  EXPECT_EQ(status, TESSERA_RUNTIME_FAILURE);
  EXPECT_THAT(error, ::testing::HasSubstr("tessera_wait"));
}

TEST_F(InATask, NoMatrixAndNoRuntimeBegins) {
  EXPECT_THAT(error_in_task([&] { tiled(C, {8, 8}); }), ::testing::HasSubstr("Matrix"));
  EXPECT_THAT(error_in_task([&] { const Runtime another; }), ::testing::HasSubstr("Runtime"));
}

TEST_F(InATask, TheLastMatrixInCStays) {
  tessera_matrix *matrix = nullptr, *view = nullptr;
  ASSERT_EQ(tessera_matrix_create('d', C.data(), size, size, C.ld(), 8, 8, &matrix), TESSERA_SUCCESS);
  ASSERT_EQ(tessera_matrix_view(matrix, 0, 1, 0, 1, &view), TESSERA_SUCCESS);
  tessera_status of_view = -1, of_last = -1;
  error_in_task([&] { of_view = tessera_matrix_destroy(view), of_last = tessera_matrix_destroy(matrix); });
  EXPECT_EQ(of_view, TESSERA_SUCCESS);
  EXPECT_EQ(of_last, TESSERA_RUNTIME_FAILURE);
  EXPECT_EQ(tessera_matrix_destroy(matrix), TESSERA_SUCCESS);
}

TEST_F(InATask, RoutinesOnMatricesAreNotRefused) {
  auto X = integer_matrix<double>(3, size, size), expected = X;
  {
    const auto a = tiled(A, {8, 8}), x = tiled(X, {8, 8});
    EXPECT_EQ(error_in_task([&] { gemm<double>(Op::NoTrans, Op::NoTrans, 1, a, a, 1, x); }), "");
    x.wait();
  }
  host_product<double>({Op::NoTrans, Op::NoTrans, 1, A, A, 1}, expected);
  EXPECT_TRUE(X.equals(expected));
}

// The destructor cannot throw, since unwinding could not wait for the tiles, either.
TEST(InATaskDeathTest, TheEndOfAMatrixSaysWhyItEndsTheProgram) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        HostMatrix<double> C(size, size);
        std::optional<Matrix<double>> c = tiled(C, {8, 8});
        error_in_task([&] { c.reset(); });
      },
      "Matrix::~Matrix: called from within a StarPU task");
}

}  // namespace
}  // namespace tessera::test

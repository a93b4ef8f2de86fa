// SPDX-License-Identifier: BSD-3-Clause
// The routines in C: each function calls the right routine for the right type, and reports the position of an illegal
// argument.
#include <gmock/gmock.h>

#include <string>

#include <tessera/tessera.h>

#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/row_major.hpp"

namespace tessera::test::c_routines_cpp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Index tile = 8;  // the tile size of the runtime in c_interface.cpp

// The C values of C++ arguments. An illegal option becomes 0, which is illegal in C, too.
tessera_layout in_c(Layout x) { return x == Layout::RowMajor ? TESSERA_ROW_MAJOR : TESSERA_COL_MAJOR; }
tessera_side in_c(Side x) {
  return x == Side::Left ? TESSERA_LEFT : x == Side::Right ? TESSERA_RIGHT : static_cast<tessera_side>(0);
}
tessera_uplo in_c(Uplo x) {
  return x == Uplo::Lower ? TESSERA_LOWER : x == Uplo::Upper ? TESSERA_UPPER : static_cast<tessera_uplo>(0);
}
tessera_diag in_c(Diag x) {
  return x == Diag::Unit ? TESSERA_UNIT : x == Diag::NonUnit ? TESSERA_NON_UNIT : static_cast<tessera_diag>(0);
}
tessera_op in_c(Op x) {
  return x == Op::NoTrans     ? TESSERA_NO_TRANS
         : x == Op::Trans     ? TESSERA_TRANS
         : x == Op::ConjTrans ? TESSERA_CONJ_TRANS
                              : static_cast<tessera_op>(0);
}
template <typename X>
X in_c(X x) {
  return x;
}

/// A factor that converts to a value or to an address, whichever the C function takes.
template <Scalar T>
struct Number : Factor<T> {
  operator const void*() const { return &this->value; }  // NOLINT(google-explicit-constructor)
};
template <Scalar T>
Number<T> in_c(const Factor<T>& x) {
  return {x};
}

#define CZ(name) common::of_type<T>(tessera_c##name, tessera_z##name)
#define SDCZ(name) common::of_type<T>(tessera_s##name, tessera_d##name, tessera_c##name, tessera_z##name)

/// Calls the C function of a routine for the type T.
template <Scalar T>
tessera_status call_in_c(const std::string& routine, Layout layout, const Arguments<T>& arguments) {
  tessera_status status = TESSERA_RUNTIME_FAILURE;
#define ROUTINE(function, types, shape, alpha, beta) \
  if constexpr (blas::exists<T>(blas::Types::types)) \
    if (routine == #function)                        \
      shapes::shape::on_pointers([&](const auto&... x) { status = types(function)(in_c(x)...); }, arguments, layout);
#include "blas/routines.def"
#undef ROUTINE
  return status;
}

/// The routine with its C function in place of the C++ one.
template <Scalar T>
Routine<T> with_layout_in_c(Routine<T> routine) {
#define ROUTINE(function, types, shape, alpha, beta)                          \
  if (routine.name == #function)                                              \
    routine.with_layout = [](Layout layout, const Arguments<T>& arguments) {  \
      EXPECT_EQ(call_in_c<T>(#function, layout, arguments), TESSERA_SUCCESS); \
    };
#include "blas/routines.def"
#undef ROUTINE
  return routine;
}

class CRoutines : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, CRoutines, each_routine(), its_name);

TEST_P(CRoutines, ComputesByColumnsAndByRows) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto with_layout = with_layout_in_c(routine);
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const auto before = integer_call_with_factors(with_layout, options, {tile + 3, 2 * tile + 1, tile + 2}, ++seed);
      auto by_columns = before, row_major = before;
      with_layout.with_layout(Layout::ColMajor, by_columns.arguments());
      ASSERT_TRUE(result_is_that_of_the_host(before, by_columns));
      in_row_major(row_major);
      ASSERT_TRUE(result_is_that_of_the_host(before, row_major)) << "row-major";
    });
  });
}

/// A C matrix handle on an operand of a call.
template <Scalar T>
class CMatrix {
 public:
  CMatrix(HostMatrix<T>& A, Size tiles) {
    EXPECT_EQ(
        tessera_matrix_create(type_letter<T>, A.data(), A.m(), A.n(), A.ld(), tiles.rows, tiles.columns, &matrix_),
        TESSERA_SUCCESS);
  }
  ~CMatrix() { EXPECT_EQ(tessera_matrix_destroy(matrix_), TESSERA_SUCCESS); }
  CMatrix(const CMatrix&) = delete;
  CMatrix& operator=(const CMatrix&) = delete;
  operator const tessera_matrix*() const { return matrix_; }  // NOLINT(google-explicit-constructor)

 private:
  tessera_matrix* matrix_ = nullptr;
};

/// The arguments of all routines on matrices; each routine uses those that it has.
struct Submission {
  Options options;
  const void* alpha;
  const tessera_matrix* A;
  const tessera_matrix* B;
  const void* beta;
  const tessera_matrix* C;
};

tessera_status submit_in_c(const std::string& routine, const Submission& x) {
#define ROUTINE(function, types, shape, alpha, beta) \
  if (routine == #function)                          \
    return shapes::shape::on_matrices([](auto... y) { return tessera_##function##_submit(in_c(y)...); }, x);
#include "blas/routines.def"
#undef ROUTINE
  return TESSERA_RUNTIME_FAILURE;
}

TEST_P(CRoutines, ComputesOnMatrices) {
  run([]<Scalar T>(const Routine<T>& routine) {
    constexpr Extent size{17, 22, 19}, cut{7, 8, 6};
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const auto before = integer_call_with_factors(routine, options, size, ++seed);
      auto after = before;
      const CMatrix<T> a(after.A, routine.size_a(options, cut)), c(after.C, routine.size_c(options, cut)),
          b(after.B, routine.has_b() ? routine.size_b(options, cut) : Size{1, 1});
      ASSERT_EQ(submit_in_c(routine.name, {options, &after.alpha, a, b, &after.beta, c}), TESSERA_SUCCESS);
      ASSERT_EQ(tessera_matrix_wait(c), TESSERA_SUCCESS);
      ASSERT_TRUE(result_is_that_of_the_host(before, after));
    });
  });
}

/// Sets one argument that is not a number to an illegal value. The output B of trmm and trsm is C here.
template <typename AnyArguments>
bool spoil(const std::string& name, bool has_c, AnyArguments& x) {
  if (name == "side") x.options.side = Side('?');
  else if (name == "uplo") x.options.uplo = Uplo('?');
  else if (name == "op" || name == "op_a") x.options.op_a = Op('?');
  else if (name == "op_b") x.options.op_b = Op('?');
  else if (name == "diag") x.options.diag = Diag('?');
  else if (name == "A") x.A = nullptr;
  else if (name == "B" && has_c) x.B = nullptr;
  else if (name == "B" || name == "C") x.C = nullptr;
  else return false;
  return true;
}

TEST_P(CRoutines, ReportsThePositionOfAnIllegalArgument) {
  run([]<Scalar T>(const Routine<T>& routine) {
    auto call = integer_call(routine, {}, {4, 4, 4}, 1);
    const auto before = call;
    const auto legal = call.arguments();
    int position = 1;
    for (const auto& name : routine.arguments) {
      position++;
      auto x = legal;
      if (name == "m") x.size.m = -1;
      else if (name == "n") x.size.n = -1;
      else if (name == "k") x.size.k = -1;
      else if (name == "lda") x.lda = 0;
      else if (name == "ldb" && routine.has("C")) x.ldb = 0;
      else if (name == "ldb" || name == "ldc") x.ldc = 0;
      else if (!spoil(name, routine.has("C"), x)) continue;  // alpha and beta
      const auto start = std::string("tessera_") + type_letter<T> + routine.name + ": argument " +
                         std::to_string(position) + " (" + name + ") is ";
      for (const Layout layout : {Layout::ColMajor, Layout::RowMajor}) {
        EXPECT_EQ(call_in_c(routine.name, layout, x), -position) << name;
        EXPECT_THAT(tessera_last_error(), StartsWith(start));
      }
    }
    auto x = legal;
    x.C = const_cast<T*>(x.A);
    EXPECT_EQ(call_in_c(routine.name, Layout::ColMajor, x), -static_cast<int>(routine.arguments.size()));
    EXPECT_THAT(tessera_last_error(), HasSubstr("shares memory"));
    EXPECT_TRUE(call.C == before.C);
  });
}

TEST_P(CRoutines, ReportsThePositionOfAnIllegalSubmission) {
  run([]<Scalar T>(const Routine<T>& routine) {
    using Other = std::conditional_t<std::same_as<T, float>, double, float>;
    auto call = integer_call(routine, {}, {4, 4, 4}, 1);
    auto A = integer_matrix<T>(1, 4, 4), B = integer_matrix<T>(2, 4, 4), C = integer_matrix<T>(3, 4, 4);
    auto O = integer_matrix<Other>(4, 4, 4);
    const auto before = C;
    const CMatrix<T> a(A, {2, 2}), b(B, {2, 2}), c(C, {2, 2});
    const CMatrix<Other> other(O, {2, 2});
    const T one(1);
    const Submission legal{{}, &one, a, b, &one, c};
    int position = 0;
    for (const auto& name : routine.arguments) {
      if (name == "m" || name == "n" || name == "k" || name.starts_with("ld")) continue;
      position++;
      auto x = legal;
      if (name == "alpha") x.alpha = nullptr;
      else if (name == "beta") x.beta = nullptr;
      else ASSERT_TRUE(spoil(name, routine.has("C"), x));
      EXPECT_EQ(submit_in_c(routine.name, x), -position) << name;
      EXPECT_THAT(tessera_last_error(), StartsWith("tessera_" + routine.name + "_submit: argument " +
                                                   std::to_string(position) + " (" + name + ") is "));
      x = legal;
      if (name == "A") x.A = other;
      else if (name == "B" && routine.has("C")) x.B = other;
      else continue;
      EXPECT_EQ(submit_in_c(routine.name, x), -position) << name;
      EXPECT_THAT(tessera_last_error(), HasSubstr(std::string("is not of the output's type, ") + type_letter<T>));
    }
    auto x = legal;
    x.C = x.A;
    EXPECT_EQ(submit_in_c(routine.name, x), -position);
    EXPECT_THAT(tessera_last_error(), HasSubstr("shares memory"));
    EXPECT_TRUE(C == before);
  });
}

TEST(CRoutineErrors, SayWhatIsAllowed) {
  constexpr auto row = TESSERA_ROW_MAJOR;
  constexpr auto N = TESSERA_NO_TRANS;
  constexpr auto U = TESSERA_UPPER;
  constexpr auto L = TESSERA_LEFT;
  const auto layout = static_cast<tessera_layout>(103);
  double x[1] = {};
  const auto message = [](const char* argument) { return HasSubstr(std::string(argument)); };
  EXPECT_EQ(tessera_dgemm(layout, N, N, 1, 1, 1, 1, x, 1, x, 1, 1, x, 1), -1);
  EXPECT_THAT(tessera_last_error(),
              message("(layout) is 103, must be TESSERA_ROW_MAJOR (101) or TESSERA_COL_MAJOR (102)"));
  EXPECT_EQ(tessera_dgemmt(layout, U, N, N, 1, 1, 1, x, 1, x, 1, 1, x, 1), -1);
  EXPECT_EQ(tessera_dsymm(layout, L, U, 1, 1, 1, x, 1, x, 1, 1, x, 1), -1);
  EXPECT_EQ(tessera_dsyrk(layout, U, N, 1, 1, 1, x, 1, 1, x, 1), -1);
  EXPECT_EQ(tessera_dsyr2k(layout, U, N, 1, 1, 1, x, 1, x, 1, 1, x, 1), -1);
  EXPECT_EQ(tessera_dtrsm(layout, L, U, N, TESSERA_UNIT, 1, 1, 1, x, 1, x, 1), -1);

  const auto refused = [&](tessera_side side, tessera_uplo uplo, tessera_op op, tessera_diag diag) {
    return tessera_dtrmm(row, side, uplo, op, diag, 1, 1, 1, x, 1, x, 1);
  };
  EXPECT_EQ(refused(static_cast<tessera_side>(143), U, N, TESSERA_UNIT), -2);
  EXPECT_THAT(tessera_last_error(), message("(side) is 143, must be TESSERA_LEFT (141) or TESSERA_RIGHT (142)"));
  EXPECT_EQ(refused(L, static_cast<tessera_uplo>(123), N, TESSERA_UNIT), -3);
  EXPECT_THAT(tessera_last_error(), message("(uplo) is 123, must be TESSERA_UPPER (121) or TESSERA_LOWER (122)"));
  EXPECT_EQ(refused(L, U, static_cast<tessera_op>(114), TESSERA_UNIT), -4);
  EXPECT_THAT(tessera_last_error(), message("(op) is 114, must be TESSERA_NO_TRANS (111), TESSERA_TRANS (112) or "
                                            "TESSERA_CONJ_TRANS (113)"));
  EXPECT_EQ(refused(L, U, N, static_cast<tessera_diag>(133)), -5);
  EXPECT_THAT(tessera_last_error(), message("(diag) is 133, must be TESSERA_NON_UNIT (131) or TESSERA_UNIT (132)"));
}

TEST(CRoutineErrors, NullFactorsOfComplexRoutines) {
  std::complex<double> x[1] = {};
  const double one[2] = {1, 0};
  constexpr auto col = TESSERA_COL_MAJOR;
  constexpr auto N = TESSERA_NO_TRANS;
  constexpr auto U = TESSERA_UPPER;
  constexpr auto L = TESSERA_LEFT;
  EXPECT_EQ(tessera_zgemm(col, N, N, 1, 1, 0, nullptr, x, 1, x, 1, one, x, 1), -7);
  EXPECT_EQ(tessera_zgemm(col, N, N, 1, 1, 0, one, x, 1, x, 1, nullptr, x, 1), -12);
  EXPECT_EQ(tessera_zgemmt(col, U, N, N, 1, 0, nullptr, x, 1, x, 1, one, x, 1), -7);
  EXPECT_EQ(tessera_zgemmt(col, U, N, N, 1, 0, one, x, 1, x, 1, nullptr, x, 1), -12);
  EXPECT_EQ(tessera_zhemm(col, L, U, 1, 1, nullptr, x, 1, x, 1, one, x, 1), -6);
  EXPECT_EQ(tessera_zhemm(col, L, U, 1, 1, one, x, 1, x, 1, nullptr, x, 1), -11);
  EXPECT_EQ(tessera_zsyrk(col, U, N, 1, 0, nullptr, x, 1, one, x, 1), -6);
  EXPECT_EQ(tessera_zsyrk(col, U, N, 1, 0, one, x, 1, nullptr, x, 1), -9);
  EXPECT_EQ(tessera_zsyr2k(col, U, N, 1, 0, nullptr, x, 1, x, 1, one, x, 1), -6);
  EXPECT_EQ(tessera_zsyr2k(col, U, N, 1, 0, one, x, 1, x, 1, nullptr, x, 1), -11);
  EXPECT_EQ(tessera_zher2k(col, U, N, 1, 0, nullptr, x, 1, x, 1, 1, x, 1), -6);
  EXPECT_EQ(tessera_ztrmm(col, L, U, N, TESSERA_UNIT, 1, 1, nullptr, x, 1, x, 1), -8);
}

TEST(CRoutineErrors, HermitianRoutinesRefuseRealMatrices) {
  auto A = integer_matrix<double>(1, 4, 4), C = integer_matrix<double>(2, 4, 4);
  const CMatrix<double> a(A, {2, 2}), c(C, {2, 2});
  const double one = 1;
  EXPECT_EQ(tessera_hemm_submit(TESSERA_LEFT, TESSERA_UPPER, &one, a, a, &one, c), -7);
  EXPECT_THAT(tessera_last_error(), HasSubstr("must be of type c or z"));
  EXPECT_EQ(tessera_herk_submit(TESSERA_UPPER, TESSERA_NO_TRANS, &one, a, &one, c), -6);
  EXPECT_EQ(tessera_her2k_submit(TESSERA_UPPER, TESSERA_NO_TRANS, &one, a, a, &one, c), -7);
}

}  // namespace
}  // namespace tessera::test::c_routines_cpp

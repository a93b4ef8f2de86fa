// SPDX-License-Identifier: BSD-3-Clause
// Calls in tall panels: tiles of B that several products share, sums that all start before C has arrived, and steps of
// trmm, trsm and the solves on whole panels. The panels are given, so these paths are tested even on machines that
// would choose no panels.
#include <dlfcn.h>

#include <limits>

#include "plan/plans.hpp"
#include "routines/compute.hpp"
#include "routines/factor_solves.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/described.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/runtime.hpp"

namespace tessera::test::panels_cpp {
namespace {

const auto* const runtime = share_runtime();

struct Case {
  Extent size;
  tile::TileExtents tile;
  Index terms;           ///< chunks of k in a tile of B, if B is not transposed
  bool by_rows = false;  ///< several GPUs own rows of C, not columns
};
constexpr std::array<Case, 8> cases{{
    {{64, 160, 96}, {64, 16, 16}, 6},         // one panel of rows, and one tile of B for all of k
    {{70, 165, 101}, {70, 16, 16}, 7},        // ragged
    {{70, 165, 101}, {32, 16, 16}, 7},        // several tiles of rows
    {{70, 165, 101}, {32, 16, 16}, 3, true},  // three tiles of B, the last with fewer chunks
    {{33, 40, 17}, {33, 16, 16}, 2},
    {{1, 40, 40}, {1, 8, 8}, 5},
    {{40, 1, 40}, {40, 8, 8}, 5},
    {{40, 40, 7}, {40, 8, 8}, 1},  // one chunk
}};

/// The plan of a call with this tile, in panels.
template <Scalar T>
algorithms::Plan plan_in_panels(const machine::Machine& machine, const blas::Call& call, const Case& shape,
                                Index ahead) {
  const auto& tile = shape.tile;
  const Index columns = tile::divide_up(call.n, tile.n), tiles = tile::divide_up(call.m, tile.m) * columns;
  auto plan = plan::plan_sums(machine, type_letter<T>, tile, tiles, call.k);
  plan.sums = 1;
  plan.panels =
      call.op_b != Op::NoTrans ? algorithms::Panels{1, columns, columns} : algorithms::Panels{shape.terms, 1, ahead};
  const int gpus = machine.gpu_count();
  plan.panels.by_rows = shape.by_rows;
  if (machine.has_owners()) plan.grid = shape.by_rows ? tile::OwnerGrid{gpus, 1} : tile::OwnerGrid{1, gpus};
  return plan;
}

template <Scalar T>
void compute_in_panels(Call<T>& call, const Case& shape, Index ahead) {
  const auto product = described(call);
  const auto session = runtime::session();
  const auto plan = plan_in_panels<T>(session->machine(), product, shape, ahead);
  routines::compute_product<T>(session, plan, product);
}

bool has_panels(const Routine<std::complex<double>>& routine) { return routine.name == "gemm"; }

class InPanels : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, InPanels, each_routine(has_panels), its_name);

TEST_P(InPanels, IsExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      if (options.op_a != Op::NoTrans) return;
      for (const auto& shape : cases)
        for (const Index ahead : {1, 2, 4}) {
          if (options.op_b != Op::NoTrans && ahead > 1) break;  // all panels are begun at once
          for (const T beta : {T(0), T(1), T(-2)}) {
            const auto before = integer_call(routine, options, shape.size, ++seed, T(3), beta);
            auto after = before;
            compute_in_panels(after, shape, ahead);
            ASSERT_TRUE(result_is_that_of_the_host(before, after))
                << "tile " << shape.tile.m << 'x' << shape.tile.n << 'x' << shape.tile.k << ", terms " << shape.terms
                << ", ahead " << ahead;
          }
        }
    });
  });
}

struct UpdateCase {
  Index order, k, width, chunk;
};
constexpr std::array<UpdateCase, 5> update_cases{{
    {64, 96, 16, 16},
    {70, 101, 16, 16},  // ragged
    {33, 17, 40, 8},    // one panel
    {5, 40, 1, 8},
    {40, 7, 8, 8},  // one chunk
}};

/// Computes an update in panels, and checks the result.
template <Scalar T>
::testing::AssertionResult update_is_exact(const Routine<T>& routine, const Options& options, const UpdateCase& shape,
                                           std::uint64_t seed, T beta) {
  const auto session = runtime::session();
  const auto before = integer_call(routine, options, {shape.order, shape.order, shape.k}, seed, T(3), beta);
  auto after = before;
  auto plan = plan::plan_sums(session->machine(), type_letter<T>, {shape.order, shape.width, shape.chunk}, 1, shape.k);
  const Index count = tile::divide_up(shape.order, shape.width);
  plan.sums = 1;
  plan.panels = {1, count, count};
  if (session->machine().has_owners()) plan.grid = {1, session->machine().gpu_count()};
  routines::compute_update<T>(session, plan, described(after));
  return result_is_that_of_the_host(before, after);
}

bool is_update(const Routine<std::complex<double>>& routine) {
  return routine.name == "syrk" || routine.name == "herk" || routine.name == "syr2k" || routine.name == "her2k";
}

class UpdateInPanels : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, UpdateInPanels, each_routine(is_update), its_name);

TEST_P(UpdateInPanels, IsExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      if (options.op_a != Op::NoTrans) return;
      for (const auto& shape : update_cases)
        for (const T beta : {T(0), T(1), T(-2)})
          ASSERT_TRUE(update_is_exact(routine, options, shape, ++seed, beta))
              << "order " << shape.order << ", k " << shape.k << ", panels of " << shape.width << ", chunks of "
              << shape.chunk;
    });
  });
}

/// Counts what only the stand-in for CUDA counts; see support/stand_in_cuda.
using Count = int (*)(const char* what);
Count stand_in_count() { return reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, "stand_in_count")); }

TEST(UpdatesInPanels, AreOnlyProducts) {
  const auto count = stand_in_count();
  if (count == nullptr) GTEST_SKIP() << "needs the stand-in for CUDA";
  const int before = count("updates");
  for (const char* const name : {"syrk", "syr2k"})
    EXPECT_TRUE(update_is_exact(routine<double>(name), {.uplo = Uplo::Upper}, update_cases[1], 1, -2.));
  EXPECT_EQ(count("updates"), before);
}

/// Calls with a triangle of this order on the left.
struct TriangularCase {
  Index order, columns, chunk, width;
};
constexpr std::array<TriangularCase, 7> triangular_cases{{
    {64, 64, 16, 16},
    {70, 53, 16, 16},  // ragged
    {70, 53, 64, 16},  // two steps
    {33, 5, 8, 8},     // one panel of B
    {20, 40, 20, 8},   // one panel of A
    {1, 3, 8, 2},
    {120, 20, 80, 8},  // squares of 32 at the edge of a panel
}};

bool is_triangular(const Routine<std::complex<double>>& routine) {
  return routine.name == "trmm" || routine.name == "trsm";
}

/// Panels of a matrix beside a triangle of this order. On the right of it, the panels have full width.
algorithms::Plan plan_beside_triangle(const TriangularCase& shape, Side side, Index ahead) {
  algorithms::Plan plan;
  plan.tile = side == Side::Left ? tile::TileExtents{shape.order, shape.width, shape.chunk}
                                 : tile::TileExtents{shape.columns, shape.order, shape.chunk};
  plan.panels = {1, 1, ahead};
  const auto& machine = runtime::session()->machine();
  plan.grid = {1, machine.has_owners() ? machine.gpu_count() : 1};
  return plan;
}

Extent extent_of(const TriangularCase& shape, Side side) {
  if (side == Side::Left) return {shape.order, shape.columns, shape.order};
  return {shape.columns, shape.order, shape.order};
}

/// Computes a call with a triangle in panels, and compares the result with the host's.
template <Scalar T, typename Compute>
void compare_in_panels(const Routine<T>& routine, const Options& options, const TriangularCase& shape, Index ahead,
                       T alpha, T beta, std::uint64_t seed, Compute compute) {
  const auto before = integer_call(routine, options, extent_of(shape, options.side), seed, alpha, beta);
  auto after = before;
  compute(runtime::session(), plan_beside_triangle(shape, options.side, ahead), described(after));
  ASSERT_TRUE(result_is_that_of_the_host(before, after))
      << "order " << shape.order << ", columns " << shape.columns << ", panels of " << shape.chunk << " and "
      << shape.width << ", ahead " << ahead;
}

class TriangularInPanels : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, TriangularInPanels, each_routine(is_triangular), its_name);

TEST_P(TriangularInPanels, IsExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const bool one_panel = options.side == Side::Right || options.op_a != Op::NoTrans;  // the only ones with these
      for (auto shape : triangular_cases)
        for (const Index ahead : {1, 2, 4}) {
          if (one_panel && ahead > 1) break;
          if (one_panel) shape.width = shape.columns;
          for (const T alpha : {T(0), T(1), T(-2)})
            compare_in_panels(routine, options, shape, ahead, alpha, T(0), ++seed, routines::compute_triangular<T>);
        }
    });
  });
}

// Panels of more than 256 columns: CUDA GPUs solve with the inverses of their diagonal blocks.
TEST_P(TriangularInPanels, IsAccurateInWidePanels) {
  run([]<Scalar T>(const Routine<T>& routine) {
    constexpr TriangularCase shape{520, 2, 260, 2};
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      const auto before = random_call(routine, options, extent_of(shape, options.side), ++seed, T(-2));
      auto after = before;
      routines::compute_triangular<T>(runtime::session(), plan_beside_triangle(shape, options.side, 1),
                                      described(after));
      ASSERT_TRUE(result_is_right(before, after)) << "seed " << seed;
    });
  });
}

/// A solve with a triangle on the left in four steps, whose blocks are inverted.
/// @param bad_row  a row of B with a NaN; -1: none
void solve_in_four_steps(Op op, Index bad_row) {
  constexpr TriangularCase shape{4 * 260, 3, 260, 3};
  const Options options{.op_a = op};
  auto call = random_call(routine<double>("trsm"), options, extent_of(shape, Side::Left), 1);
  if (bad_row >= 0) call.C(bad_row, 1) = std::numeric_limits<double>::quiet_NaN();
  routines::compute_triangular<double>(runtime::session(), plan_beside_triangle(shape, Side::Left, 1), described(call));
}

class WideSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    count_ = stand_in_count();
    if (count_ == nullptr) GTEST_SKIP() << "needs the stand-in for CUDA";
    solve_in_four_steps(Op::NoTrans, -1);  // the first call creates streams and memory
  }
  int counted(const char* what, Op op, Index bad_row = -1) const {
    const int before = count_(what);
    solve_in_four_steps(op, bad_row);
    return count_(what) - before;
  }

 private:
  Count count_ = nullptr;
};

// A step that gathers changes its rows before it must know whether they are finite.
TEST_F(WideSteps, ThatGatherWaitForNoStream) {
  EXPECT_EQ(counted("stream waits", Op::Trans), counted("stream waits", Op::NoTrans));
}

// A NaN that the last step finds has no effect on the rows of the second and third one.
TEST_F(WideSteps, AreSlowOnlyForNotFiniteRows) {
  EXPECT_EQ(counted("solves", Op::Trans), 0);
  EXPECT_EQ(counted("solves", Op::NoTrans), 0);
  EXPECT_LE(counted("solves", Op::Trans, 5), 2 * 260);  // the lower triangle, transposed: solved upwards
  EXPECT_LE(counted("solves", Op::NoTrans, 4 * 260 - 5), 2 * 260);
}

bool is_symmetric(const Routine<std::complex<double>>& routine) {
  return routine.name == "symm" || routine.name == "hemm";
}

class SymmetricInPanels : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, SymmetricInPanels, each_routine(is_symmetric), its_name);

TEST_P(SymmetricInPanels, IsExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      if (options.side != Side::Left) return;
      for (const auto& shape : triangular_cases)
        for (const Index ahead : {1, 2, 4})
          for (const T beta : {T(0), T(1), T(-2)})
            compare_in_panels(routine, options, shape, ahead, T(3), beta, ++seed, routines::compute_symmetric<T>);
    });
  });
}

/// A dense matrix of small integers.
template <Scalar T>
struct Dense {
  Index m, n;
  std::vector<T> values;

  template <typename Value>
  Dense(Index rows, Index columns, Value value) : m(rows), n(columns) {
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) values.push_back(value(i, j));
  }
  T operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * m)]; }
  Dense operator*(const Dense& B) const {
    return {m, B.n, [&](Index i, Index j) {
              T sum{};
              for (Index k = 0; k < n; k++) sum += (*this)(i, k) * B(k, j);
              return sum;
            }};
  }
  Dense apply(Op op) const {
    if (op == Op::NoTrans) return *this;
    return {n, m, [&](Index i, Index j) { return common::conjugated_if<T>(op == Op::ConjTrans, (*this)(j, i)); }};
  }
  /// The elements as stored by rows or by columns.
  std::vector<T> stored(Layout layout) const { return layout == Layout::ColMajor ? values : apply(Op::Trans).values; }
};

template <Scalar T>
T small_integer(Index i, Index j) {
  const auto part = [&](Index x) { return static_cast<Real<T>>(x % 5 == 0 ? x % 3 - 1 : 0); };
  if constexpr (is_complex<T>) return {part(3 * i + 7 * j), part(5 * i + j)};
  else return part(3 * i + 7 * j);
}
/// The factor of a lower triangular matrix, with a diagonal of twos or ones.
template <Scalar T>
Dense<T> lower_factor(Index order, T diagonal) {
  return {order, order, [&](Index i, Index j) { return i == j ? diagonal : i > j ? small_integer<T>(i, j) : T(0); }};
}

/// Solves op(first second) X = B in panels, where both factors are exact, and so is X.
/// @param stored  the matrix that holds the factors
template <Scalar T>
void solve_in_panels(const TriangularCase& shape, Layout layout, const routines::FactorSolves& solves,
                     std::optional<Uplo> uplo, const Dense<T>& stored, const Dense<T>& product, Index ahead) {
  const Dense<T> X(shape.order, shape.columns, [](Index i, Index j) { return small_integer<T>(j + 1, i + 2); });
  auto A = stored.stored(layout), B = (product * X).stored(layout);
  const bool by_rows = layout == Layout::RowMajor;
  routines::FactoredProblem<T> problem{layout,      shape.order,   shape.order, A.data(),
                                       shape.order, shape.columns, B.data(),    by_rows ? shape.columns : shape.order};
  if (uplo && by_rows) uplo = blas::opposite(*uplo);
  routines::solve_with_factors(runtime::session(), plan_beside_triangle(shape, problem.side(), ahead), problem, solves,
                               uplo);
  ASSERT_EQ(B, X.stored(layout)) << "order " << shape.order << ", columns " << shape.columns << ", panels of "
                                 << shape.chunk << " and " << shape.width;
}

template <typename T>
class SolvesInPanels : public ::testing::Test {};
TYPED_TEST_SUITE(SolvesInPanels, ScalarTypes);

TYPED_TEST(SolvesInPanels, AreExactOnIntegers) {
  using T = TypeParam;
  for (const auto& shape : triangular_cases)
    for (const auto layout : {Layout::ColMajor, Layout::RowMajor}) {
      const auto L = lower_factor<T>(shape.order, T(1)), M = lower_factor<T>(shape.order, T(2)), U = M.apply(Op::Trans);
      const Dense<T> lu(shape.order, shape.order, [&](Index i, Index j) { return i > j ? L(i, j) : U(i, j); });
      for (const auto op : {Op::NoTrans, Op::Trans, Op::ConjTrans})
        solve_in_panels(shape, layout, routines::solves_with_lu(op), {}, lu, (L * U).apply(op), 2);
      const auto adjoint = M.apply(Op::ConjTrans), spd = M * adjoint;
      solve_in_panels(shape, layout, routines::solves_with_cholesky(Uplo::Lower), Uplo::Lower, M, spd, 2);
      solve_in_panels(shape, layout, routines::solves_with_cholesky(Uplo::Upper), Uplo::Upper, adjoint, spd, 2);
    }
}

}  // namespace
}  // namespace tessera::test::panels_cpp

// SPDX-License-Identifier: BSD-3-Clause
// gemm in tiles whose last two rows and columns are split evenly. The plan is given, since only GPUs choose such plans.
#include "plan/plans.hpp"
#include "routines/compute.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/described.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"

namespace tessera::test::edges_cpp {
namespace {

constexpr std::array<Extent, 3> sizes{{
    {193, 129, 70},  // one row and one column more than a multiple of the tile, and a short chunk of k
    {200, 96, 130},  // less than two tiles along n
    {10, 250, 65},   // one tile along m
}};

bool is_gemm(const Routine<std::complex<double>>& routine) { return routine.name == "gemm"; }

class EvenEdges : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, EvenEdges, each_routine(is_gemm), its_name);

TEST_P(EvenEdges, AreExactOnIntegers) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto session = runtime::session();
    std::uint64_t seed = 0;
    for_all_options(routine, [&](const Options& options) {
      for (const auto& size : sizes) {
        constexpr tile::TileExtents tile{64, 64, 64};
        const Index tiles = tile::divide_up(size.m, tile.m) * tile::divide_up(size.n, tile.n);
        auto plan = plan::plan_sums(session->machine(), type_letter<T>, tile, tiles, size.k);
        plan.at_the_edges = tile::EdgeTiles::Even;
        const auto before = integer_call(routine, options, size, ++seed, T(3), T(-2));
        auto after = before;
        routines::compute_product<T>(session, plan, described(after));
        ASSERT_TRUE(result_is_that_of_the_host(before, after)) << size.m << 'x' << size.n << 'x' << size.k;
      }
    });
  });
}

}  // namespace
}  // namespace tessera::test::edges_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Products in tall panels: tiles of B that several products share, and sums that all start before C is
// there. The panels are given, so that machines on which none would be chosen compute with them, too.
#include "routines/planned.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

struct Case {
  Extent size;
  detail::TileExtents tile;
  Index terms;  ///< chunks of k in a tile of B, if B is not transposed
};
constexpr std::array<Case, 8> cases{{
    {{64, 160, 96}, {64, 16, 16}, 6},   // one panel of rows, and a tile of B for all of k
    {{70, 165, 101}, {70, 16, 16}, 7},  // ragged
    {{70, 165, 101}, {32, 16, 16}, 7},  // several tiles of rows
    {{70, 165, 101}, {32, 16, 16}, 3},  // three tiles of B, the last with fewer chunks
    {{33, 40, 17}, {33, 16, 16}, 2},
    {{1, 40, 40}, {1, 8, 8}, 5},
    {{40, 1, 40}, {40, 8, 8}, 5},
    {{40, 40, 7}, {40, 8, 8}, 1},  // one chunk
}};

/// The plan of a call with that tile, in panels.
template <Scalar T>
detail::Plan plan_in_panels(const detail::Machine& machine, const blas::Call& call, const Case& shape, Index ahead) {
  const auto& tile = shape.tile;
  const Index columns = detail::divide_up(call.n, tile.n), tiles = detail::divide_up(call.m, tile.m) * columns;
  auto plan = detail::plan_sums<T>(machine, tile, tiles, call.k);
  plan.sums = 1;
  plan.panels = call.op_b != Op::NoTrans ? detail::Panels{1, columns, columns} : detail::Panels{shape.terms, 1, ahead};
  if (machine.has_owners()) plan.grid = {1, machine.gpu_count()};
  return plan;
}

template <Scalar T>
void compute_in_panels(Call<T>& call, const Case& shape, Index ahead) {
  blas::Call planned{call.routine->which, type_letter<T>};
  const auto& options = call.options;
  planned.op_a = options.op_a, planned.op_b = options.op_b;
  planned.m = call.size.m, planned.n = call.size.n, planned.k = call.size.k;
  planned.alpha = &call.alpha, planned.beta = &call.beta;
  planned.A = call.A.data(), planned.lda = call.A.ld();
  planned.B = call.B.data(), planned.ldb = call.B.ld();
  planned.C = call.C.data(), planned.ldc = call.C.ld();
  const auto session = detail::session();
  const auto plan = plan_in_panels<T>(session->machine(), planned, shape, ahead);
  detail::compute_product<T>(session, plan, planned);
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

}  // namespace
}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/campaign.hpp"

#include <algorithm>
#include <chrono>

#include "hpl/random_system.hpp"
#include "hpl/residual.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::hpl {

Index panel_for(Index n, Index nb) {
  constexpr Index most_panels = 1024;
  return nb == 0 ? 0 : std::max(nb, (n + most_panels - 1) / most_panels);
}

void solve_all(const Input& input, const Solver& solver, double* A, double* b, Report& report) {
  using Clock = std::chrono::steady_clock;
  for (const Index n : input.sizes)
    for (const Index nb : input.panel_sizes) {
      Solved solved{.n = n, .asked = nb, .panel = solver.prepare(n, panel_for(n, nb))};
      const RandomSystem system(n);
      {
        const bench::PauseWorkers pause;
        system.fill(A, b);
      }
      const auto begin = Clock::now();
      solved.info = solver.solve(n, A, b);
      solved.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (report.checks() && solved.info == 0) {
        const bench::PauseWorkers pause;
        solved.residual = scaled_residual(system, b);
      }
      report.add(solved);
    }
}

}  // namespace tessera::hpl

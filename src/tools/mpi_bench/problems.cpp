// SPDX-License-Identifier: BSD-3-Clause
#include "problems.hpp"

#include <string>

#include "common/of_type.hpp"
#include "products.hpp"
#include "shared/bad_argument.hpp"
#include "solvers.hpp"

namespace tessera::mpi_bench {

std::unique_ptr<Problem> make_problem(const std::string& routine, char type, const Grid& grid, Index n, Index tile,
                                      const detail::ProcessControl& control) {
  return with_type(type, [&]<Scalar T>(T) {
    auto problem = make_product<T>(routine, grid, n, tile, control);
    return problem ? std::move(problem) : make_solver<T>(routine, grid, n, tile);
  });
}

bool is_for_complex_only(const std::string& routine) { return routine.starts_with("he"); }

void require_routine(const std::string& routine) {
  std::string all;
  for (const char* one : routines) {
    if (routine == one) return;
    all += std::string(all.empty() ? "" : ", ") + one;
  }
  throw tools::BadArgument("--routine", routine, "is not one of " + all);
}

}  // namespace tessera::mpi_bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "problems.hpp"

namespace tessera::mpi_bench {

/// The problems of the solvers: factorizations, and solves with factors.
/// @return  null if the routine is not among them
template <Scalar T>
std::unique_ptr<Problem> make_solver(const std::string& routine, const Grid& grid, Index n, Index tile);

}  // namespace tessera::mpi_bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "problems.hpp"

namespace tessera::mpi_bench {

/// The problems of the products: the level 3 of the BLAS.
/// @return  null if the routine is not among them
template <Scalar T>
std::unique_ptr<Problem> make_product(const std::string& routine, const Grid& grid, Index n, Index tile,
                                      const detail::ProcessControl& control);

}  // namespace tessera::mpi_bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/options.hpp"
#include "bench/progress.hpp"

namespace tessera::bench {

/// Measures products on one GPU in the schedule of Itu et al., for each number of slices in `options.slices`, and for
/// comparison Tessera's gemm, all from the same operands in pinned memory. C is not read (β = 0).
///
/// With n slices, A is cut into n slices of rows and B into n slices of columns, which gives n² products. One stream
/// copies the first slices and computes, row by row of C. Another stream copies the other slices, those of B first, and
/// copies back each row of C when it is complete.
///
/// @pre no Runtime exists
/// @throws BadArgument  if there is no GPU, or this program was built without CUDA
/// @throws RuntimeError if CUDA or the comparison of the results fails
void measure_slices(const Options& options, const Machine& machine, Progress& progress);

}  // namespace tessera::bench

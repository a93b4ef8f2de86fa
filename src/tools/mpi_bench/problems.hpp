// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tessera/distributed.hpp>

#include "tile/processes.hpp"

namespace tessera::mpi_bench {

/// A routine on distributed matrices. Elements are random functions of their positions, so no process stores them
/// twice.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Gives the matrices their first values.
  virtual void fill() = 0;
  /// Submits the call, and waits for the results of this process.
  virtual void run() = 0;
  /// The error of the result times a random vector, relative to the unit roundoff, the length of the sums and the size
  /// of the exact product. Collective.
  virtual double residual() = 0;
  /// The average number of bytes of tiles that a process receives, as the paper counts them: each process gets its rows
  /// of the left factor and its columns of the right factor, except the tiles that it owns.
  virtual double model_bytes() const = 0;
  virtual double flops() const = 0;

  /// How gemm is cut, and the predicted traffic.
  struct Cut {
    tile::ProcessBlocks blocks;
    tile::ProcessLoads loads;
  };
  virtual std::optional<Cut> cut() const { return {}; }
};

/// All routines on distributed matrices.
constexpr const char* routines[] = {"gemm",        "gemmt",       "symm",  "hemm",  "syrk",  "herk",
                                    "syr2k",       "her2k",       "trmm",  "trsm",  "potrf", "potrs",
                                    "getrf_nopiv", "getrs_nopiv", "getrf", "getrs", "gesv"};
bool is_for_complex_only(const std::string& routine);
/// @throws BadArgument if there is no such routine
void require_routine(const std::string& routine);

/// @param routine  one that exists in this type
/// @param type     s, d, c or z
/// @param control  how gemm limits communication. Sizes that it leaves open are chosen for the process's devices
std::unique_ptr<Problem> make_problem(const std::string& routine, char type, const Grid& grid, Index n, Index tile,
                                      const detail::ProcessControl& control);

}  // namespace tessera::mpi_bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi_bench/problems.hpp"

namespace tessera::mpi_bench {

/// Validated command line arguments.
struct Options {
  int p = 0, q = 0;  ///< the grid of processes
  std::vector<const Routine*> routines;
  std::vector<std::string> types = {"d"};
  std::vector<Index> sizes = {1000};
  Index tile = 0;  ///< 0: chosen for the devices
  int repeat = 3;
  bool check = false;
  bool numa_as_gpu = false;      ///< whether only workers compute whose memory differs from the one that MPI sends
                                 ///< from
  int unroll_as = -1;            ///< process whose part of a call is unrolled; -1: calls are measured
  std::string dump;              ///< folder for the lists of tasks and messages; "": none
  tile::ProcessControl control;  ///< how gemm limits communication
  std::string json;              ///< "": none, "-": standard output

  std::string grid() const { return std::to_string(p) + "x" + std::to_string(q); }
};

/// @return  empty if --help or --version was given
/// @throws BadArgument
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace tessera::mpi_bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <istream>
#include <string>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::hpl {

/// The contents of an HPL.dat without its process grids. Lines 14 to 31 describe variants of HPL's algorithm that
/// Tessera's LU does not have.
struct Input {
  enum class Device { StandardOutput, StandardError, File };
  Device device = Device::StandardOutput;
  std::string output;              ///< the output file, for Device::File; may be empty otherwise
  std::vector<Index> sizes;        ///< N
  std::vector<Index> panel_sizes;  ///< NB; 0, which HPL does not accept, leaves the choice to the library
  double threshold = 16;           ///< threshold of the scaled residual; if not positive, nothing is checked
  bool says_more = false;          ///< the file asks for several processes or for variants, which are ignored
};

/// The parameters that `Input` leaves out, by their names in HPL.dat: of one process, and of many.
constexpr const char* ignored_parameters =
    "PMAP, P, Q, PFACT, NBMIN, NDIV, RFACT, BCAST, DEPTH, SWAP, L1, U, equilibration, alignment";
constexpr const char* ignored_variants =
    "PMAP, PFACT, NBMIN, NDIV, RFACT, BCAST, DEPTH, SWAP, L1, U, equilibration, alignment";

/// @param name  name of the file, for messages
/// @throws BadArgument with the file, the line and what is allowed there
Input read_input(std::istream& file, const std::string& name);

struct ProcessGrid {
  int p, q;
};
/// The process grids of an HPL.dat, lines 10 to 12. One process ignores them, whatever they contain.
/// @throws BadArgument
std::vector<ProcessGrid> read_grids(std::istream& file, const std::string& name);

}  // namespace tessera::hpl

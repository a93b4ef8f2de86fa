// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <list>

#include <tessera/distributed.hpp>

namespace tessera::distributed {

/// The grids of BLACS contexts. They live until MPI_Finalize, because starting StarPU takes longer than most calls.
///
/// The BLACS reuse the number of a context that has ended, and the new context may have other processes, another shape
/// or another order. A grid is therefore identified by its processes and their positions.
class BlacsGrids {
 public:
  static BlacsGrids& of_process();
  /// The grid of a context. The first call for a grid is collective over its processes.
  /// @throws RuntimeError if the context has ended or this process is not in it; if this process has grids that include
  ///                      processes outside this one; or if the program has no BLACS
  const Grid& of(int context);

 private:
  struct Known {
    MPI_Group processes;  ///< row by row
    Grid grid;
  };
  /// Releases grids of other processes, whose network would be in the way.
  void make_room(MPI_Group processes);
  void clear();
  void clear_in_finalize();

  std::list<Known> all_;
  bool finalize_is_watched_ = false;
};

}  // namespace tessera::distributed

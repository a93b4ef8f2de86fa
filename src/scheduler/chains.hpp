// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <unordered_map>
#include <vector>

#include "tile_notes.hpp"

namespace tessera::scheduler {

/// The tasks that write one tile, one after another, and the worker that they stay with: its home.
class Chains {
 public:
  /// A task that writes the tile has been submitted.
  void submitted(starpu_data_handle_t tile);
  /// One has been executed.
  /// @returns whether it was the last one that is known
  bool finished(starpu_data_handle_t tile);

  /// Who has the tile; before anybody has, the home that the program suggests.
  int home(starpu_data_handle_t tile) const;
  /// Tasks that a worker is home to and that are not finished, whether they are ready or not.
  std::size_t unfinished(int worker) const { return unfinished_[static_cast<std::size_t>(worker)]; }
  /// Tasks that write the tile and are not finished; 1 if none is known.
  std::size_t length(starpu_data_handle_t tile) const;
  void set_home(starpu_data_handle_t tile, int worker);

  /// The home of the tile has begun with its chain.
  void open(starpu_data_handle_t tile);
  bool is_open(starpu_data_handle_t tile, int worker) const;
  /// Bytes of the tiles whose chains a worker has begun with and not finished.
  std::size_t open_bytes(int worker) const { return open_bytes_[static_cast<std::size_t>(worker)]; }

  /// A worker leaves: its tiles have no home any more.
  void forget(int worker);

 private:
  struct Chain {
    std::size_t unfinished = 0;
    int home = nobody;
    std::size_t open_bytes = 0;  ///< of its tile; 0: not begun
  };
  void move(Chain& chain, int worker);
  void close(Chain& chain);

  std::unordered_map<starpu_data_handle_t, Chain> chains_;  ///< of tiles with unfinished tasks
  std::vector<std::size_t> unfinished_ = std::vector<std::size_t>(STARPU_NMAXWORKERS);  ///< by home
  std::vector<std::size_t> open_bytes_ = std::vector<std::size_t>(STARPU_NMAXWORKERS);  ///< by home
};

}  // namespace tessera::scheduler

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstddef>

/// The tiles of matrices without memory that have no value yet, because no task of Tessera that writes them has been
/// submitted. StarPU would end the program if a task read such a tile.
namespace tessera::tile::unwritten {

/// Whether a tile has been written, as far as Tessera knows.
enum class State { Unwritten, PerhapsWritten, Written };

inline std::atomic<std::size_t> count = 0;  // keeps the checks below cheap as long as there is no such tile

/// The slow paths of the functions below.
State known_state(starpu_data_handle_t tile);
void set_known(starpu_data_handle_t tile, State state);

/// Adds a new tile.
void add(starpu_data_handle_t tile);
inline bool contain(starpu_data_handle_t tile) { return count > 0 && known_state(tile) == State::Unwritten; }
/// Whether a tile may have no value. Also true for tiles that the program may have written itself.
inline bool may_contain(starpu_data_handle_t tile) { return count > 0 && known_state(tile) != State::Written; }
/// Call this when the program gets the handle, with which it may submit tasks that write the tile.
inline void give(starpu_data_handle_t tile) {
  if (contain(tile)) set_known(tile, State::PerhapsWritten);
}
/// Call this when a task that writes the tile has been submitted, and at the end of the tile.
inline void remove(starpu_data_handle_t tile) {
  if (count > 0) set_known(tile, State::Written);
}

}  // namespace tessera::tile::unwritten

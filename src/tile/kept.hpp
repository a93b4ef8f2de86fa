// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/types.hpp>

#include "blas/arguments.hpp"
#include "tile_grid.hpp"
#include "tiling/edges.hpp"

/// The tiles that stay registered between calls on pointers, because the program keeps their matrix (tessera/keep.hpp).
///
/// Between calls, host memory has the value of each kept tile, and copies on GPUs that StarPU holds for valid are equal
/// to it. A call that reads a kept tile finds such a copy, and a call that writes one copies it home before it returns,
/// as for every result. Whatever else writes the memory is reported to `written`, which registers the tiles anew: their
/// copies on GPUs are then gone. A part of a matrix may be registered several times in different tiles, since these
/// registrations do not disagree on a value that all of them read from the host.
namespace tessera::detail::kept {

/// How a call registers an operand.
struct Operand {
  void* data;
  Index ld;
  std::size_t element_size;
  Edges rows, columns;
  std::optional<Uplo> triangle;  ///< the triangle that is used; if empty, the whole matrix
  bool is_output;
};

/// Kept tiles for an operand: a range of the tiles of a registered part of the matrix.
struct Tiles {
  std::shared_ptr<TileGrid> grid;
  Index i0, j0;  ///< the first tile
};

/// What is known of an operand before it is registered.
struct Known {
  bool is_kept = false;    ///< it is a part of a kept matrix
  TileSize tile = {0, 0};  ///< the tiles in which just this part is registered; 0: it is not yet
};

/// Number of matrices that the program keeps, and 1 more if operands are watched. Saves looking for them.
inline std::atomic<int> matrices = 0;

/// One call on pointers. While it exists, `tiles_for` finds and registers kept tiles for the operands of its thread.
class InCall {
 public:
  /// @param operands  as they are stored; the last one is the output
  InCall(const std::shared_ptr<Session>& session, std::span<const arguments::StoredMatrix> operands);
  /// Waits until nothing is copied to or from the tiles any more, since the caller may free or write the memory
  /// afterwards. If the call has failed, the tiles that it used are not kept.
  /// @pre  nothing else of the call refers to the tiles, and their tasks have run
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  friend std::optional<Tiles> tiles_for(const Operand& operand);
  friend Known known(const void* data, Index m, Index n, Index ld, std::size_t element_size, bool is_output);

  struct Watching;

  bool may_use(const Operand& operand) const;

  static thread_local InCall* of_thread;
  const std::shared_ptr<Session>* session_ = nullptr;  ///< null: the call finds nothing
  std::vector<std::shared_ptr<TileGrid>> used_;
  std::unique_ptr<Watching> watching_;  ///< null: operands that the program does not keep are not looked at
  InCall* outer_ = nullptr;
  int exceptions_ = 0;
};

/// Calls of threads for which this is set watch their operands, if `start_watching` has succeeded.
inline thread_local bool watches_operands = false;

/// From now on, until the session ends, operands may be kept that the program does not keep: see Watch.
/// @param most_bytes  of all of them; 0: no limit
/// @return  why not; "": it has started
std::string start_watching(Session& session, double most_bytes);

/// The kept tiles for an operand of the current call, which are registered if they are not yet; empty if the operand is
/// not a part of a kept matrix, or its tiles are not to be kept.
std::optional<Tiles> tiles_for(const Operand& operand);

/// The same operand of the current call. @pre  it is used as a whole matrix
Known known(const void* data, Index m, Index n, Index ld, std::size_t element_size, bool is_output);

/// The slow path of `written`.
void forget_copies(const TileGrid::Memory& memory);

/// Call this before something other than the tasks of kept tiles writes host memory, and if it takes effect only later,
/// also after it has.
inline void written(const TileGrid::Memory& memory) {
  if (matrices > 0) forget_copies(memory);
}

}  // namespace tessera::detail::kept

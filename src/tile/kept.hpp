// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/types.hpp>

#include "blas/arguments.hpp"
#include "common/not_copyable.hpp"
#include "tile/edges.hpp"
#include "tile_grid.hpp"

/// The tiles that stay registered between calls on pointers, because the program keeps their matrix (tessera/keep.hpp).
///
/// Between calls, host memory has the value of each kept tile, and every copy on a GPU that StarPU considers valid is
/// equal to it. A call that reads a kept tile finds such a copy. A call that writes a kept tile copies it to the host
/// before it returns, like every result. All other writes to the memory are reported to `written`, which registers the
/// tiles again, so that their copies on GPUs are lost. The same part of a matrix may be registered several times, in
/// different tiles, because host memory has the value of all of them.
namespace tessera::tile::kept {

/// How a call registers an operand.
struct Operand {
  void* data;
  Index ld;
  std::size_t element_size;
  tile::Edges rows, columns;
  std::optional<Uplo> triangle;  ///< the triangle that is used; if empty, the whole matrix
  bool is_output;
};

/// Kept tiles for an operand: a range of the tiles of a registered part of the matrix.
struct Tiles {
  std::shared_ptr<detail::TileGrid> grid;
  Index i0, j0;  ///< the first tile
};

/// What is known of an operand before it is registered.
struct Known {
  bool is_kept = false;    ///< whether it is a part of a kept matrix
  TileSize tile = {0, 0};  ///< the tiles in which just this part is registered; 0: it is not yet
};

/// The number of matrices that the program keeps, plus 1 if operands are watched. While it is 0, nothing is looked up.
inline std::atomic<int> matrices = 0;

/// One call on pointers. While it exists, `tiles_for` finds and registers kept tiles for the operands of its thread.
class InCall : common::NotCopyable {
 public:
  /// @param operands      as they are stored; the last one is the output
  /// @param reads_output  whether the value of the output before the call matters
  InCall(const std::shared_ptr<detail::Session>& session, std::span<const blas::arguments::StoredMatrix> operands,
         bool reads_output);
  /// Waits until all copies to and from the tiles have ended, because the caller may then free or write the memory. If
  /// the call has failed, the tiles that it used are no longer kept.
  /// @pre  nothing else in the call refers to the tiles, and their tasks have run
  ~InCall();
  /// Call this when all tasks of the thread's call have been submitted, and the thread is about to wait for them.
  static void are_computing() {
    if (of_thread != nullptr) of_thread->look_later();
  }
  /// Whether all kept tiles had the right values. If not, which happens only if the output is not read, the call must
  /// be repeated with another InCall. Call this at the end.
  bool used_right_values();

 private:
  friend std::optional<Tiles> tiles_for(const Operand& operand);
  friend Known known(const void* data, Index m, Index n, Index ld, std::size_t element_size, bool is_output);

  struct Watching;

  bool may_use(const Operand& operand) const;
  void look_later();

  static thread_local InCall* of_thread;
  const std::shared_ptr<detail::Session>* session_ = nullptr;  ///< null: the call finds nothing
  std::vector<std::shared_ptr<detail::TileGrid>> used_;
  std::unique_ptr<Watching> watching_;  ///< null: operands that the program does not keep are not looked at
  InCall* outer_ = nullptr;
  int exceptions_ = 0;
  bool reads_output_;
};

/// Bytes of operands that calls of this thread have found on devices, and that were not copied again.
inline thread_local double reused_bytes = 0;

/// Calls of threads for which this is set watch their operands, if `start_watching` has succeeded.
inline thread_local bool watches_operands = false;

/// From now on until the session ends, operands that the program does not keep may be watched, and kept: see Watch.
/// @param most_bytes  limit for all of them together; 0: no limit
/// @return  the reason why this is impossible, or ""
std::string start_watching(detail::Session& session, double most_bytes);

/// The kept tiles for an operand of the current call. Registers them if necessary. Empty if the operand is not a part
/// of a kept matrix, or if its tiles should not be kept.
std::optional<Tiles> tiles_for(const Operand& operand);

/// What is known of an operand of the current call. @pre  the whole operand is used, not only a triangle
Known known(const void* data, Index m, Index n, Index ld, std::size_t element_size, bool is_output);

/// The slow path of `written`.
void forget_copies(const detail::TileGrid::Memory& memory);

/// Call this before anything except the tasks of kept tiles writes host memory. If the write happens later, call this
/// again after it.
inline void written(const detail::TileGrid::Memory& memory) {
  if (matrices > 0) forget_copies(memory);
}

}  // namespace tessera::tile::kept

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "kept.hpp"

/// What kept.cpp and watched.cpp share.
namespace tessera::tile::kept {

/// A part of a kept matrix, registered in tiles.
struct Part {
  std::shared_ptr<detail::TileGrid> grid;
  std::optional<Uplo> triangle;

  Index tiles() const { return grid->mt() * grid->nt(); }
  detail::TileGrid::Memory memory() const { return grid->memory(0, grid->mt(), 0, grid->nt()); }
  /// Whether the part is exactly this operand.
  bool is_just(const Operand& x) const {
    return grid->data() == x.data && grid->m() == x.rows.whole() && grid->n() == x.columns.whole();
  }
  /// Whether only the store refers to the tiles. @pre  the lock is held, so nobody can begin to
  bool is_idle() const {
    if (grid.use_count() > 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);  // after what other threads have done with the tiles
    return true;
  }
};

/// A matrix that the program keeps.
struct Kept {
  const std::byte* data;
  Index m, n, ld;
  std::size_t element_size;

  detail::TileGrid::Memory memory() const {
    const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_size; };
    return {data, bytes(m), bytes(ld), n};
  }
  bool operator==(const Kept&) const = default;
  /// Whether an operand is a part of the matrix.
  bool contains(const Operand& x) const {
    const auto* const begin = static_cast<const std::byte*>(x.data);
    if (x.element_size != element_size || std::less<>()(begin, data)) return false;
    const auto bytes = static_cast<std::size_t>(begin - data);
    const auto first = static_cast<Index>(bytes / element_size), i = first % ld, j = first / ld;
    const bool same_columns = x.ld == ld || x.columns.whole() == 1;
    return bytes % element_size == 0 && same_columns && i + x.rows.whole() <= m && j + x.columns.whole() <= n;
  }
};

class Watch;

/// All that is kept. Never destroyed: other threads may use it while the process exits.
struct Store {
  std::mutex mutex;
  std::shared_mutex ending;  ///< shared by threads that let parts end outside of calls; the session waits for them
  std::vector<Kept> matrices;
  std::list<Part> parts;                     ///< most recently used first
  const detail::Session* session = nullptr;  ///< the session that will call `end`
  std::unique_ptr<Watch> watch;              ///< null: only what the program keeps
};
Store& store();

/// Parts that are no longer kept. They are destroyed after the lock has been released, because their destructors wait
/// for StarPU.
using Removed = std::list<Part>;

/// When memory is written, for which copies of tiles become old.
enum class Write {
  Done,      ///< it has the values that the copies must have
  Possible,  ///< it is written now or later
};

/// Brings copies of the tiles that have a byte in common with `memory` up to date, or registers these tiles again.
/// @param except     the tiles of this grid stay as they are; may be null
/// @param looked_at  if not null, the memory has the right values only where it belongs to this matrix: beside it, a
///                   device of the program may be writing
void renew(Store& all, Removed& removed, const detail::TileGrid::Memory& memory, const detail::TileGrid* except,
           Write write, const Kept* looked_at = nullptr);

/// Removes the parts that have a byte in common with `memory`.
/// @param except  the part with this grid stays; may be null
void remove_parts(Store& all, Removed& removed, const detail::TileGrid::Memory& memory,
                  const detail::TileGrid* except = nullptr);

}  // namespace tessera::tile::kept

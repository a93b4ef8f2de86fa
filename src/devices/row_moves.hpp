// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>

#include <tessera/types.hpp>

namespace tessera::device {

/// The tile for the pivots of a panel. It contains the pivots, followed by their combined effect on the rows.
///
/// Exchanging pairs of rows one after another is slow on a GPU, because each exchange waits for the one before. The
/// tile therefore also contains, for each batch of `batch` consecutive pivots, the moves that have the same effect: row
/// source[i] goes to destination[i], all at once. Rows are counted from 0 at the first row of the panel's diagonal
/// block.
class PivotTile {
 public:
  static constexpr int batch = 1024;
  static constexpr int capacity(int pivots) { return 2 * pivots; }  ///< each pivot moves at most two rows

  /// The moves for a batch of pivots.
  template <typename Int>
  struct Moves {
    Int *count, *destination, *source;
  };

  /// The number of elements in a tile for `count` pivots.
  static Index elements(Index count) {
    return count + (count + batch - 1) / batch * (1 + 2 * capacity(static_cast<int>(std::min<Index>(count, batch))));
  }

  /// The number of pivots in a tile with this number of elements.
  static int count(int elements) {
    constexpr int of_batch = 1 + 2 * capacity(batch);  // elements for the moves of a batch
    const int batches = (elements + batch + of_batch - 1) / (batch + of_batch);
    return batches > 1 ? elements - batches * of_batch : (elements - 1) / (1 + 2 * capacity(1));
  }

  static int batches(int count) { return (count + batch - 1) / batch; }

  /// Locates the moves of batch b in a tile for `count` pivots.
  template <typename Int>
  static Moves<Int> moves(Int* tile, int count, int b) {
    const int room = capacity(std::min(count, batch));
    Int* const begin = tile + count + static_cast<Index>(b) * (1 + 2 * room);
    return {begin, begin + 1, begin + 1 + room};
  }

  /// Computes the moves from the pivots already in the tile.
  static void write_moves(int* tile, int count) {
    for (int b = 0; b < batches(count); b++) {
      std::map<int, int> origin;  // original rows of the rows that have moved
      const auto at = [&](int row) -> int& { return origin.try_emplace(row, row).first->second; };
      for (int i = b * batch; i < std::min(count, (b + 1) * batch); i++) {
        at(i);
        std::swap(at(tile[i] - 1), at(i));
      }
      const auto moves = PivotTile::moves(tile, count, b);
      *moves.count = 0;
      for (const auto& [row, from] : origin) {
        if (row == from) continue;
        moves.destination[*moves.count] = row;
        moves.source[*moves.count] = from;
        ++*moves.count;
      }
    }
  }
};

}  // namespace tessera::device

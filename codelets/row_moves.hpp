// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>

#include <tessera/types.hpp>

namespace tessera::codelets {

/// The tile of the pivots of a panel: the pivots, and then what they do to the rows.
///
/// To exchange rows one pair after another takes a GPU half a microsecond for each pivot, since each exchange waits for
/// the one before. So the pivots come with the moves that `batch` consecutive ones amount to: row source[i] goes to
/// destination[i], all at once. Rows are counted from 0 at the first row of the panel's diagonal block.
class PivotTile {
 public:
  static constexpr int batch = 1024;
  static constexpr int capacity(int pivots) { return 2 * pivots; }  ///< each pivot moves two rows at most

  /// The moves of a batch.
  template <typename Int>
  struct Moves {
    Int *count, *destination, *source;
  };

  /// Elements of the tile of `count` pivots.
  static Index elements(Index count) {
    return count + (count + batch - 1) / batch * (1 + 2 * capacity(static_cast<int>(std::min<Index>(count, batch))));
  }

  /// The number of pivots in a tile of so many elements.
  static int count(int elements) {
    constexpr int of_batch = 1 + 2 * capacity(batch);  // besides the pivots
    const int batches = (elements + batch + of_batch - 1) / (batch + of_batch);
    return batches > 1 ? elements - batches * of_batch : (elements - 1) / (1 + 2 * capacity(1));
  }

  static int batches(int count) { return (count + batch - 1) / batch; }

  /// The moves of batch b in the tile of `count` pivots.
  template <typename Int>
  static Moves<Int> moves(Int* tile, int count, int b) {
    const int room = capacity(std::min(count, batch));
    Int* const begin = tile + count + static_cast<Index>(b) * (1 + 2 * room);
    return {begin, begin + 1, begin + 1 + room};
  }

  /// Writes the moves for the pivots that the tile has.
  static void write_moves(int* tile, int count) {
    for (int b = 0; b < batches(count); b++) {
      std::map<int, int> origin;  // of the rows that have moved
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

}  // namespace tessera::codelets

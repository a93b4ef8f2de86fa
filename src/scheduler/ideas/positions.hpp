// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <cstddef>
#include <deque>

namespace tessera::scheduler {

/// The positions of the unfinished tasks in the order of submission. The first task has position 1.
class Positions {
 public:
  /// Adds the next position.
  void add() {
    const auto index = next_++ - first_;
    if (index / block == blocks_.size()) blocks_.emplace_back();
    blocks_[index / block].set(index % block);
  }
  /// @pre  the position has been added, and not removed
  void remove(unsigned long position) {
    const auto index = position - first_;
    blocks_[index / block].reset(index % block);
    for (; blocks_.size() > 1 && blocks_.front().none(); first_ += block) blocks_.pop_front();
  }
  /// The number of unfinished tasks before a position.
  std::size_t count_before(unsigned long position) const {
    std::size_t count = 0, left = position > first_ ? position - first_ : 0;
    for (const auto& one : blocks_) {
      if (left < block) return count + (one << (block - left)).count();
      count += one.count(), left -= block;
    }
    return count;
  }

 private:
  static constexpr std::size_t block = 512;
  std::deque<std::bitset<block>> blocks_;
  unsigned long first_ = 1;  ///< position of the first bit
  unsigned long next_ = 1;
};

}  // namespace tessera::scheduler

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "blas/arguments.hpp"
#include "kept_store.hpp"
#include "memory/written_pages.hpp"

namespace tessera::detail::kept {

/// Keeps operands of calls without being told what changes: the kernel tells which pages were written.
///
/// The invariant: while a page is watched and has not been written since it was taken, each part in the store has the
/// right value of its bytes. So the pages that were written are taken before a call reads an operand, and the tiles of
/// all parts on them are registered anew, under the lock of the store. The pages of a result are taken when its tiles
/// have come home.
///
/// An operand is watched only once it has come unchanged a second time, as a sample of its elements tells: the price of
/// watching is paid by a copy that was not needed. One that keeps changing is no longer watched, and costs more to
/// watch again.
class Watch {
 public:
  /// @param most_bytes  of all watched memory; 0: no limit
  Watch(std::unique_ptr<WrittenPages> pages, double most_bytes) : pages_(std::move(pages)), most_bytes_(most_bytes) {}
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What a call may use.
  struct Ready {
    std::vector<Kept> inputs;               ///< parts of these
    std::vector<Kept> results;              ///< just these
    std::vector<Kept> outputs;              ///< all that the call writes
    std::shared_ptr<TileGrid> result = {};  ///< the kept tiles that the call writes
  };
  /// Call this before a call registers its operands. The last one is the output.
  Ready begin(Store& all, Removed& removed, std::span<const arguments::StoredMatrix> operands);
  /// Call this when the results are in place. @param failed  some may not be
  void end(Store& all, Removed& removed, const Ready& ready, bool failed);

 private:
  struct Seen {
    Kept memory;
    std::uint64_t sample;  ///< of its elements, when it was last seen
    int unchanged = 0;     ///< times that it came unchanged
    int price = 1;         ///< how many of them it takes to be watched
    int losses = 0;        ///< times in a row that most of it was written
    bool is_watched = false;
  };
  using Place = std::vector<Seen>::iterator;

  bool may_watch();
  Place find(const Kept& memory);
  Place add(Store& all, Removed& removed, const Kept& memory, std::uint64_t sample);
  bool buy(Store& all, Removed& removed, Seen& seen);
  void sell(Store& all, Removed& removed, Seen& seen);
  void sell_all(Store& all, Removed& removed);
  bool take(Store& all, Removed& removed, Seen& seen);
  bool look_at_input(Store& all, Removed& removed, const Kept& memory);
  bool look_at_output(Store& all, Removed& removed, const Kept& memory);

  std::unique_ptr<WrittenPages> pages_;
  const double most_bytes_;
  std::vector<Seen> seen_;            ///< those used last are at the end
  unsigned long long libraries_ = 0;  ///< loaded so far, when they were last looked at
  bool is_forbidden_ = false;
};

}  // namespace tessera::detail::kept

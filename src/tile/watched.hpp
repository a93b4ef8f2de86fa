// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "blas/arguments.hpp"
#include "common/not_copyable.hpp"
#include "kept_store.hpp"
#include "memory/written_pages.hpp"

namespace tessera::tile::kept {

/// Keeps operands of calls although the program does not say what it changes: Linux tells which pages were written.
///
/// The invariant: if a watched page has not been written since it was last taken (`WrittenPages::take_written`), all
/// parts in the store have the right values for it. Before a call reads an operand, the pages that were written are
/// therefore taken, and the tiles on them registered again, under the lock of the store. The pages of a result are
/// taken after its tiles have been copied to the host.
///
/// Watching costs time, so an operand is watched only after it has been used a second time without a change, judged by
/// a sample of its elements. An operand that keeps changing is no longer watched, and must then be unchanged more often
/// before it is watched again.
class Watch : common::NotCopyable {
 public:
  /// @param most_bytes  of all watched memory; 0: no limit
  Watch(std::unique_ptr<memory::WrittenPages> pages, double most_bytes)
      : pages_(std::move(pages)), most_bytes_(most_bytes) {}
  ~Watch();

  /// What a call may use.
  struct Ready {
    std::vector<Kept> inputs;                       ///< it may read kept tiles of these
    std::vector<Kept> results;                      ///< its result may stay in kept tiles of these
    std::vector<Kept> outputs;                      ///< all that it writes
    std::shared_ptr<detail::TileGrid> result = {};  ///< the kept tiles that the call writes
    bool looks_later = false;                       ///< `look_later` must prepare the pages of the result
    bool is_in_doubt = false;                       ///< `look_later` must check whether pages are pinned
    bool is_wrong = false;                          ///< values of inputs may be old: the call must be repeated
  };
  /// Call this before a call registers its operands. The last one is the output.
  /// @param reads_output  whether the call reads the output
  Ready begin(Store& all, Removed& removed, std::span<const blas::arguments::StoredMatrix> operands, bool reads_output);
  /// Does the slow part of `begin` while the devices compute, if the call does not read its output and can therefore be
  /// repeated: checks whether io_uring or RDMA have pinned pages, and prepares the pages of the result, to which writes
  /// are slow until then. If the devices once wrote a result before this, `begin` prepares its pages from then on.
  void look_later(Store& all, Removed& removed, Ready& ready);
  /// Call this when the results are in place. @param failed  some may not be
  void end(Store& all, Removed& removed, const Ready& ready, bool failed);

 private:
  struct Seen {
    Kept memory;
    std::uint64_t sample;  ///< of its elements, when it was last seen
    int unchanged = 0;     ///< number of calls in which it had not changed
    int price = 1;         ///< the number of such calls after which it is watched
    int losses = 0;        ///< number of consecutive calls before which most of it was written
    int uses = 0;          ///< number of calls that have used it as an input, since it is watched
    int moves = 0;         ///< number of times that it was moved to huge pages
    bool is_watched = false;
    bool was_result = false;  ///< the last call that wrote it has left its tiles in the store
    bool is_early = false;    ///< writes by devices or the program came before `look_later` and split its huge pages;
                              ///< reset when it is no longer watched
  };
  using Place = std::vector<Seen>::iterator;

  bool sees_writes();
  Place find(const Kept& memory);
  Place add(Store& all, Removed& removed, const Kept& memory, std::uint64_t sample);
  bool buy(Store& all, Removed& removed, Seen& seen);
  void sell(Store& all, Removed& removed, Seen& seen);
  void sell_all(Store& all, Removed& removed);
  bool make_huge(Seen& seen);
  bool take(Store& all, Removed& removed, Seen& seen, const detail::TileGrid* except = nullptr);
  bool look_at_input(Store& all, Removed& removed, const Kept& memory);
  bool look_at_output(Store& all, Removed& removed, const Kept& memory, const detail::TileGrid* result = nullptr);

  std::unique_ptr<memory::WrittenPages> pages_;
  const double most_bytes_;
  std::vector<Seen> seen_;            ///< those used last are at the end
  unsigned long long libraries_ = 0;  ///< loads of libraries (`dlpi_adds`) when `sees_writes` last looked
  bool is_forbidden_ = false;
};

}  // namespace tessera::tile::kept

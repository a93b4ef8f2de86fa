// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/not_copyable.hpp"

/// Finds the pages of the program's memory that have been written, on Linux 6.7 and later. userfaultfd in asynchronous
/// write-protect mode marks pages. The first write to a marked page removes the mark, without a signal or another
/// thread. The ioctl PAGEMAP_SCAN reads and sets the marks. Only written_pages.cpp uses these interfaces.
namespace tessera::memory {

/// Whole pages.
struct PageRange {
  std::uintptr_t begin, end;
  bool empty() const { return begin >= end; }
};

std::uintptr_t page_size();

/// The pages that contain these bytes.
PageRange pages_of(const void* data, std::size_t bytes);

/// Watches memory of this process. A page counts as written unless it is known to be unchanged. Not thread-safe.
///
/// A write by a device that has pinned the pages does not go through the page tables, and is missed. Therefore
/// `is_safe` must be true, and CUDA must not have pinned the memory. Pinning a page counts as a write to it.
class WrittenPages : common::NotCopyable {
 public:
  /// @param why_not  set to the reason if the result is null: the kernel is too old, or does not allow it
  static std::unique_ptr<WrittenPages> open(std::string& why_not);
  /// Ends the watch of all memory.
  ~WrittenPages();

  /// Whether no memory of this process is pinned by io_uring or RDMA.
  bool is_safe() const;
  /// Whether all of the memory is watched, and has been since `watch`.
  bool watches(PageRange pages) const;
  /// Starts to watch memory that is private, anonymous and writable. What was written before is unknown: pages that
  /// were watched elsewhere and have moved here may count as not written.
  bool watch(PageRange pages);
  /// The pages that may have been written since they were last taken. From now on they count as not written. Empty if
  /// that is unknown, because some of the memory is not watched.
  std::optional<std::vector<PageRange>> take_written(PageRange pages);
  /// The pages that are in memory. Empty if that is unknown.
  std::optional<std::vector<PageRange>> present(PageRange pages) const;
  /// Whether nearly all of the memory is in huge pages. A write to a watched huge page splits it.
  bool are_huge(PageRange pages) const;
  /// Moves the contents of small pages to huge pages, unless the system or the program forbids these, or the system has
  /// none. All pages then count as written.
  /// @pre  the memory is watched, so that pages that do not exist are not filled
  /// @return  whether nearly all of the memory is in huge pages
  bool make_huge(PageRange pages);
  /// Makes all of the pages count as not written, or as written, so that writes to them cost nothing extra. This
  /// flushes the processors' TLBs once, whereas taking written huge pages flushes them once for each page.
  /// @return  whether that succeeded
  bool count_as(bool written, PageRange pages);
  /// Ends the watch. Other memory on the same pages may then be unwatched, too, and counts as written.
  void leave(PageRange pages);

 private:
  WrittenPages(int faults, int map, int status);

  struct Scan;

  std::optional<std::vector<PageRange>> scan(PageRange pages, Scan scan) const;
  bool works();
  long pinned_pages() const;

  int faults_, map_, status_;  ///< file descriptors
  pid_t process_;              ///< a forked child would act on the memory of its parent
};

}  // namespace tessera::memory

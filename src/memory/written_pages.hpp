// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Which pages of the program's memory have been written. Linux 6.7 and later know it: userfaultfd in asynchronous
/// write-protect mode marks pages, the first write to a marked page removes the mark without a signal or another
/// thread, and the ioctl PAGEMAP_SCAN reads and sets the marks. This is the only file that uses them.
namespace tessera::detail {

/// Whole pages.
struct PageRange {
  std::uintptr_t begin, end;
  bool empty() const { return begin >= end; }
};

/// The pages that contain these bytes.
PageRange pages_of(const void* data, std::size_t bytes);

/// Watches memory of this process. Everything that it cannot know counts as written. Not thread-safe.
///
/// A write is missed if it does not go through the page tables, that is, by a device which has pinned the pages. So
/// `is_safe` must be true, and the memory must not be pinned by CUDA.
class WrittenPages {
 public:
  /// @param why_not  set to the reason if the result is null: the kernel is too old, or does not allow it
  static std::unique_ptr<WrittenPages> open(std::string& why_not);
  /// Ends the watch of all memory.
  ~WrittenPages();
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  /// Whether no memory of this process is pinned by io_uring or RDMA.
  bool is_safe() const;
  /// Whether all of the memory is watched, and has been since `watch`.
  bool watches(PageRange pages) const;
  /// Starts to watch, if the memory is private, anonymous and may be written. It is not known what was written before:
  /// pages that were watched elsewhere and have moved here may count as not written.
  bool watch(PageRange pages);
  /// The pages that may have been written since they were last taken. From now on they count as not written. Empty if
  /// it is not known: the memory, or a part, is not watched.
  std::optional<std::vector<PageRange>> take_written(PageRange pages);
  /// Whether nearly all of the memory is in huge pages. A write to a watched one splits it.
  bool are_huge(PageRange pages) const;
  /// Lets all of the pages count as written, so that writing them costs no more than elsewhere. @return  whether it did
  bool count_as_written(PageRange pages);
  /// Ends the watch. It may also end for memory of others on the same pages, which then counts as written.
  void leave(PageRange pages);

 private:
  WrittenPages(int faults, int map, int status);

  bool works();
  long pinned_pages() const;

  int faults_, map_, status_;  ///< file descriptors
  pid_t process_;              ///< a forked child would act on the memory of its parent
};

}  // namespace tessera::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "written_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace tessera::detail {

namespace {

// The headers of older kernels lack these.
constexpr std::uint64_t wp_unpopulated = 1 << 13, wp_async = 1 << 15;
constexpr int user_mode_only = 1;
struct Region {
  std::uint64_t begin, end, categories;
};
struct Scan {
  std::uint64_t size, flags, begin, end, walk_end, regions, count, most_pages, inverted, all_of, any_of, returned;
};
constexpr unsigned long scan_request = _IOWR('f', 16, Scan);
constexpr std::uint64_t protect_matching = 1 << 0, only_if_watched = 1 << 1;            // flags
constexpr std::uint64_t is_watched = 1 << 0, is_written = 1 << 1, is_present = 1 << 3;  // categories

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// Scans for pages that are not known to be unchanged: pages that are written, not watched, or not in memory. Pages
/// that are not in memory have been swapped out (some kernels then misread the mark), or were mapped again and not yet
/// used.
/// @return  the number of regions found, up to `scan.walk_end`; -1: the scan failed
long scan_for_changes(int map, Scan& scan, std::array<Region, 128>& found) {
  scan.size = sizeof scan;
  scan.regions = reinterpret_cast<std::uintptr_t>(found.data()), scan.count = found.size();
  scan.inverted = is_watched | is_present;
  scan.any_of = is_watched | is_written | is_present;
  scan.returned = is_written;
  long count = 0;
  do count = ioctl(map, scan_request, &scan);
  while (count < 0 && errno == EINTR);
  return count;
}

/// A line of /proc/self/maps.
struct Mapping {
  std::uintptr_t begin, end;
  bool is_plain;  ///< private, anonymous, readable and writable
};

bool parse(const char* line, Mapping& mapping) {
  char permissions[5] = {};
  unsigned long offset = 0, inode = 0;
  unsigned major = 0, minor = 0;
  int name = 0;
  if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %lx %x:%x %lu %n", &mapping.begin, &mapping.end, permissions,
                  &offset, &major, &minor, &inode, &name) < 7)
    return false;
  const std::string_view path(line + name);
  const bool named = !path.empty() && path != "\n" && !path.starts_with("[heap]") && !path.starts_with("[anon:");
  mapping.is_plain = std::strcmp(permissions, "rw-p") == 0 && inode == 0 && major == 0 && minor == 0 && !named;
  return true;
}

/// Whether these pages lie in private, anonymous memory without a gap.
bool are_plain(PageRange pages) {
  auto* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  std::array<char, 512> line;  // a longer line names a file, and its rest is not a mapping
  auto known = pages.begin;
  Mapping mapping{};
  while (known < pages.end && std::fgets(line.data(), static_cast<int>(line.size()), maps) != nullptr) {
    if (!parse(line.data(), mapping) || mapping.end <= known) continue;
    if (mapping.begin > known || !mapping.is_plain) break;
    known = mapping.end;
  }
  std::fclose(maps);
  return known >= pages.end;
}

}  // namespace

PageRange pages_of(const void* data, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data), page = page_size();
  return {begin / page * page, (begin + bytes + page - 1) / page * page};
}

WrittenPages::WrittenPages(int faults, int map, int status)
    : faults_(faults), map_(map), status_(status), process_(getpid()) {}

std::unique_ptr<WrittenPages> WrittenPages::open(std::string& why_not) {
  const auto because = [&](const char* what) {
    why_not = std::string(what) + ": " + std::strerror(errno);
    return nullptr;
  };
  const int faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | user_mode_only));
  if (faults < 0) return because("userfaultfd is not available");
  std::unique_ptr<WrittenPages> opened(new WrittenPages(faults, ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
                                                        ::open("/proc/self/status", O_RDONLY | O_CLOEXEC)));
  uffdio_api api{};
  api.api = UFFD_API, api.features = wp_async | wp_unpopulated;
  if (ioctl(faults, UFFDIO_API, &api) != 0) return because("this kernel cannot watch writes (Linux 6.7 can)");
  if (opened->map_ < 0 || opened->status_ < 0) return because("/proc/self cannot be read");
  if (!opened->works()) {
    why_not = "this kernel does not say which pages were written";
    return nullptr;
  }
  return opened;
}

/// Tries it on a few pages.
bool WrittenPages::works() {
  constexpr std::size_t pages = 4;
  const auto bytes = pages * page_size();
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::memset(memory, 1, bytes);
  const auto all = pages_of(memory, bytes);
  const auto is = [](const std::optional<std::vector<PageRange>>& found, PageRange expected) {
    return found && found->size() == 1 && found->front().begin == expected.begin && found->front().end == expected.end;
  };
  const auto is_none = [](const std::optional<std::vector<PageRange>>& found) { return found && found->empty(); };
  bool right = !watches(all) && watch(all) && watches(all) && is(take_written(all), all) && is_none(take_written(all));
  const PageRange second{all.begin + page_size(), all.begin + 2 * page_size()};
  *reinterpret_cast<volatile char*>(second.begin) = 2;
  right = right && is(take_written(all), second) && is_none(take_written(all)) && pinned_pages() >= 0;
  munmap(memory, bytes);
  return right;
}

WrittenPages::~WrittenPages() {
  for (const int file : {faults_, map_, status_})
    if (file >= 0) close(file);
}

long WrittenPages::pinned_pages() const {
  std::array<char, 4096> text;
  const auto length = pread(status_, text.data(), text.size(), 0);
  if (length <= 0) return -1;
  const std::string_view status(text.data(), static_cast<std::size_t>(length));
  constexpr std::string_view pinned = "\nVmPin:";
  const auto found = status.find(pinned);
  if (found == std::string_view::npos) return -1;
  const auto digit = status.find_first_not_of(" \t", found + pinned.size());
  long number = -1;
  if (digit != std::string_view::npos) std::from_chars(&status[digit], status.data() + status.size(), number);
  return number;
}

bool WrittenPages::is_safe() const { return getpid() == process_ && pinned_pages() == 0; }

bool WrittenPages::watches(PageRange pages) const {
  if (getpid() != process_) return false;
  // All of the pages, in memory or not, that are not watched.
  std::array<Region, 128> found;
  Scan scan{};
  scan.size = sizeof scan, scan.flags = only_if_watched;
  scan.begin = pages.begin, scan.end = pages.end;
  scan.regions = reinterpret_cast<std::uintptr_t>(found.data()), scan.count = found.size();
  scan.inverted = scan.all_of = is_watched;
  scan.returned = is_watched;
  return ioctl(map_, scan_request, &scan) == 0;
}

bool WrittenPages::are_huge(PageRange pages) const {
  constexpr std::uint64_t is_huge = 1 << 6;
  std::array<Region, 128> found;
  Scan scan{};
  scan.begin = pages.begin, scan.end = pages.end;
  std::uintptr_t huge = 0;
  while (scan.begin < scan.end) {
    scan.size = sizeof scan;
    scan.regions = reinterpret_cast<std::uintptr_t>(found.data()), scan.count = found.size();
    scan.all_of = scan.returned = is_huge;
    const long count = ioctl(map_, scan_request, &scan);
    if (count < 0 || scan.walk_end <= scan.begin) return false;
    for (long i = 0; i < count; i++)
      huge += found[static_cast<std::size_t>(i)].end - found[static_cast<std::size_t>(i)].begin;
    scan.begin = scan.walk_end;
  }
  constexpr std::uintptr_t edges = std::uintptr_t{4} << 20;  // which are not aligned
  return huge + huge / 16 + edges >= pages.end - pages.begin;
}

bool WrittenPages::watch(PageRange pages) {
  if (pages.empty() || getpid() != process_ || !are_plain(pages)) return false;
  uffdio_register registration{};
  registration.range = {pages.begin, pages.end - pages.begin};
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(faults_, UFFDIO_REGISTER, &registration) != 0) return false;
  // Linux before 6.13 leaves marks on pages that mremap moves out of watched memory. A write there does not remove
  // them, and a later one here would not either.
  if (count_as_written(pages)) return true;
  leave(pages);
  return false;
}

std::optional<std::vector<PageRange>> WrittenPages::take_written(PageRange pages) {
  std::vector<PageRange> written;
  std::array<Region, 128> found;
  Scan scan{};
  scan.flags = protect_matching | only_if_watched;
  scan.begin = pages.begin, scan.end = pages.end;
  while (scan.begin < scan.end) {
    const long count = getpid() == process_ ? scan_for_changes(map_, scan, found) : -1;
    if (count < 0 || scan.walk_end <= scan.begin) return std::nullopt;
    for (long i = 0; i < count; i++) {
      const auto& region = found[static_cast<std::size_t>(i)];
      if (!written.empty() && written.back().end == region.begin) written.back().end = region.end;
      else written.push_back({region.begin, region.end});
    }
    scan.begin = scan.walk_end;
  }
  return written;
}

bool WrittenPages::count_as_written(PageRange pages) {
  uffdio_writeprotect protection{};
  protection.range = {pages.begin, pages.end - pages.begin};
  return getpid() == process_ && ioctl(faults_, UFFDIO_WRITEPROTECT, &protection) == 0;
}

void WrittenPages::leave(PageRange pages) {
  uffdio_range range{pages.begin, pages.end - pages.begin};
  if (getpid() == process_) ioctl(faults_, UFFDIO_UNREGISTER, &range);
}

}  // namespace tessera::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "written_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

namespace tessera::memory {

namespace {

// The headers of older kernels lack these.
constexpr std::uint64_t wp_unpopulated = 1 << 13, wp_async = 1 << 15;
constexpr int user_mode_only = 1;
constexpr int collapse = 25;  // MADV_COLLAPSE
struct Region {
  std::uint64_t begin, end, categories;
};
constexpr std::uint64_t protect_matching = 1 << 0, only_if_watched = 1 << 1;                              // flags
constexpr std::uint64_t is_watched = 1 << 0, is_written = 1 << 1, is_present = 1 << 3, is_huge = 1 << 6;  // categories

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

/// The contents of a small file; "" if it cannot be read.
std::string contents(const std::string& path) {
  std::string text;
  if (auto* const file = std::fopen(path.c_str(), "re"); file != nullptr) {
    text.resize(256);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
  }
  return text;
}

/// The size of a huge page; 0: there are none, or the administrator has switched them off.
std::uintptr_t huge_page_size() {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  const auto forbids = [&](const std::string& file) {
    return contents(folder + file).find("[never]") != std::string::npos;
  };
  const auto bytes = contents(folder + "hpage_pmd_size");
  std::uintptr_t size = 0;
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
  return forbids("enabled") || forbids("hugepages-" + std::to_string(size / 1024) + "kB/enabled") ? 0 : size;
}

}  // namespace

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

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

/// The argument of PAGEMAP_SCAN.
struct WrittenPages::Scan {
  std::uint64_t size = sizeof(Scan), flags = 0, begin = 0, end = 0, walk_end = 0, regions = 0, count = 0,
                most_pages = 0, inverted = 0, all_of = 0, any_of = 0, returned = is_watched;
};

/// The pages that match. @return  empty: the scan has failed
std::optional<std::vector<PageRange>> WrittenPages::scan(PageRange pages, Scan scan) const {
  constexpr unsigned long request = _IOWR('f', 16, Scan);
  std::vector<PageRange> matching;
  std::array<Region, 128> found;
  scan.begin = pages.begin, scan.end = pages.end;
  scan.regions = reinterpret_cast<std::uintptr_t>(found.data()), scan.count = found.size();
  while (scan.begin < scan.end) {
    long count = -1;
    while (getpid() == process_ && (count = ioctl(map_, request, &scan)) < 0 && errno == EINTR) continue;
    if (count < 0 || scan.walk_end <= scan.begin) return std::nullopt;
    for (const auto& [begin, end, categories] : std::span(found).first(static_cast<std::size_t>(count))) {
      if (!matching.empty() && matching.back().end == begin) matching.back().end = end;
      else matching.push_back({begin, end});
    }
    scan.begin = scan.walk_end;
  }
  return matching;
}

bool WrittenPages::watches(PageRange pages) const {
  // The pages that are not watched, whether they are in memory or not.
  const auto others = scan(pages, {.flags = only_if_watched, .inverted = is_watched, .all_of = is_watched});
  return others && others->empty();
}

std::optional<std::vector<PageRange>> WrittenPages::present(PageRange pages) const {
  return scan(pages, {.all_of = is_present});
}

bool WrittenPages::are_huge(PageRange pages) const {
  const auto found = scan(pages, {.all_of = is_huge});
  if (!found) return false;
  std::uintptr_t huge = 0;
  for (const auto& [begin, end] : *found) huge += end - begin;
  constexpr std::uintptr_t edges = std::uintptr_t{4}
                                   << 20;  // bytes at both ends that may lie outside of whole huge pages
  return huge + huge / 16 + edges >= pages.end - pages.begin;
}

bool WrittenPages::make_huge(PageRange pages) {
  const auto size = huge_page_size();
  if (size == 0) return false;
  const PageRange whole{(pages.begin + size - 1) / size * size, pages.end / size * size};
  // The kernel leaves pages that are marked as they are.
  if (whole.empty() || !count_as(true, pages)) return false;
  madvise(reinterpret_cast<void*>(whole.begin), whole.end - whole.begin, collapse);
  return are_huge(pages);
}

bool WrittenPages::watch(PageRange pages) {
  if (pages.empty() || getpid() != process_ || !are_plain(pages)) return false;
  uffdio_register registration{};
  registration.range = {pages.begin, pages.end - pages.begin};
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(faults_, UFFDIO_REGISTER, &registration) != 0) return false;
  // Linux before 6.13 leaves marks on pages that mremap moves out of watched memory. A write there does not remove
  // them, and a later one here would not either.
  if (count_as(true, pages)) return true;
  leave(pages);
  return false;
}

/// Takes pages that are not known to be unchanged: pages that are written, not watched, or not in memory. Pages that
/// are not in memory have been swapped out (some kernels then misread the mark), or were mapped again and not yet used.
std::optional<std::vector<PageRange>> WrittenPages::take_written(PageRange pages) {
  return scan(pages, {.flags = protect_matching | only_if_watched,
                      .inverted = is_watched | is_present,
                      .any_of = is_watched | is_written | is_present});
}

bool WrittenPages::count_as(bool written, PageRange pages) {
  uffdio_writeprotect protection{};
  protection.range = {pages.begin, pages.end - pages.begin};
  protection.mode = written ? 0 : UFFDIO_WRITEPROTECT_MODE_WP;
  return getpid() == process_ && ioctl(faults_, UFFDIO_WRITEPROTECT, &protection) == 0;
}

void WrittenPages::leave(PageRange pages) {
  uffdio_range range{pages.begin, pages.end - pages.begin};
  if (getpid() == process_) ioctl(faults_, UFFDIO_UNREGISTER, &range);
}

}  // namespace tessera::memory

// SPDX-License-Identifier: BSD-3-Clause
#include "spare_memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "devices/cpu/free_memory.hpp"

namespace tessera::dropin {

namespace {

using Mapping = SpareMemory::Mapping;

/// Creating smaller mappings is as fast as keeping them.
constexpr std::size_t worth_keeping = std::size_t{8} << 20;
/// Two for the operands of a call, and two for another caller's.
constexpr std::size_t most_kept = 4;
/// The maximum share of the available memory for kept mappings.
constexpr double share_kept = 1.0 / 8;

/// Never destroyed: a thread may be in a call while the process exits.
struct Kept {
  Kept() { mappings.reserve(most_kept); }  // so that keeping a mapping never allocates
  std::mutex mutex;
  std::vector<Mapping> mappings;  ///< guarded by mutex
};
Kept& kept() {
  static auto& only = *new Kept;
  return only;
}

void unmap(const Mapping& mapping) { munmap(mapping.data, mapping.bytes); }

/// A mapping with huge pages. With small pages, page faults take several times as long as the copy.
Mapping map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  madvise(memory, bytes, MADV_HUGEPAGE);  // if the system supports it
  return {static_cast<std::byte*>(memory), bytes};
}

/// The smallest kept mapping that is large enough, and not more than twice as large.
Mapping take_kept(std::size_t bytes) {
  auto& k = kept();
  const std::lock_guard lock(k.mutex);
  auto best = k.mappings.end();
  for (auto it = k.mappings.begin(); it != k.mappings.end(); ++it)
    if (it->bytes >= bytes && it->bytes / 2 <= bytes && (best == k.mappings.end() || it->bytes < best->bytes))
      best = it;
  if (best == k.mappings.end()) return {};
  const auto found = *best;
  k.mappings.erase(best);
  return found;
}

/// The number of bytes that may be kept: none if the available memory is unknown, or if a limit of this process
/// (`ulimit -v`) makes address space scarce.
double most_bytes() {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY) return 0;
  const double available = device::free_memory();
  return available < std::numeric_limits<double>::infinity() ? share_kept * available : 0;
}

/// Keeps a mapping for later calls, and frees the oldest kept ones if there are too many, or if they are too large
/// together.
/// @return  false if the mapping is not kept: it is too small to be worth keeping, or exceeds the limit by itself
/// @throws std::bad_alloc
bool keep(const Mapping& mapping) {
  if (mapping.bytes < worth_keeping) return false;
  const double most = most_bytes();
  double sum = static_cast<double>(mapping.bytes);
  if (sum > most) return false;
  madvise(mapping.data, mapping.bytes, MADV_FREE);  // if the system cannot reclaim the pages, they are simply kept
  auto& k = kept();
  const std::lock_guard lock(k.mutex);
  for (const auto& other : k.mappings) sum += static_cast<double>(other.bytes);
  while (sum > most || k.mappings.size() == most_kept) {  // the oldest mapping fitted no recent call
    sum -= static_cast<double>(k.mappings.front().bytes);
    unmap(k.mappings.front());
    k.mappings.erase(k.mappings.begin());
  }
  k.mappings.push_back(mapping);
  return true;
}

/// Calls `keep`. If there is not even enough memory for that, keeps nothing.
bool keep_if_possible(const Mapping& mapping) noexcept {
  try {
    return keep(mapping);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

SpareMemory::SpareMemory(std::size_t bytes) : mapping_(bytes < worth_keeping ? Mapping{} : take_kept(bytes)) {
  if (mapping_.data == nullptr) mapping_ = map(bytes);
}

SpareMemory::~SpareMemory() {
  if (mapping_.data != nullptr && !keep_if_possible(mapping_)) unmap(mapping_);
}

void SpareMemory::release_kept() {
  auto& k = kept();
  // In a child that was forked during another thread's call, the mutex stays locked.
  const std::unique_lock lock(k.mutex, std::try_to_lock);
  if (!lock) return;
  for (const auto& mapping : k.mappings) unmap(mapping);
  k.mappings.clear();
}

}  // namespace tessera::dropin

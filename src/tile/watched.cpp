// SPDX-License-Identifier: BSD-3-Clause
#include "watched.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "devices/gpu.hpp"

namespace tessera::tile::kept {

namespace {

constexpr double least_bytes = 1 << 18;  ///< of an operand that is worth it
constexpr std::size_t most_seen = 64;
constexpr int highest_price = 64;

/// Libraries that let other processes or devices write the memory of this one.
constexpr std::string_view forbidden[] = {"libmpi", "libibverbs", "libxpmem", "libuct", "libfabric", "libpsm"};

struct Libraries {
  unsigned long long known, now;
  bool is_forbidden;
};

int look_at_library(dl_phdr_info* info, std::size_t /*size*/, void* argument) {
  auto& libraries = *static_cast<Libraries*>(argument);
  libraries.now = info->dlpi_adds;
  if (libraries.now == libraries.known) return 1;  // the same as last time
  const std::string_view path = info->dlpi_name;
  const auto name = path.substr(path.rfind('/') + 1);
  for (const auto& prefix : forbidden)
    if (name.starts_with(prefix)) libraries.is_forbidden = true;
  return libraries.is_forbidden ? 1 : 0;
}

double bytes_of(const Kept& x) { return static_cast<double>(x.m * x.n) * static_cast<double>(x.element_size); }

std::size_t span_of(const Kept& x) { return static_cast<std::size_t>((x.n - 1) * x.ld + x.m) * x.element_size; }

memory::PageRange pages(const Kept& x) { return memory::pages_of(x.data, span_of(x)); }

detail::TileGrid::Memory memory_of(memory::PageRange range) {
  const auto bytes = range.end - range.begin;
  return {reinterpret_cast<const std::byte*>(range.begin), bytes, bytes, 1};
}

/// CUDA pins ranges of bytes, and says only of single addresses whether they are pinned. Pinned ranges of at least this
/// size are found [bytes].
constexpr std::uintptr_t least_pinned = 1024;

/// Whether CUDA has pinned any of the memory.
/// @param step  distance of the addresses that are checked [bytes]
bool is_pinned(memory::PageRange range, std::uintptr_t step = least_pinned) {
  for (auto at = range.begin; at < range.end; at += std::min(step, range.end - at))
    if (device::gpu::is_pinned(reinterpret_cast<const void*>(at))) return true;
  return device::gpu::is_pinned(reinterpret_cast<const void*>(range.end - 1));
}
bool is_pinned(const std::optional<std::vector<memory::PageRange>>& ranges) {
  return !ranges || std::ranges::any_of(*ranges, [](const memory::PageRange& range) { return is_pinned(range); });
}

/// Registers anew what has bytes on these pages, or brings its copies up to date. Many ranges are first joined to
/// fewer, with what lies between.
/// @param except     tiles that a call is writing; may be null
/// @param looked_at  what the call looks at
void renew_all(Store& all, Removed& removed, const std::vector<memory::PageRange>& written,
               const detail::TileGrid* except, const Kept& looked_at) {
  constexpr std::size_t most = 32;
  // Assumed: copying a range takes as long as copying a small tile.
  constexpr std::size_t few = 8;
  const auto write = except == nullptr && written.size() <= few ? Write::Done : Write::Possible;
  const auto together = (written.size() + most - 1) / most;
  for (std::size_t first = 0; first < written.size(); first += together) {
    const auto last = std::min(first + together, written.size()) - 1;
    renew(all, removed, memory_of({written[first].begin, written[last].end}), except, write, &looked_at);
  }
}

/// A number that is likely to change if the elements do.
std::uint64_t sample(const Kept& x) {
  constexpr Index samples = 64;
  const Index elements = x.m * x.n, step = std::max<Index>(1, elements / samples);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index e = 0; e < elements; e += step) {
    std::uint64_t words[2] = {};
    std::memcpy(words, x.data + static_cast<std::size_t>(e % x.m + e / x.m * x.ld) * x.element_size,
                std::min(x.element_size, sizeof words));
    for (const auto word : words) hash = (hash ^ word) * 0x100000001b3 + (hash >> 29);
  }
  return hash;
}

}  // namespace

Watch::~Watch() {
  for (const auto& seen : seen_)
    if (seen.is_watched) pages_->leave(pages(seen.memory));
}

/// Whether all writes to the memory of this process go through its page tables, as far as the loaded libraries tell.
bool Watch::sees_writes() {
  Libraries libraries{libraries_, 0, false};
  dl_iterate_phdr(look_at_library, &libraries);
  libraries_ = libraries.now;
  is_forbidden_ = is_forbidden_ || libraries.is_forbidden;
  return !is_forbidden_;
}

Watch::Place Watch::find(const Kept& memory) { return std::ranges::find(seen_, memory, &Seen::memory); }

Watch::Place Watch::add(Store& all, Removed& removed, const Kept& memory, std::uint64_t sample) {
  if (seen_.size() >= most_seen) {
    if (seen_.front().is_watched) sell(all, removed, seen_.front());
    seen_.erase(seen_.begin());
  }
  seen_.push_back({memory, sample});
  return std::prev(seen_.end());
}

/// Starts to watch memory. It still counts as written.
bool Watch::buy(Store& all, Removed& removed, Seen& seen) {
  if (!sees_writes() || !pages_->is_safe()) return false;
  const double bytes = bytes_of(seen.memory);
  if (most_bytes_ > 0) {
    if (bytes > most_bytes_) return false;
    double watched = bytes;
    for (const auto& other : seen_)
      if (other.is_watched) watched += bytes_of(other.memory);
    for (auto& other : seen_) {
      if (watched <= most_bytes_) break;
      if (!other.is_watched) continue;
      watched -= bytes_of(other.memory);
      sell(all, removed, other);
    }
  }
  remove_parts(all, removed, memory_of(pages(seen.memory)));  // pages that were not watched may have been written
  seen.is_watched = pages_->watch(pages(seen.memory));
  seen.losses = seen.uses = 0;
  return seen.is_watched;
}

void Watch::sell(Store& all, Removed& removed, Seen& seen) {
  remove_parts(all, removed, memory_of(pages(seen.memory)));
  if (pages_->watches(pages(seen.memory))) pages_->leave(pages(seen.memory));
  seen.is_watched = seen.was_result = seen.is_early = false, seen.unchanged = 0;
  seen.price = std::min(2 * seen.price, highest_price);
}

void Watch::sell_all(Store& all, Removed& removed) {
  for (auto& seen : seen_)
    if (seen.is_watched) sell(all, removed, seen);
}

/// Moves the memory to huge pages, whose marks cost little. This copies it, so memory that the program or the system
/// keeps splitting is not moved again and again.
/// @return  whether it is in huge pages now
bool Watch::make_huge(Seen& seen) {
  constexpr int most_moves = 3;
  return seen.moves++ < most_moves && pages_->make_huge(pages(seen.memory));
}

/// Registers again the tiles that were written. Only written pages are checked for pinning, because pinning a page
/// counts as a write to it.
/// @param except  tiles that the current call is writing; may be null
/// @return  false if the memory is not watched, or must not be
bool Watch::take(Store& all, Removed& removed, Seen& seen, const detail::TileGrid* except) {
  const auto whole = pages(seen.memory);
  std::uintptr_t bytes = 0;
  try {
    const auto written = pages_->take_written(whole);
    if (!written || is_pinned(written)) {
      remove_parts(all, removed, memory_of(whole), except);
      return false;
    }
    for (const auto& range : *written) bytes += range.end - range.begin;
    renew_all(all, removed, *written, except, seen.memory);
  } catch (...) {  // the pages no longer count as written, but their tiles are old
    remove_parts(all, removed, memory_of(whole));
    throw;
  }
  seen.losses = 2 * bytes > whole.end - whole.begin ? seen.losses + 1 : 0;
  return true;
}

/// @return  whether the call may use kept tiles for the input
bool Watch::look_at_input(Store& all, Removed& removed, const Kept& memory) {
  auto place = find(memory);
  if (place == seen_.end()) {
    add(all, removed, memory, sample(memory));
    return false;
  }
  std::rotate(place, place + 1, seen_.end());
  auto& seen = seen_.back();
  if (seen.is_watched) {
    constexpr int most_losses = 2;
    // After so many looks at small pages, copying them once costs no more than the looks have.
    constexpr int uses_before_move = 32;
    if ((take(all, removed, seen) || (pages_->watch(pages(memory)) && take(all, removed, seen))) &&
        seen.losses < most_losses) {
      if (++seen.uses % uses_before_move != 0 || pages_->are_huge(pages(memory)) || !make_huge(seen)) return true;
      if (take(all, removed, seen)) return true;
    }
    sell(all, removed, seen);
    seen.sample = sample(memory);
    return false;
  }
  const auto now = sample(memory);
  seen.unchanged = now == seen.sample ? seen.unchanged + 1 : 0;
  seen.sample = now;
  if (seen.unchanged < seen.price || !buy(all, removed, seen)) return false;
  if (take(all, removed, seen)) return true;
  sell(all, removed, seen);  // pinned before it was watched: what devices write would leave no trace
  return false;
}

/// @param result  the tiles, if the call already writes them
/// @return  whether the result may stay in kept tiles
bool Watch::look_at_output(Store& all, Removed& removed, const Kept& memory, const detail::TileGrid* result) {
  const auto place = find(memory);
  if (place == seen_.end() || !place->is_watched) return false;
  auto& seen = *place;
  const auto whole = pages(memory);
  const auto price = seen.price;
  const bool is_known = take(all, removed, seen, result);
  seen.losses = 0;  // the call writes it, not the program
  if (!is_known) {  // the program has mapped it anew, or pinned a part
    if (pages_->watch(whole) && !is_pinned(pages_->present(whole))) return true;
    sell(all, removed, seen);
    seen.price = price;
    return false;
  }
  const bool are_huge = pages_->are_huge(whole);
  if (result != nullptr && !are_huge) seen.is_early = true;
  if (are_huge || make_huge(seen)) return pages_->count_as(true, whole);
  // It takes longer to unmark each small page, or to write it while it is marked, than to copy the result again.
  sell(all, removed, seen);
  seen.price = highest_price;
  return false;
}

Watch::Ready Watch::begin(Store& all, Removed& removed, std::span<const blas::arguments::StoredMatrix> operands,
                          bool reads_output) {
  Ready ready;
  const bool watches = std::ranges::any_of(seen_, &Seen::is_watched);
  ready.is_in_doubt = watches && !reads_output;
  if (watches && !(sees_writes() && (ready.is_in_doubt || pages_->is_safe()))) sell_all(all, removed);
  std::vector<Kept> looked_at;
  for (const auto& x : operands) {
    if (!x.used || x.m == 0 || x.n == 0 || device::gpu::device_of(x.data)) continue;
    const Kept memory{static_cast<const std::byte*>(x.data), x.m, x.n, x.ld, static_cast<std::size_t>(x.element_size)};
    const bool is_output = &x == &operands.back();
    if (is_output) ready.outputs.push_back(memory);
    if (bytes_of(memory) < least_bytes) continue;
    if (std::ranges::any_of(all.matrices, [&](const Kept& kept) { return overlap(kept.memory(), memory.memory()); }))
      continue;  // the program says when it changes
    if (std::ranges::find(looked_at, memory) != looked_at.end()) continue;
    looked_at.push_back(memory);
    if (!is_output) {
      if (look_at_input(all, removed, memory)) ready.inputs.push_back(memory);
      continue;
    }
    const auto place = find(memory);
    ready.looks_later = !reads_output && place != seen_.end() && place->was_result && !place->is_early;
    if (ready.looks_later || look_at_output(all, removed, memory)) ready.results.push_back(memory);
  }
  return ready;
}

void Watch::look_later(Store& all, Removed& removed, Ready& ready) {
  if (std::exchange(ready.is_in_doubt, false) && !pages_->is_safe()) {
    sell_all(all, removed);
    ready.is_wrong = !ready.inputs.empty();
  }
  if (!std::exchange(ready.looks_later, false)) return;
  const auto memory = ready.results.front();
  if (look_at_output(all, removed, memory, ready.result.get())) return;
  ready.results.clear();
  remove_parts(all, removed, memory_of(pages(memory)));
}

void Watch::end(Store& all, Removed& removed, const Ready& ready, bool failed) {
  for (const auto& memory : ready.results) {
    const auto place = find(memory);
    const auto whole = pages(memory);
    if (place == seen_.end() || !place->is_watched) {  // sold by another thread
      remove_parts(all, removed, memory_of(whole));
      continue;
    }
    // All pages of the result count as written. Asking CUDA about each of them would take longer than copying the
    // result again.
    constexpr std::uintptr_t step = std::uintptr_t{2} << 20;
    if (failed || !pages_->count_as(false, whole)) remove_parts(all, removed, memory_of(whole));
    // Checked after the pages are marked, so that a page that is pinned from now on counts as written.
    else if (is_pinned(whole, step)) sell(all, removed, *place);
    // What the call has written is in its own tiles. Other parts may have bytes on the same pages.
    else
      renew(all, removed, memory_of(whole), ready.result.get(), Write::Possible),
          place->was_result = ready.result != nullptr;
  }
  for (const auto& memory : ready.outputs) {
    if (failed || bytes_of(memory) < least_bytes) continue;
    const auto place = find(memory);
    if (place == seen_.end()) add(all, removed, memory, sample(memory));
    else if (!place->is_watched) place->sample = sample(memory);
  }
}

}  // namespace tessera::tile::kept

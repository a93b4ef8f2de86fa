// SPDX-License-Identifier: BSD-3-Clause
#include "backup.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/columns.hpp"
#include "common/no_signals.hpp"
#include "common/streaming_copy.hpp"
#include "devices/cpu/free_memory.hpp"

namespace tessera::dropin {

namespace {

/// A part is some columns of an operand: large enough that threads seldom collide, small enough to keep waits short.
constexpr double bytes_of_part = 4e6;
/// Below these sizes, creating threads takes longer than copying.
constexpr double worth_threads = 8e6, worth_a_thread = 32e6;
/// A single core cannot saturate the host's memory. While the devices compute, fewer threads copy, so that the staging
/// threads keep their share.
constexpr Index most_threads = 8, most_meanwhile = 3;

}  // namespace

Backup::Backup(const Job& job, bool meanwhile)
    : element_size_(job.element_size), listener_{[](void* self, const void* first, const void* last) noexcept {
                                                   static_cast<Backup*>(self)->save_before_overwriting(
                                                       static_cast<const std::byte*>(first),
                                                       static_cast<const std::byte*>(last));
                                                 },
                                                 this} {
  const double needed = job.backup_bytes();
  if (needed > 1e6 && needed > device::free_memory() / 2) {
    complete_ = false;
    return;
  }
  for (std::size_t i = 0; i < copies_.size() && complete_; i++) {
    const auto& operand = job.overwritten[i];
    if (operand.use != blas::Use::None && operand.m > 0 && operand.n > 0) complete_ = map(copies_[i], operand);
    copies_[i].first_part = part_count_;
    part_count_ += copies_[i].parts;
  }
  if (!complete_ || part_count_ == 0) return;
  parts_ = std::make_unique<std::atomic<Part>[]>(static_cast<std::size_t>(part_count_));
  meanwhile_ = meanwhile && needed >= worth_threads;
  const auto cores = static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
  const Index threads = meanwhile_ ? std::min(most_meanwhile, std::max<Index>(1, cores / 2))
                                   : std::min({most_threads, cores, static_cast<Index>(needed / worth_a_thread)}) - 1;
  try {
    const common::NoSignals in_the_threads;
    for (Index t = 0; t < threads; t++) copying_.emplace_back([this] { save_missing(); });
  } catch (const std::exception&) {  // with fewer threads, this thread or the overwriting one copies
  }
  if (meanwhile_) return;
  save_missing();
  copying_.clear();
}

bool Backup::map(Copy& copy, const blas::StoredOperand& operand) const {
  const auto bytes = static_cast<std::size_t>(operand.m * operand.n * element_size_);
  SpareMemory memory(bytes);
  if (memory.data() == nullptr) return false;
  const auto width = static_cast<Index>(bytes_of_part / static_cast<double>(operand.m * element_size_));
  copy = {operand, std::move(memory), std::clamp<Index>(width, 1, operand.n)};
  copy.parts = (operand.n + copy.columns_of_part - 1) / copy.columns_of_part;
  return true;
}

void Backup::save(Index part) noexcept {
  auto& state = parts_[static_cast<std::size_t>(part)];
  auto seen = Part::Missing;
  if (state.compare_exchange_strong(seen, Part::BeingCopied)) {
    for_each_column(part, common::copy_streaming);
    common::end_streaming();
    state = Part::Copied;
    state.notify_all();
  } else {
    while (state == Part::BeingCopied) state.wait(Part::BeingCopied);
  }
}

void Backup::save_missing() noexcept {
  for (Index part = 0; needed_ && (part = next_++) < part_count_;) {
    if (parts_[static_cast<std::size_t>(part)] == Part::Missing) save(part);
  }
}

void Backup::save_before_overwriting(const std::byte* first, const std::byte* last) noexcept {
  for (const auto& copy : copies_) {
    if (copy.parts == 0) continue;
    const auto& x = copy.operand;
    const auto* const begin = static_cast<const std::byte*>(x.data);
    const Index column = x.ld * element_size_, used = (x.n - 1) * column + x.m * element_size_;
    if (last <= begin || first >= begin + used) continue;
    const auto part_at = [&](Index offset) { return offset / column / copy.columns_of_part; };
    const Index from = part_at(std::max<Index>(0, first - begin)),
                to = part_at(std::min<Index>(used, last - begin) - 1);
    for (Index part = from; part <= to; part++) save(copy.first_part + part);
  }
}

void Backup::end_copying() {
  needed_ = false;
  copying_.clear();
}

void Backup::restore() {
  end_copying();
  // Missing parts have not been overwritten.
  const auto restore_parts = [&](Index first, Index last) {
    for (Index part = first; part < last; part++)
      if (parts_[static_cast<std::size_t>(part)] == Part::Copied)
        for_each_column(
            part, [](std::byte* saved, std::byte* column, std::size_t count) { std::memcpy(column, saved, count); });
  };
  if (part_count_ > 0)
    common::for_columns(part_count_, static_cast<double>(part_count_) * bytes_of_part, restore_parts);
}

template <typename Move>
void Backup::for_each_column(Index part, Move move) const {
  const auto& copy = part < copies_[0].parts ? copies_[0] : copies_[1];
  const auto& x = copy.operand;
  const Index first = (part - copy.first_part) * copy.columns_of_part;
  for (Index j = first; j < std::min(x.n, first + copy.columns_of_part); j++) {
    const Index begin = x.triangle == Uplo::Lower ? j : 0, end = x.triangle == Uplo::Upper ? j + 1 : x.m;
    move(copy.memory.data() + (begin + j * x.m) * element_size_,
         static_cast<std::byte*>(x.data) + (begin + j * x.ld) * element_size_,
         static_cast<std::size_t>((end - begin) * element_size_));
  }
}

}  // namespace tessera::dropin

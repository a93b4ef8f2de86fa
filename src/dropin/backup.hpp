// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "common/not_copyable.hpp"
#include "common/overwrites.hpp"
#include "job.hpp"
#include "spare_memory.hpp"

namespace tessera::dropin {

/// A copy of the operands that a call overwrites, so the host can repeat a call that fails halfway. It contains only
/// elements that the routine reads: only the triangle if the result is one, and nothing if β is 0.
///
/// A large copy may be made by separate threads while the devices compute. A thread that is about to overwrite a part
/// that has not been copied yet copies it first.
class Backup : common::NotCopyable {
 public:
  /// @param meanwhile  whether the devices announce what they overwrite, so that the copy can be made while they
  ///                   compute
  Backup(const Job& job, bool meanwhile);
  ~Backup() { end_copying(); }

  /// False if there was not enough memory for a necessary copy. The call must then not run on the devices.
  bool complete() const noexcept { return complete_; }
  /// The listener to notify of overwrites. Null: the copy is already complete.
  const common::overwrites::Listener* listener() const noexcept { return meanwhile_ ? &listener_ : nullptr; }
  /// @pre  the devices no longer write
  void restore();

 private:
  /// The copy of one operand, in columns without padding.
  struct Copy {
    blas::StoredOperand operand;
    SpareMemory memory{};
    Index columns_of_part = 1;
    Index first_part = 0, parts = 0;
  };
  enum class Part : int { Missing, BeingCopied, Copied };

  bool map(Copy& copy, const blas::StoredOperand& operand) const;
  /// Copies a part, or waits for the thread that is copying it.
  void save(Index part) noexcept;
  void save_missing() noexcept;
  void save_before_overwriting(const std::byte* first, const std::byte* last) noexcept;
  void end_copying();
  /// @param move  called with the addresses of a part of a column in the copy and in the operand, and its bytes
  template <typename Move>
  void for_each_column(Index part, Move move) const;

  Index element_size_;
  bool complete_ = true, meanwhile_ = false;
  std::array<Copy, 2> copies_;
  Index part_count_ = 0;
  std::unique_ptr<std::atomic<Part>[]> parts_;
  std::atomic<Index> next_ = 0;      ///< the next part that one of the threads will copy
  std::atomic<bool> needed_ = true;  ///< false: the threads may stop
  std::vector<std::jthread> copying_;
  common::overwrites::Listener listener_;
};

}  // namespace tessera::dropin

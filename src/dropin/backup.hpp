// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "job.hpp"

namespace tessera::dropin {

/// A copy of the operands that a call overwrites. It allows the host to repeat a call that fails half-way. Contains
/// only elements that the routine reads: only the triangle if the result is one, and nothing if β is 0.
class Backup {
 public:
  explicit Backup(const Job& job);

  /// False if there was not enough memory for a copy that is needed. The call must then not be tried on the devices.
  bool complete() const noexcept { return complete_; }
  void restore() const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* data) const;
  };
  /// The copy of one operand, in columns without padding.
  struct Copy {
    blas::StoredOperand operand;
    std::unique_ptr<std::byte, Unmap> memory{nullptr, Unmap{0}};
  };
  /// @param move  called with the addresses of a part of a column in the copy and in the operand, and its bytes
  template <typename Move>
  void for_each_column(const Copy& copy, Move move) const;

  Index element_size_;
  bool complete_ = true;
  std::array<Copy, 2> copies_;
};

}  // namespace tessera::dropin

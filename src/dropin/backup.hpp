// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "blas/call.hpp"

namespace tessera::dropin {

using blas::Call;

/// A copy of the operand that a call overwrites. It allows the host to repeat a call that fails half-way. Contains only
/// elements that the routine reads: only the triangle if the result is one, and nothing if β is 0.
class Backup {
 public:
  explicit Backup(const Call& call);

  /// False if there was not enough memory for a copy that is needed. The call must then not be tried on the devices.
  bool complete() const noexcept { return complete_; }
  void restore() const;

 private:
  /// The elements of a column that belong to the result: `count` rows from row `begin`.
  struct Part {
    Index begin, count;
  };
  Part part(Index j) const;
  template <typename Copy>
  void for_each_column(Copy copy) const;

  const Call& call_;
  bool complete_ = true;
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> copy_{nullptr, Unmap{0}};  ///< columns without padding
};

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "machine/machine.hpp"
#include "owning_worker.hpp"

namespace tessera::unroll {

/// Assigns the last tile columns of a matrix to the cores that share it with the GPUs, one after another. Columns are
/// independent, so no core waits for another worker.
class CoreColumns {
 public:
  /// @param columns  all tile columns
  /// @param count    of these, columns for cores
  /// @param machine  must outlive this
  CoreColumns(Index columns, Index count, const detail::Machine& machine)
      : first_(columns - count), machine_(machine) {}

  Index first() const noexcept { return first_; }  ///< the first column for cores, or the number of all columns

  /// The owner of a column: GPUs are counted first, then cores; -1: it is left to the GPUs.
  int of(Index column) const noexcept { return column < first_ ? -1 : core_owner(column - first_, machine_); }

 private:
  Index first_;
  const detail::Machine& machine_;
};

}  // namespace tessera::unroll

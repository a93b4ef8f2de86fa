// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "call.hpp"

namespace tessera::dropin {

/// What a call overwrites, as it was before: without it a call that fails half-way could not be done again. Only what
/// the routine reads: of a triangle only that, and with beta = 0 nothing.
class Backup {
 public:
  explicit Backup(const Call& call);

  /// False if there is not enough memory for a copy that is needed: then the call must not be tried.
  bool complete() const noexcept { return complete_; }
  void restore() const;

 private:
  /// Elements of column j that belong to the result, from `begin` on.
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
  std::unique_ptr<std::byte, Unmap> copy_{nullptr, Unmap{0}};  ///< columns one after another, without padding
};

}  // namespace tessera::dropin

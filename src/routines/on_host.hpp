// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>  // STARPU_SIMGRID

#include <cstddef>
#include <type_traits>
#include <vector>

#include <tessera/types.hpp>

#include "common/device_memory.hpp"
#include "devices/gpu.hpp"

namespace tessera::routines {

/// What the calling thread does with an operand.
enum class HostUse { Reads, Writes, Both };

/// A column-major part of an operand that the calling thread can access: in place, or a copy if it is in GPU memory.
/// @tparam T  const if the thread only reads
template <typename T>
class OnHost {
 public:
  OnHost(T* data, Index m, Index n, Index ld, HostUse use)
      : data_(data), m_(m), n_(n), ld_(ld), copied_(is_on_gpu()), written_(use != HostUse::Reads) {
    if (!copied_) return;
    copy_.resize(static_cast<std::size_t>(m * n));
    if (use != HostUse::Writes) device::gpu::copy_columns(copy_.data(), bytes(m), data, bytes(ld), bytes(m), columns());
  }

  T* data() { return copied_ ? copy_.data() : data_; }
  Index ld() const { return copied_ ? m_ : ld_; }
  /// Copies written elements to where the operand is. Call it once, at the end.
  void finish() {
    if constexpr (!std::is_const_v<T>)
      if (copied_ && written_)
        device::gpu::copy_columns(data_, bytes(ld_), copy_.data(), bytes(m_), bytes(m_), columns());
  }

 private:
  bool is_on_gpu() const {
    return m_ > 0 && n_ > 0 && common::device_memory::may_exist() && common::device_memory::gpu_of(data_).has_value();
  }
  static std::size_t bytes(Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); }
  std::size_t columns() const { return static_cast<std::size_t>(n_); }

  T* data_;
  Index m_, n_, ld_;
  bool copied_, written_;
  std::vector<std::remove_const_t<T>> copy_;
};

/// The smallest i, counted from 1, with A(i, i) = 0, or 0 if there is none: the info of an inverse on pointers. It is
/// computed before the first task, so a matrix without an inverse stays unchanged.
template <Scalar T>
Index first_zero([[maybe_unused]] Index n, [[maybe_unused]] const T* A, [[maybe_unused]] Index lda) {
#ifndef STARPU_SIMGRID  // simulated matrices have no elements
  OnHost<const T> diagonal(A, 1, n, lda + 1, HostUse::Reads);
  for (Index i = 0; i < n; i++)
    if (diagonal.data()[i * diagonal.ld()] == T{}) return i + 1;
#endif
  return 0;
}

}  // namespace tessera::routines

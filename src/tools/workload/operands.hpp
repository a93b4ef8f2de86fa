// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "gpu.hpp"
#include "problem.hpp"

namespace tessera::bench {

/// The operands' contents: the element at `index` of the operand number `operand` (0: A, 1: B, 2: C), in (-0.5, 0.5).
/// Of complex types it is the real or imaginary part that lies there. A function of the index, so that any thread
/// fills any part, and a check knows what C was without keeping a copy.
///
/// A well-conditioned matrix of order n, for trmm and trsm, has such elements divided by √n beside its diagonal, and
/// 3/2 more on it. Its triangles are then a diagonal of magnitude 1 to 2 and a part of norm 0.7 or less, whatever n is:
/// a call changes the length of a column by a factor between 1/3 and 3. Without the division, the condition of random
/// triangular matrices grows as 2ⁿ; with one by n, the part beside the diagonal would vanish, and errors there with it.
inline double generated(std::uint64_t seed, int operand, Index index) {
  std::uint64_t z = (seed * 4 + static_cast<std::uint64_t>(operand)) * 0xD1B54A32D192ED03U;
  z += (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15U;  // from here on splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53 - 0.5;
}

/// The element at `index` [elements] of an operand of type T.
template <Scalar T>
T generated_element(std::uint64_t seed, int operand, Index index) {
  using R = Real<T>;
  if constexpr (is_complex<T>)
    return {static_cast<R>(generated(seed, operand, 2 * index)),
            static_cast<R>(generated(seed, operand, 2 * index + 1))};
  else return static_cast<R>(generated(seed, operand, index));
}

/// Host memory, on huge pages where the system gives them, pinned if asked for.
class HostMemory {
 public:
  /// @throws RuntimeError if there is not enough
  HostMemory(std::size_t bytes, bool pinned);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<gpu::PinnedMemory> pinned_;
};

/// A, B and C for every problem of a run: allocated once, for the largest.
class OperandMemory {
 public:
  OperandMemory(std::size_t bytes_a, std::size_t bytes_b, std::size_t bytes_c, bool pinned);
  Operands get() const noexcept { return {A_.data(), B_.data(), C_.data()}; }
  /// Writes A, B and C of that problem, on all cores.
  void fill(const Problem& problem, const Shapes& shapes) const;
  void fill_result(const Problem& problem, const Shapes& shapes) const;

 private:
  HostMemory A_, B_, C_;
};

}  // namespace tessera::bench

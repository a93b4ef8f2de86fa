// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>
#include <string>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "not_copyable.hpp"

/// The floating-point mode of a thread: rounding, and the treatment of denormals. A new thread inherits the mode of the
/// thread that creates it, and keeps it even if its creator changes mode. Workers must therefore be told.
///
/// Traps and exception flags are not part of the mode.
namespace tessera::common::float_mode {

using Bits = std::uint64_t;

/// Round to nearest, with denormals: the default of programs, and the mode of GPUs.
inline constexpr Bits usual = 0;

#if defined(__SSE__)

inline constexpr Bits denormals_are_zero = 0x0040, flush_to_zero = 0x8000;
inline constexpr Bits rounding = 0x6000, upward = 0x4000, downward = 0x2000;
inline Bits current() { return _mm_getcsr() & (denormals_are_zero | flush_to_zero | rounding); }
inline void set(Bits mode) {
  constexpr Bits all = denormals_are_zero | flush_to_zero | rounding;
  _mm_setcsr(static_cast<unsigned>((_mm_getcsr() & ~all) | mode));
}

#elif defined(__aarch64__)

inline constexpr Bits denormals_are_zero = 1 << 0, flush_to_zero = (1 << 24) | (1 << 19);
inline constexpr Bits rounding = 3 << 22, upward = 1 << 22, downward = 2 << 22;
inline Bits control() {
  Bits all = 0;
  asm volatile("mrs %0, fpcr" : "=r"(all));
  return all;
}
inline Bits current() { return control() & (denormals_are_zero | flush_to_zero | rounding); }
inline void set(Bits mode) {
  const Bits other = control() & ~(denormals_are_zero | flush_to_zero | rounding);
  asm volatile("msr fpcr, %0" : : "r"(other | mode));
}

#else  // only what the language offers: rounding, with nearest as 0

inline constexpr Bits denormals_are_zero = 0, flush_to_zero = 0, rounding = ~Bits{0};
inline constexpr Bits upward = FE_UPWARD ^ FE_TONEAREST, downward = FE_DOWNWARD ^ FE_TONEAREST;
inline Bits current() { return static_cast<Bits>(std::fegetround()) ^ static_cast<Bits>(FE_TONEAREST); }
inline void set(Bits mode) { std::fesetround(static_cast<int>(mode ^ static_cast<Bits>(FE_TONEAREST))); }

#endif

/// The differences from the usual mode, in words: "rounds upward and flushes denormals to zero".
inline std::string text(Bits mode) {
  std::string words;
  if (const Bits direction = mode & rounding; direction != 0)
    words = direction == upward ? "rounds upward" : direction == downward ? "rounds downward" : "rounds toward zero";
  if ((mode & (flush_to_zero | denormals_are_zero)) != 0)
    words += std::string(words.empty() ? "" : " and ") + "flushes denormals to zero";
  return words;
}

/// Sets the mode of the calling thread during the lifetime of this object.
class Within : NotCopyable {
 public:
  explicit Within(Bits mode) : before_(current()), changed_(mode != before_) {
    if (changed_) set(mode);
  }
  ~Within() {
    if (changed_) set(before_);
  }

 private:
  Bits before_;
  bool changed_;
};

}  // namespace tessera::common::float_mode

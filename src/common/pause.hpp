// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::common {

/// Tells the processor that this thread is spinning, so that the core's other hardware thread runs faster.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace tessera::common

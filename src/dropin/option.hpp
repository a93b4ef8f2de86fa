// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::dropin {

/// Converts the letter of an option to upper case, because both cases are legal. Other characters stay illegal.
template <typename Option>
Option option(char letter) {
  return Option{static_cast<char>(letter & ~0x20)};
}
template <typename Option>
Option option(const char* letter) {
  return option<Option>(*letter);
}

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cctype>
#include <string>

namespace tessera::bench {

/// The letter that the BLAS uses for an option.
template <typename Option>
std::string letter(Option option) {
  return {static_cast<char>(std::tolower(static_cast<char>(option)))};
}

}  // namespace tessera::bench

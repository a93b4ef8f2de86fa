// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/error.hpp>

namespace tessera::test {

/// The message of the error that an action throws; "" if it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tessera::test

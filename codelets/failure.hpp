// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tessera::codelets {

/// A codelet cannot throw: it leaves the first failure here, and the next wait throws it.
void report_failure(const std::string& what);

/// The first failure since the last call, or "".
std::string take_failure();

}  // namespace tessera::codelets

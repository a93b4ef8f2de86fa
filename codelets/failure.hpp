// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tessera::codelets {

/// A codelet cannot throw: it leaves its failure here, for whoever waits next to throw.
void report_failure(const std::string& what);

/// How many there have been in this process.
std::uint64_t failure_count();

/// The last one, or "".
std::string last_failure();

}  // namespace tessera::codelets

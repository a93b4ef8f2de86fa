// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "trace/output/outputs.hpp"

/// The text that tessera-trace prints.
namespace tessera::trace {

std::string summary(const Explained& run);

/// The table of differences, with the second run relative to the first.
std::string comparison(const Explained& first, const Explained& second);

}  // namespace tessera::trace

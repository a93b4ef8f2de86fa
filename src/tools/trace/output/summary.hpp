// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "outputs.hpp"

/// What tessera-trace prints, some lines.
namespace tessera::trace {

std::string summary(const Explained& run);

/// The table of differences, with the second run as a part of the first.
std::string comparison(const Explained& first, const Explained& second);

}  // namespace tessera::trace

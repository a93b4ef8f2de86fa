// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Returns `options` with all fields that the caller left at their defaults taken from the environment.
/// @throws ArgumentError that names the field or variable, its value and what is allowed
RuntimeOptions with_environment(RuntimeOptions options);

}  // namespace tessera::detail

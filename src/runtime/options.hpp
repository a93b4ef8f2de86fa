// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// `options` with the fields that were left alone taken from the environment.
/// @throws ArgumentError naming the field or the variable, its value and what is allowed
RuntimeOptions with_environment(RuntimeOptions options);

}  // namespace tessera::detail

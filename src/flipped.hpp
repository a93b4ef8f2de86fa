// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

/// What becomes of an option when a matrix is seen as its transpose.
namespace tessera::detail {

constexpr Uplo flipped(Uplo uplo) { return uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower; }
constexpr Side flipped(Side side) { return side == Side::Left ? Side::Right : Side::Left; }

}  // namespace tessera::detail

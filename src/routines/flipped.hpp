// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

/// The option that describes the transpose of a matrix: its other triangle, or the other side of a product.
namespace tessera::detail {

constexpr Uplo flipped(Uplo uplo) { return uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower; }
constexpr Side flipped(Side side) { return side == Side::Left ? Side::Right : Side::Left; }

}  // namespace tessera::detail

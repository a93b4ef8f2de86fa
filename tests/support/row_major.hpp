// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include "support/call.hpp"
#include "support/tiled.hpp"

namespace tessera::test {

/// The call with row-major copies of its operands, which have other leading dimensions.
template <Scalar T>
Call<T> row_major(const Call<T>& call);

/// Makes the call on row-major copies of the operands.
template <Scalar T>
void in_row_major(Call<T>& call);

}  // namespace tessera::test

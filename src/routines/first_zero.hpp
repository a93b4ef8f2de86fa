// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>  // STARPU_SIMGRID

#include <tessera/types.hpp>

#include "on_host.hpp"

namespace tessera::detail {

/// The smallest i, counted from 1, with A(i, i) = 0, or 0 if there is none: the info of an inverse on pointers. It is
/// computed before the first task, so a matrix without an inverse stays unchanged.
template <Scalar T>
Index first_zero([[maybe_unused]] Index n, [[maybe_unused]] const T* A, [[maybe_unused]] Index lda) {
#ifndef STARPU_SIMGRID  // simulated matrices have no elements
  OnHost<const T> diagonal(A, 1, n, lda + 1, HostUse::Reads);
  for (Index i = 0; i < n; i++)
    if (diagonal.data()[i * diagonal.ld()] == T{}) return i + 1;
#endif
  return 0;
}

}  // namespace tessera::detail

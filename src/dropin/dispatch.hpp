// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

namespace tessera::dropin {

using blas::Call;
using blas::LapackCall;

/// Computes a legal, column-major call on the devices or on the host, whichever is expected to be faster. If the
/// devices fail, restores the operands and repeats the call on the host. Empty calls go to the host.
/// @return  false if nothing was done: there is no host BLAS, or a host BLAS with 32-bit integers would need copies of
///          operands for which there is no memory
bool dispatch(const Call& call) noexcept;

/// Dispatches a legal call of LAPACK, in either layout. LAPACK calls that the host's LAPACK makes internally stay on
/// the host and are not counted; its BLAS calls are dispatched, and counted if the devices compute them.
/// @param info  receives the routine's info
bool dispatch(const LapackCall& call, Index& info) noexcept;

/// Computes a legal call on the devices, because the host cannot access an operand.
/// @return "" on success, otherwise why the call was not computed
std::string dispatch_from_gpu(const Call& call) noexcept;
std::string dispatch_from_gpu(const LapackCall& call, Index& info) noexcept;

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

/// Arguments that point to memory of a GPU. The host BLAS would access this memory and crash without a message, so the
/// devices compute calls with such operands, however short they are. Calls that the devices do not accept are illegal:
/// a line on standard error names the argument, and `xerbla` receives its position. Exceptions and longjmps of the
/// program's xerbla may leave these functions.
namespace tessera::dropin {

using blas::Call;
using blas::LapackCall;

/// A pointer that a call may access; `data` is null if it does not.
struct PointerArgument {
  int position;  ///< without a layout
  const char* name;
  const void* data;
};

/// Refuses a call that has an argument on a GPU.
/// @param routine  name including the type letter: "dgemm"
/// @param wide     whether the program's integers have 64 bits
/// @return  the position of the reported argument; 0: none
int refused(std::span<const PointerArgument> arguments, const char* routine, bool wide);

/// Computes or refuses a call with an operand on a GPU.
/// @return false if there is no such operand
/// @pre  the call is legal
bool done_on_gpu(const Call& call, Layout layout, const char* routine, bool wide);

/// Does the same for a call of LAPACK, whose other arguments must be on the host.
/// @param at    the address of the program's info; null if the program passes none
/// @param info  receives the routine's info, or minus the position of the argument that was reported
/// @pre  the call is legal, and computes something
bool done_on_gpu(const LapackCall& call, const void* at, Index& info);

/// Whether info, the last argument, can be written.
bool is_on_host(const void* info);

}  // namespace tessera::dropin

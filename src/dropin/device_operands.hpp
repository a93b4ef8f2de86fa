// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

/// Detects arguments that point to the memory of a GPU. The host BLAS would access it and crash without a message, so
/// these calls are treated as illegal: a line on standard error names the argument, and `xerbla` receives its position.
/// Exceptions and longjmps of the program's xerbla may leave these functions.
namespace tessera::dropin {

using blas::Call;
using blas::LapackCall;

/// A pointer that a call accesses; null: not accessed.
struct PointerArgument {
  int position;  ///< without a layout
  const char* name;
  const void* data;
};

/// @param routine  name including the type letter: "dgemm"
/// @param wide     whether the program's integers have 64 bits
/// @param flops    of the call; short calls do not look for CUDA each time
/// @return  the position of the reported argument; 0: none
int refused(std::span<const PointerArgument> arguments, const char* routine, bool wide, double flops);

/// @pre  the call is legal
int refused(const Call& call, Layout layout, const char* routine, bool wide);

/// @param info  null: not given
/// @pre  the call is legal, and computes something
int refused(const LapackCall& call, const void* info);

/// Whether info, the last argument, can be written.
bool is_on_host(const void* info);

}  // namespace tessera::dropin

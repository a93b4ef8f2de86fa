// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::dropin {

/// Reports an illegal argument through the program's `xerbla_`, or else through that of the host BLAS, or else on
/// standard error. An exception or a longjmp of the program's xerbla may leave this function.
/// @param routine  name including the type letter: "dgemm"
/// @param wide     whether to try `xerbla_64_` first
void report_illegal(const char* routine, bool wide, int position);

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Illegal arguments, as the reference BLAS reports them.
namespace tessera::dropin {

/// How wide the integers of a symbol are.
enum class Width { Bits32, Bits64 };

/// Tells the program's `xerbla_` that an argument of a Fortran routine is illegal.
/// @param symbol    "dgemm_": reported as "DGEMM ", with blanks up to six characters
/// @param position  counted from 1
void report_illegal(const char* symbol, int position, Width width) noexcept;

/// The same for CBLAS, to the program's `cblas_xerbla` if there is one.
/// @param symbol  "cblas_dgemm", or one of its forms for 64 bits, reported without their ending
void report_illegal_cblas(const char* symbol, int position) noexcept;

}  // namespace tessera::dropin

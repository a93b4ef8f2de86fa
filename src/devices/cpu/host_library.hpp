// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The OpenBLAS that Tessera was built with. Its functions are looked up in its own file, because a program may contain
/// another BLAS and LAPACK with the same names, for example with 64-bit integers, which a global lookup would find.
namespace tessera::device::cpu {

/// The address of a symbol of the library; null if there is no such symbol, or the library cannot be loaded.
void* symbol(const char* name);

/// The path of the library's file; "" if it cannot be loaded.
std::string library();

/// Checks that the library works. Call this before any BLAS or LAPACK function of this namespace. Only `symbol` and
/// `library` may be called without it.
/// @throws RuntimeError if the library cannot be loaded, lacks a function, or must not be called by several threads
void require_library();

}  // namespace tessera::device::cpu

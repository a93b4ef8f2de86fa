// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The OpenBLAS that Tessera was built with. Its functions are looked up in its own file. A program may contain another
/// BLAS and LAPACK with the same names, for example with 64-bit integers, and a global lookup by name would find that
/// one.
namespace tessera::host {

/// The address of any symbol of the library; null if there is no such symbol, or the library cannot be loaded.
void* symbol(const char* name);

/// The path of its file; "" if it cannot be loaded.
std::string library();

/// @throws RuntimeError if the library cannot be loaded, or lacks a function. Nothing else in this namespace may then
/// be called.
void require_library();

}  // namespace tessera::host

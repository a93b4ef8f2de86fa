// SPDX-License-Identifier: BSD-3-Clause
// Kept matrices in C.
#include <tessera/error.hpp>
#include <tessera/keep.hpp>

#include "c_interface.hpp"
#include "common/of_type.hpp"

using namespace tessera;
using namespace tessera::c;

namespace {

/// Calls keep(A, m, n, ld) for the type. In C, the type is the first argument.
template <typename Keep>
tessera_status with_elements(const char* function, char type, const void* A, Keep keep) {
  return status_of(function, [&] {
    require_type(function, 1, type);
    try {
      common::with_type(type, [&]<Scalar T>(T /*element*/) { keep(static_cast<const T*>(A)); });
    } catch (const ArgumentError& error) {
      throw ArgumentError(function, error.position() + 1, error.argument(), error.problem());
    }
  });
}

}  // namespace

extern "C" {

tessera_status tessera_keep(char type, const void* A, int64_t m, int64_t n, int64_t ld) {
  return with_elements("tessera_keep", type, A, [&](const auto* data) { keep(data, m, n, ld); });
}

tessera_status tessera_changed(const void* A) {
  return status_of("tessera_changed", [&] { changed(A); });
}

tessera_status tessera_changed_part(char type, const void* A, int64_t m, int64_t n, int64_t ld) {
  return with_elements("tessera_changed_part", type, A, [&](const auto* data) { changed(data, m, n, ld); });
}

tessera_status tessera_forget(const void* A) {
  return status_of("tessera_forget", [&] { forget(A); });
}

}  // extern "C"

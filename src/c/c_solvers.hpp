// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/tessera.h>

#include <tessera/lapack.hpp>

#include "c_interface.hpp"

/// C handles for the results of factorizations on matrices, besides the factors.

struct tessera_info {
  tessera::Info info;
};
struct tessera_pivots {
  tessera::Pivots pivots;
};

namespace tessera::c {

/// Calls a routine on pointers that has no info.
template <Scalar T, typename Routine, typename... Arguments>
tessera_status solve(const char* function, Routine routine, Arguments... arguments) {
  return status_of(function, [&] { call<T>(function, routine, arguments...); });
}
/// Calls a routine on pointers that returns an info, and stores it. `info` is the last argument of the C function.
template <Scalar T, typename Routine, typename... Arguments>
tessera_status solve(const char* function, int64_t* info, Routine routine, Arguments... arguments) {
  const auto routine_with_info = [&](auto... x) {
    require_pointer(function, sizeof...(x) + 1, "info", info);
    *info = routine(x...);
  };
  return solve<T>(function, routine_with_info, arguments...);
}

/// A matrix argument.
struct Given {
  int position;
  const tessera_matrix* matrix;
};

/// Calls `routine` with the type of A, and with B in that type.
template <typename Routine>
void with_matrices(const char* function, const Given& a, const Given& b, Routine routine) {
  const auto* A = require_pointer(function, a.position, "A", a.matrix);
  const auto* B = require_pointer(function, b.position, "B", b.matrix);
  std::visit(
      [&]<Scalar T>(const Matrix<T>& typed) {
        const auto* right = std::get_if<Matrix<T>>(&B->matrix);
        if (right == nullptr)
          throw ArgumentError(function, b.position, "B", std::string("is not of the type of A, ") + type_letter<T>);
        routine(typed, *right);
      },
      A->matrix);
}

}  // namespace tessera::c

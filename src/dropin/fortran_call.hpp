// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tessera::dropin {

/// Calls a BLAS function with the arguments x. Fortran passes the lengths of all character arguments after the other
/// arguments.
template <typename... X>
void call_function(void* function, X... x) {
  constexpr auto letters = (0 + ... + (std::is_same_v<X, const char*> ? 1 : 0));
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    reinterpret_cast<void (*)(X..., decltype(I)...)>(function)(x..., (static_cast<void>(I), std::size_t{1})...);
  }
  (std::make_index_sequence<letters>());
}

}  // namespace tessera::dropin

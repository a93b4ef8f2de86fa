// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "blas/call.hpp"
#include "device_operands.hpp"
#include "fortran_call.hpp"
#include "known_symbol.hpp"

namespace tessera::dropin {

using blas::Call;

/// The naming scheme of a symbol and the width of its integers.
enum class Interface {
  Fortran,       ///< dgemm_
  FortranPlain,  ///< dgemm
  Fortran64,     ///< dgemm_64_
  Cblas,         ///< cblas_dgemm
  Cblas64,       ///< cblas_dgemm64_ and cblas_dgemm_64
};

/// The function that one of the drop-in's symbols hides: the next definition of the same symbol in the program's
/// libraries, or else that of the host BLAS.
///
/// Calls that Tessera does not compute go to this function with the program's own arguments. They are thus as legal as
/// without the drop-in, and end in the same way, including an exception or a longjmp from the program's xerbla. No
/// frame on this path has objects to destroy, so exceptions pass through it safely.
class Entry {
 public:
  /// @param routine  name including the type letter: "dgemm"
  constexpr Entry(Interface interface, const char* routine) : interface_(interface), routine_(routine) {}

  /// Handles a legal call with an operand in the memory of a GPU. Returns whether there is one; the call is then over.
  bool done_on_gpu(const Call& call, Layout layout) const {
    return dropin::done_on_gpu(call, layout, routine_,
                               interface_ == Interface::Fortran64 || interface_ == Interface::Cblas64);
  }

  /// @param call, layout  the same call, for the report if there is no such function
  /// @param arguments     the arguments as passed by the program
  template <typename... X>
  void operator()(const Call& call, Layout layout, X... arguments) {
    if (void* const function = same_.find([this] { return look_up(interface_, routine_); }); function != nullptr)
      return call_function(function, arguments...);
    if (interface_ == Interface::Fortran64 || interface_ == Interface::Cblas64)
      if (void* const function = as_32_bits_.find([this] { return look_up(with_32_bits(interface_), routine_); });
          function != nullptr && fits(call))
        return call_function(function, As32Bits<X>(arguments).get()...);
    refuse(call, layout);
  }

 private:
  /// Converts an argument for a function with 32-bit integers.
  template <typename X>
  struct As32Bits {
    explicit As32Bits(X x) : value(x) {}
    X get() const { return value; }
    X value;
  };

  static constexpr Interface with_32_bits(Interface wide) {
    return wide == Interface::Cblas64 ? Interface::Cblas : Interface::Fortran;
  }
  static void* look_up(Interface interface, const char* routine);

  /// Handles a call that no BLAS accepts: reports the illegal argument through `xerbla_`. Aborts the program if there
  /// is no host BLAS.
  void refuse(const Call& call, Layout layout) const;

  Interface interface_;
  const char* routine_;
  KnownSymbol same_, as_32_bits_;
};

template <>
struct Entry::As32Bits<std::int64_t> {
  explicit As32Bits(std::int64_t x) : value(static_cast<int>(x)) {}
  int get() const { return value; }
  int value;
};
template <>
struct Entry::As32Bits<const std::int64_t*> {
  explicit As32Bits(const std::int64_t* x) : value(static_cast<int>(*x)) {}
  const int* get() const { return &value; }
  int value;
};

}  // namespace tessera::dropin

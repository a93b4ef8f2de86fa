// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "call.hpp"

namespace tessera::dropin {

/// How a symbol is made of the name of a routine, and how wide its integers are.
enum class Interface {
  Fortran,       ///< dgemm_
  FortranPlain,  ///< dgemm
  Fortran64,     ///< dgemm_64_
  Cblas,         ///< cblas_dgemm
  Cblas64,       ///< cblas_dgemm64_ and cblas_dgemm_64
};

/// One of our symbols in the BLAS that the program would have without us: the program's own, else the host BLAS.
///
/// Calls that we do not compute go there with the arguments that the program has passed, so that they are as legal, and
/// end, as they would without us: also by an exception or a longjmp of the program's xerbla. Nothing here needs to be
/// destroyed while they run, so that frames without a personality routine are all that an exception meets.
class Entry {
 public:
  /// @param routine  "dgemm"
  constexpr Entry(Interface interface, const char* routine) : interface_(interface), routine_(routine) {}

  /// @param call, layout  the same call, to be reported if there is no such symbol
  /// @param arguments     as the program has passed them
  template <typename... X>
  void operator()(const Call& call, Layout layout, X... arguments) {
    if (void* const function = same_.find(interface_, routine_); function != nullptr)
      return pass<X...>(function, arguments...);
    if (interface_ == Interface::Fortran64 || interface_ == Interface::Cblas64)
      if (void* const function = narrow_.find(narrow(interface_), routine_); function != nullptr && fits(call))
        return pass(function, Narrow<X>(arguments).get()...);
    refuse(call, layout);
  }

 private:
  /// A symbol, looked up once.
  class Symbol {
   public:
    void* find(Interface interface, const char* routine) {
      if (!known_.load(std::memory_order_acquire)) {
        address_.store(look_up(interface, routine), std::memory_order_relaxed);
        known_.store(true, std::memory_order_release);
      }
      return address_.load(std::memory_order_relaxed);
    }

   private:
    std::atomic<bool> known_ = false;
    std::atomic<void*> address_ = nullptr;
  };

  /// An argument for a function whose integers have 32 bits.
  template <typename X>
  struct Narrow {
    explicit Narrow(X x) : value(x) {}
    X get() const { return value; }
    X value;
  };

  static constexpr Interface narrow(Interface wide) {
    return wide == Interface::Cblas64 ? Interface::Cblas : Interface::Fortran;
  }
  static void* look_up(Interface interface, const char* routine);

  /// Fortran has the lengths of the letters behind all arguments.
  template <typename... X>
  static void pass(void* function, X... x) {
    constexpr auto letters = (0 + ... + (std::is_same_v<X, const char*> ? 1 : 0));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      reinterpret_cast<void (*)(X..., decltype(I)...)>(function)(x..., (static_cast<void>(I), std::size_t{1})...);
    }
    (std::make_index_sequence<letters>());
  }

  /// Says by `xerbla_` what is wrong with a call that no BLAS takes, or ends the program if there is no BLAS at all.
  void refuse(const Call& call, Layout layout) const;

  Interface interface_;
  const char* routine_;
  Symbol same_, narrow_;
};

template <>
struct Entry::Narrow<std::int64_t> {
  explicit Narrow(std::int64_t x) : value(static_cast<int>(x)) {}
  int get() const { return value; }
  int value;
};
template <>
struct Entry::Narrow<const std::int64_t*> {
  explicit Narrow(const std::int64_t* x) : value(static_cast<int>(*x)) {}
  const int* get() const { return &value; }
  int value;
};

}  // namespace tessera::dropin

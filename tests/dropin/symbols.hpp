// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <stdexcept>

#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/row_major.hpp"

/// Calls of all routines of src/blas/routines.def through each of their symbols.
namespace tessera::test {

/// A naming scheme of symbols, and the convention for passing arguments to them.
struct Family {
  const char* prefix;
  const char* suffix;
  bool wide;               ///< integers of 64 bits
  bool lowercase = false;  ///< passes options as lower-case letters, which Fortran allows
  bool cblas() const { return *prefix != '\0'; }
};
inline constexpr std::array families{
    Family{"", "_", false},      Family{"", "_", false, true},  Family{"", "", false},        Family{"", "_64_", true},
    Family{"cblas_", "", false}, Family{"cblas_", "64_", true}, Family{"cblas_", "_64", true}};

/// The names of a routine: gemmt has a second one in the reference BLAS.
inline std::vector<std::string> names_of(const std::string& routine) {
  if (routine == "gemmt") return {"gemmt", "gemmtr"};
  return {routine};
}

template <Scalar T>
std::string symbol_of(const Family& family, const std::string& name) {
  return std::string(family.prefix) + type_letter<T> + name + family.suffix;
}

/// The address of a symbol in a program that loads libtessera_blas.so before its own BLAS.
inline void* address_of(const std::string& symbol) {
  void* const address = dlsym(RTLD_DEFAULT, symbol.c_str());
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) throw std::runtime_error("no symbol " + symbol);
  const auto library = std::filesystem::path(info.dli_fname).filename().string();
  if (!library.starts_with("libtessera_blas")) throw std::runtime_error(symbol + " is that of " + library);
  return address;
}

namespace interface {

/// The values of CBLAS's enumerators. Illegal options become an illegal value.
inline int number(Layout x) { return x == Layout::RowMajor ? 101 : x == Layout::ColMajor ? 102 : 7; }
inline int number(Op x) { return x == Op::NoTrans ? 111 : x == Op::Trans ? 112 : x == Op::ConjTrans ? 113 : 7; }
inline int number(Uplo x) { return x == Uplo::Upper ? 121 : x == Uplo::Lower ? 122 : 7; }
inline int number(Diag x) { return x == Diag::NonUnit ? 131 : x == Diag::Unit ? 132 : 7; }
inline int number(Side x) { return x == Side::Left ? 141 : x == Side::Right ? 142 : 7; }

template <typename X>
constexpr bool is_factor = false;
template <Scalar T>
constexpr bool is_factor<Factor<T>> = true;

/// Calls a Fortran symbol: all arguments are passed by address.
template <typename Int>
struct Fortran {
  void* address;
  bool lowercase;

  template <typename... X>
  void operator()(const X&... x) const {
    reinterpret_cast<void (*)(decltype(Passed(x, lowercase).get())...)>(address)(Passed(x, lowercase).get()...);
  }

 private:
  /// The memory of an argument during the call.
  template <typename X>
  struct Passed {
    Passed(const X& x, bool lower) : x_(x) {
      if constexpr (std::is_enum_v<X>)
        letter_ = static_cast<char>(lower ? std::tolower(static_cast<int>(x)) : static_cast<int>(x));
      else if constexpr (std::is_same_v<X, Index>) integer_ = static_cast<Int>(x);
    }
    auto get() const {
      if constexpr (std::is_enum_v<X>) return &letter_;
      else if constexpr (std::is_same_v<X, Index>) return &integer_;
      else if constexpr (is_factor<X>) return static_cast<const void*>(&x_.value);
      else return x_;
    }
    const X& x_;
    char letter_ = 0;
    Int integer_ = 0;
  };
};

/// Calls a CBLAS symbol: only complex factors are passed by address. alpha and beta may differ in type.
template <typename Shape, typename Alpha, typename Beta, typename Int>
struct Cblas {
  void* address;

  template <typename... X>
  void operator()(const X&... x) const {
    call(std::index_sequence_for<X...>(), x...);
  }

 private:
  template <std::size_t... I, typename... X>
  void call(std::index_sequence<I...>, const X&... x) const {
    reinterpret_cast<void (*)(decltype(passed<I>(x))...)>(address)(passed<I>(x)...);
  }
  template <std::size_t I, typename X>
  static auto passed(const X& x) {
    if constexpr (is_factor<X>) {
      constexpr auto parameters = blas::parameters(Shape::shape);  // without the layout, which is argument 0
      constexpr bool is_alpha = parameters[I - 1].member == blas::Member::alpha;
      using Number = std::conditional_t<is_alpha, Alpha, Beta>;
      if constexpr (is_complex<Number>) return static_cast<const void*>(&x.value);
      else return static_cast<Number>(std::real(x.value));
    } else if constexpr (std::is_enum_v<X>) {
      return number(x);
    } else if constexpr (std::is_same_v<X, Index>) {
      return static_cast<Int>(x);
    } else {
      return x;
    }
  }
};

template <typename Shape, Scalar T, typename Alpha, typename Beta>
void call(void* address, const Family& family, Layout layout, const Arguments<T>& arguments) {
  if (family.cblas() && family.wide)
    Shape::on_pointers(Cblas<Shape, Alpha, Beta, std::int64_t>{address}, arguments, layout);
  else if (family.cblas()) Shape::on_pointers(Cblas<Shape, Alpha, Beta, int>{address}, arguments, layout);
  else if (family.wide) Shape::on_pointers(Fortran<std::int64_t>{address, family.lowercase}, arguments);
  else Shape::on_pointers(Fortran<int>{address, family.lowercase}, arguments);
}

}  // namespace interface

/// Calls a routine through one of its symbols. The layout is ignored for Fortran.
template <Scalar T>
void call_symbol(const Routine<T>& routine, void* address, const Family& family, Layout layout,
                 const Arguments<T>& arguments) {
  using namespace interface;
  const auto& wanted = routine.name;
#define ROUTINE(name, types, shape, Alpha, Beta) \
  if (wanted == #name)                           \
    return interface::call<shapes::shape, T, blas::Alpha<T>, blas::Beta<T>>(address, family, layout, arguments);
#include "blas/routines.def"
#undef ROUTINE
}

/// The layouts that a family supports.
inline std::vector<Layout> layouts_of(const Family& family) {
  if (family.cblas()) return {Layout::ColMajor, Layout::RowMajor};
  return {Layout::ColMajor};
}

/// Whether the call through this symbol gives the right result, and changes no other memory.
template <Scalar T>
::testing::AssertionResult symbol_is_right(const std::string& symbol, const Family& family, Layout layout,
                                           const Call<T>& before) {
  auto after = before;
  if (layout == Layout::ColMajor) {
    call_symbol(*before.routine, address_of(symbol), family, layout, after.arguments());
  } else {
    auto stored = row_major(before);
    const auto A = stored.A, B = stored.B;
    call_symbol(*before.routine, address_of(symbol), family, layout, stored.arguments());
    if (!(stored.A == A && stored.B == B))
      return ::testing::AssertionFailure() << symbol << " changed an input: " << before;
    if (!stored.C.sentinels_intact())
      return ::testing::AssertionFailure() << symbol << " wrote beside the output: " << before;
    for (Index j = 0; j < after.C.n(); j++)
      for (Index i = 0; i < after.C.m(); i++) after.C(i, j) = stored.C(j, i);
  }
  if (auto right = result_is_right(before, after); !right)
    return right << " (" << symbol << (layout == Layout::RowMajor ? ", row-major)" : ")");
  return ::testing::AssertionSuccess();
}

}  // namespace tessera::test

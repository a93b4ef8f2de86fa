// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/tessera.h>

#include <atomic>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>
#include <tessera/submissions.hpp>

#include "blas/shapes.hpp"
#include "common/device_memory.hpp"

/// Shared parts of the C interface: matrices of any type, statuses, and options.

namespace tessera::c {

using namespace blas;

using AnyMatrix =
    std::variant<Matrix<float>, Matrix<double>, Matrix<std::complex<float>>, Matrix<std::complex<double>>>;

/// Matrices that share tiles: a registered matrix and its views. Destroying the last one waits for all tiles.
struct Family {
  AnyMatrix whole;
  std::atomic<int> members = 1;  ///< number of existing C handles
};

}  // namespace tessera::c

struct tessera_submissions {
  tessera::Submissions submissions;
};

struct tessera_matrix {
  tessera::c::AnyMatrix matrix;
  std::shared_ptr<tessera::c::Family> family;
};

namespace tessera::c {

/// The status for the current exception. Stores its message, with the name of `function`, as the thread's last error.
tessera_status failure_of(const char* function) noexcept;

/// Calls `call` and turns an exception into a status.
template <typename Call>
tessera_status status_of(const char* function, Call call) noexcept {
  try {
    call();
    return TESSERA_SUCCESS;
  } catch (...) {
    return failure_of(function);
  }
}

/// @throws ArgumentError if `pointer` is null, or points to a number in the memory of a GPU
template <typename P>
const P& require_pointer(const char* function, int position, const char* name, const P& pointer) {
  if (pointer == nullptr) throw ArgumentError(function, position, name, "is null");
  using Pointee = std::remove_pointer_t<P>;
  if constexpr (std::is_arithmetic_v<Pointee> || std::is_void_v<Pointee>)
    if (common::device_memory::may_exist() && common::device_memory::gpu_of(pointer))
      throw ArgumentError(function, position, name, common::device_memory::problem());
  return pointer;
}

/// @throws ArgumentError unless `type` is the letter of a type
inline void require_type(const char* function, int position, char type) {
  if (type != 's' && type != 'd' && type != 'c' && type != 'z')
    throw ArgumentError(function, position, "type", std::string("is '") + type + "', must be s, d, c or z");
}

/// A value of a C enumeration, the corresponding C++ value, and the C name.
template <typename Value, typename Meaning>
struct Option {
  Value value;
  Meaning meaning;
  const char* name;
};

inline constexpr Option<tessera_layout, Layout> layouts[] = {
    {TESSERA_ROW_MAJOR, Layout::RowMajor, "TESSERA_ROW_MAJOR"},
    {TESSERA_COL_MAJOR, Layout::ColMajor, "TESSERA_COL_MAJOR"}};
inline constexpr Option<tessera_op, Op> ops[] = {{TESSERA_NO_TRANS, Op::NoTrans, "TESSERA_NO_TRANS"},
                                                 {TESSERA_TRANS, Op::Trans, "TESSERA_TRANS"},
                                                 {TESSERA_CONJ_TRANS, Op::ConjTrans, "TESSERA_CONJ_TRANS"}};
inline constexpr Option<tessera_uplo, Uplo> uplos[] = {{TESSERA_UPPER, Uplo::Upper, "TESSERA_UPPER"},
                                                       {TESSERA_LOWER, Uplo::Lower, "TESSERA_LOWER"}};
inline constexpr Option<tessera_diag, Diag> diags[] = {{TESSERA_NON_UNIT, Diag::NonUnit, "TESSERA_NON_UNIT"},
                                                       {TESSERA_UNIT, Diag::Unit, "TESSERA_UNIT"}};
inline constexpr Option<tessera_side, Side> sides[] = {{TESSERA_LEFT, Side::Left, "TESSERA_LEFT"},
                                                       {TESSERA_RIGHT, Side::Right, "TESSERA_RIGHT"}};

/// The elements of an array. As in CBLAS, complex arrays are void pointers.
template <Scalar T>
using Element = std::conditional_t<is_complex<T>, void, T>;

// The types of options, by their names in shapes.hpp.
using COp = tessera_op;
using CUplo = tessera_uplo;
using CSide = tessera_side;
using CDiag = tessera_diag;

/// An argument of an enumeration type.
template <typename Value, typename Meaning, std::size_t count>
class Choice {
 public:
  Choice(const char* name, Value value, const Option<Value, Meaning> (&options)[count])
      : name_(name), value_(value), options_(options) {}

  /// @throws ArgumentError if the value is not in the enumeration
  Meaning meaning(const char* function, int position) const {
    std::string list;
    for (std::size_t i = 0; i < count; i++) {
      if (options_[i].value == value_) return options_[i].meaning;
      if (i > 0) list += i + 1 < count ? ", " : " or ";
      list += std::string(options_[i].name) + " (" + std::to_string(options_[i].value) + ")";
    }
    throw ArgumentError(function, position, name_, "is " + std::to_string(value_) + ", must be " + list);
  }

 private:
  const char* name_;
  Value value_;
  const Option<Value, Meaning>* options_;
};

inline auto choice(const char* name, tessera_layout value) { return Choice(name, value, layouts); }
inline auto choice(const char* name, tessera_op value) { return Choice(name, value, ops); }
inline auto choice(const char* name, tessera_uplo value) { return Choice(name, value, uplos); }
inline auto choice(const char* name, tessera_side value) { return Choice(name, value, sides); }
inline auto choice(const char* name, tessera_diag value) { return Choice(name, value, diags); }

/// Alpha or beta, given by address.
/// @tparam Kind  Full or Real, as in routines.def
template <template <Scalar> typename Kind>
struct Factor {
  const char* name;
  const void* address;

  template <Scalar T>
  Kind<T> as(const char* function, int position) const {
    return *static_cast<const Kind<T>*>(require_pointer(function, position, name, address));
  }
};

/// A matrix argument, which must have the element type of another matrix of the call.
struct Operand {
  const char* name;
  const tessera_matrix* matrix;
  const char* type = "the output's type";  ///< the type that it must have, in words

  template <Scalar T>
  const Matrix<T>& as(const char* function, int position) const {
    const auto* typed = std::get_if<Matrix<T>>(&require_pointer(function, position, name, matrix)->matrix);
    if (typed == nullptr)
      throw ArgumentError(function, position, name, std::string("is not of ") + type + ", " + type_letter<T>);
    return *typed;
  }
};

/// Calls `routine` with its arguments converted to the types that belong to T.
/// @throws ArgumentError with the position, counted from 1, of the first illegal argument
template <Scalar T, typename Routine, typename... Arguments>
void call(const char* function, Routine routine, const Arguments&... arguments) {
  int position = 0;
  const auto translated = [&](const auto& argument) {
    position++;
    using Argument = std::decay_t<decltype(argument)>;
    if constexpr (requires { argument.meaning(function, position); }) return argument.meaning(function, position);
    else if constexpr (std::is_class_v<Argument>) return argument.template as<T>(function, position);
    else if constexpr (std::is_same_v<Argument, const void*>) return static_cast<const T*>(argument);
    else if constexpr (std::is_same_v<Argument, void*>) return static_cast<T*>(argument);
    else return argument;
  };
  std::apply(routine, std::tuple{translated(arguments)...});  // braces guarantee evaluation from left to right
}

}  // namespace tessera::c

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/call.hpp"

/// Access to the arguments of any routine by name, so that tests can make each one illegal.
namespace tessera::test {

inline bool is_leading_dimension(const std::string& argument) { return argument.starts_with("ld"); }
inline bool is_operand(const std::string& argument) { return argument == "A" || argument == "B" || argument == "C"; }
inline bool is_size(const std::string& argument) { return argument == "m" || argument == "n" || argument == "k"; }
inline bool is_option(const std::string& argument) {
  return !is_operand(argument) && !is_size(argument) && !is_leading_dimension(argument) && argument != "alpha" &&
         argument != "beta";
}

/// One argument of a call, by its name in the routine's argument list. The output of trmm and trsm has the name B.
template <Scalar T>
class Argument {
 public:
  Argument(const Routine<T>& routine, const std::string& name, Arguments<T>& all)
      : name_(name == routine.output()                 ? "C"
              : name == "ld" + lower(routine.output()) ? "ldc"
                                                       : name),
        all_(all) {}

  void set_option(char value) {
    auto& o = all_.options;
    if (name_ == "side") o.side = static_cast<Side>(value);
    else if (name_ == "uplo") o.uplo = static_cast<Uplo>(value);
    else if (name_ == "op_b") o.op_b = static_cast<Op>(value);
    else if (name_ == "diag") o.diag = static_cast<Diag>(value);
    else o.op_a = static_cast<Op>(value);
  }
  Index& number() {
    auto& [o, e, alpha, A, lda, B, ldb, beta, C, ldc] = all_;
    return name_ == "m"     ? e.m
           : name_ == "n"   ? e.n
           : name_ == "k"   ? e.k
           : name_ == "lda" ? lda
           : name_ == "ldb" ? ldb
                            : ldc;
  }
  void set_null() {
    if (name_ == "A") all_.A = nullptr;
    else if (name_ == "B") all_.B = nullptr;
    else all_.C = nullptr;
  }

 private:
  static std::string lower(const std::string& name) { return name == "B" ? "b" : "c"; }
  std::string name_;
  Arguments<T>& all_;
};

/// The argument list of a routine on matrices: the list on pointers without sizes and leading dimensions.
template <Scalar T>
std::vector<std::string> arguments_on_matrices(const Routine<T>& routine) {
  auto names = routine.arguments;
  std::erase_if(names, [](const auto& name) { return is_size(name) || is_leading_dimension(name); });
  return names;
}

}  // namespace tessera::test

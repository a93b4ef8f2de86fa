// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

/// @file
/// The exceptions that Tessera throws.

namespace tessera {

/// Base class of all exceptions that Tessera throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A routine refuses an argument, or a Runtime refuses an option or its environment variable. Thrown before any task is
/// submitted, so no operand has been touched.
class ArgumentError : public Error {
 public:
  /// @param routine   the routine's name as the caller wrote it, e.g. "gemm"
  /// @param position  the argument's position, counted from 1 as `xerbla` does; 0 for an option, which has only a name
  /// @param argument  the argument's name, e.g. "lda"
  /// @param problem   its value and the allowed values, e.g. "is 3, must be at least max(1, m) = 4"
  ArgumentError(std::string routine, int position, std::string argument, const std::string& problem)
      : Error(routine + ": " +
              (position > 0 ? "argument " + std::to_string(position) + " (" + argument + ")" : argument) + " " +
              problem),
        routine_(std::move(routine)), argument_(std::move(argument)), problem_(problem), position_(position) {}

  const std::string& routine() const noexcept { return routine_; }    ///< e.g. "gemm"
  const std::string& argument() const noexcept { return argument_; }  ///< e.g. "lda"
  const std::string& problem() const noexcept { return problem_; }    ///< the argument's value, and the allowed values
  int position() const noexcept { return position_; }  ///< the argument's position, from 1; 0 for an option

 private:
  std::string routine_;
  std::string argument_;
  std::string problem_;
  int position_;
};

/// Matrices do not fit together: their sizes or tile sizes do not match, or an output shares memory with an input.
class ShapeError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
};

/// The machine or StarPU failed: there is no worker or no memory, or a tile operation failed.
class RuntimeError : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera

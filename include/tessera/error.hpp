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

/// A routine cannot accept an argument, or a Runtime an option or its environment variable. Thrown before anything is
/// submitted: no operand has been touched.
class ArgumentError : public Error {
 public:
  /// @param routine   as the caller wrote it, e.g. "gemm"
  /// @param position  of the argument in the routine's list, counted from 1 as `xerbla` does; 0: an option, which has
  ///                  only a name
  /// @param argument  its name, e.g. "lda"
  /// @param problem   its value and what is allowed, e.g. "is 3, must be at least max(1, m) = 4"
  ArgumentError(std::string routine, int position, std::string argument, const std::string& problem)
      : Error(routine + ": " +
              (position > 0 ? "argument " + std::to_string(position) + " (" + argument + ")" : argument) + " " +
              problem),
        routine_(std::move(routine)), argument_(std::move(argument)), problem_(problem), position_(position) {}

  const std::string& routine() const noexcept { return routine_; }    ///< e.g. "gemm"
  const std::string& argument() const noexcept { return argument_; }  ///< e.g. "lda"
  const std::string& problem() const noexcept { return problem_; }    ///< its value, and what is allowed
  int position() const noexcept { return position_; }                 ///< counted from 1; 0: an option

 private:
  std::string routine_;
  std::string argument_;
  std::string problem_;
  int position_;
};

/// Matrices do not fit together: sizes, tile sizes, or an output that shares memory with an input.
class ShapeError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
};

/// The machine or StarPU failed: no worker, no memory, a tile operation that failed.
class RuntimeError : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::bench {

/// The arguments of a BLAS call. Each routine reads the fields that it takes.
struct Problem {
  char type = 'd';  ///< s, d, c or z
  Index m = 0, n = 0, k = 0;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Diag diag = Diag::NonUnit;
  std::complex<double> alpha = 1.1, beta = 0.3;
  Index ld_pad = 0;  ///< elements between the end of a column and the start of the next one
  std::uint64_t seed = 1;
  Index chain = 1;      ///< calls in a row on the same matrices, of which only the last result returns to memory
  bool on_gpu = false;  ///< the operands are in the memory of the first GPU
};

/// A stored matrix [elements].
struct Shape {
  Index rows = 0, columns = 0, ld = 1;
  bool well_conditioned = false;  ///< such that solves with it are stable, see generated.hpp
  bool overwritten = false;       ///< written by the routine, although it is not C
  Index elements() const noexcept { return ld * columns; }
};

/// The operands of a routine; those that it lacks are empty. C is the output, which is B in the BLAS's trmm and trsm.
struct Shapes {
  Shape A, B, C;
};

/// The addresses of the operands.
struct Operands {
  void *A = nullptr, *B = nullptr, *C = nullptr;
};

/// The result of a check. Error and bound are relative, see check.hpp.
struct Verdict {
  double error = 0, bound = 0;
  bool passed() const noexcept { return error <= bound; }  // false if the error is not a number
};

}  // namespace tessera::bench

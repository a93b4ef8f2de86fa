// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::bench {

/// What is computed, in terms of the BLAS. A routine reads the fields that it takes.
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
};

/// A matrix as it is stored [elements].
struct Shape {
  Index rows = 0, columns = 0, ld = 1;
  bool well_conditioned = false;  ///< its triangles can be solved with, see operands.hpp
  Index elements() const noexcept { return ld * columns; }
};

/// The operands of a routine; those that it has not are empty. C is the output: of trmm and trsm, what the BLAS calls
/// B.
struct Shapes {
  Shape A, B, C;
};

/// Where the operands lie.
struct Operands {
  void *A = nullptr, *B = nullptr, *C = nullptr;
};

/// Bytes that cannot but enter the devices' memory, and leave it.
struct Traffic {
  double in = 0, out = 0;
};

/// Result of a check: passed if error ≤ bound. Both relative, see check.hpp.
struct Verdict {
  double error = 0, bound = 0;
  bool passed() const noexcept { return error <= bound; }  // false if the error is not a number
};

}  // namespace tessera::bench

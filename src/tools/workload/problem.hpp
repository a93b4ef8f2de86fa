// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cctype>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

#include <tessera/types.hpp>

namespace tessera::bench {

/// Where the operands of a call are.
enum class Memory {
  Pinned,
  Pageable,
  Managed,  ///< memory of CUDA that the host and all GPUs can access
  Device,   ///< memory of the first GPU
  Spread,   ///< matrices without memory: each tile is on the GPU that owns it
};
inline constexpr std::array names_of_memories{"pinned", "pageable", "managed", "device", "spread"};
constexpr const char* name_of(Memory memory) { return names_of_memories[static_cast<std::size_t>(memory)]; }

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
  Index chain = 1;  ///< consecutive calls on the same matrices; only the last result is copied to memory
  Memory memory = Memory::Pinned;

  bool in_host_memory() const { return memory == Memory::Pinned || memory == Memory::Pageable; }
};

/// A stored matrix [elements].
struct Shape {
  Index rows = 0, columns = 0, ld = 1;
  bool well_conditioned = false;  ///< suitable for stable solves, see `generated`
  bool real_diagonal = false;     ///< as of a Cholesky factor
  bool overwritten = false;       ///< written by the routine, although it is not C
  Index elements() const noexcept { return ld * columns; }
};

/// The operands of a routine; operands that it does not have are empty. C is the output, even of trmm and trsm, where
/// the BLAS calls it B.
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
  /// Takes a further error into account. An error that is not a number stays.
  void add(double further) noexcept { error = further <= error || std::isnan(error) ? error : further; }
};

/// Converts a factor to `T`. The imaginary part is dropped for real types.
template <Scalar T>
T scalar_cast(std::complex<double> value) {
  if constexpr (is_complex<T>) return T(value);
  else return static_cast<T>(value.real());
}

/// The letter that the BLAS uses for an option.
template <typename Option>
std::string letter(Option option) {
  return {static_cast<char>(std::tolower(static_cast<char>(option)))};
}

}  // namespace tessera::bench

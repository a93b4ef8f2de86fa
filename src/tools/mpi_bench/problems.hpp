// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tessera/blas3.hpp>
#include <tessera/distributed.hpp>
#include <tessera/lapack.hpp>

#include "tile/processes.hpp"

namespace tessera::mpi_bench {

/// A routine on square distributed matrices of one order n: the lower triangle, from the left, nothing transposed.
struct Routine {
  std::string_view name;
  std::string_view matrices;  ///< the matrices that the call has: A, B, C
  std::string_view outputs;   ///< those that it writes
  double cubes;               ///< multiply-adds / n³
  // The tiles that a process receives, as the paper counts them, in whole matrices: its rows of the left factor and its
  // columns of the right one, or panels of L, which all processes get. Tiles that it owns are not received. For potrf
  // this is an upper estimate: a tile that a process needs in its row and in its column arrives only once.
  double rows, columns, panels;

  bool is_for_complex_only() const { return name.starts_with("he"); }
  bool has_pivots() const { return panels > 0; }
};
/// All routines on distributed matrices.
std::span<const Routine> routines();
/// @throws BadArgument if there is no such routine
const Routine& routine_named(const std::string& name);

/// Submits a call of a routine without pivots. @tparam M  Matrix or DistributedMatrix
/// @param diag  whether a triangle has a unit diagonal
/// @return  the info of a factorization
template <Scalar T, template <Scalar> typename M>
std::optional<Info> submit(std::string_view routine, const M<T>& A, const M<T>& B, const M<T>& C, T alpha, T beta,
                           Diag diag) {
  constexpr auto lower = Uplo::Lower;
  constexpr auto as_stored = Op::NoTrans;
  if (routine == "gemm") gemm(as_stored, as_stored, alpha, A, B, beta, C);
  if (routine == "gemmt") gemmt(lower, as_stored, Op::Trans, alpha, A, A, beta, C);
  if (routine == "symm") symm(Side::Left, lower, alpha, A, B, beta, C);
  if (routine == "syrk") syrk(lower, as_stored, alpha, A, beta, C);
  if (routine == "syr2k") syr2k(lower, as_stored, alpha, A, B, beta, C);
  if constexpr (is_complex<T>) {
    if (routine == "hemm") hemm(Side::Left, lower, alpha, A, B, beta, C);
    if (routine == "herk") herk(lower, as_stored, alpha.real(), A, beta.real(), C);
    if (routine == "her2k") her2k(lower, as_stored, alpha, A, B, beta.real(), C);
  }
  if (routine == "trmm") trmm(Side::Left, lower, as_stored, diag, alpha, A, B);
  if (routine == "trsm") trsm(Side::Left, lower, as_stored, diag, alpha, A, B);
  if (routine == "potrf") return potrf(lower, A);
  if (routine == "potrs") potrs(lower, A, B);
  if (routine == "getrf_nopiv") return getrf_nopiv(A);
  if (routine == "getrs_nopiv") getrs_nopiv(as_stored, A, B);
  return {};
}

/// A call of a routine. Elements are random functions of their positions, so no process stores them twice.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Gives the matrices their first values.
  virtual void fill() = 0;
  /// Submits the call, and waits for the results of this process.
  virtual void run() = 0;
  /// The error of the result times a random vector, relative to the unit roundoff, the length of the sums and the size
  /// of the exact product. Collective.
  virtual double residual() = 0;
  /// The average number of bytes of tiles that a process receives, as the paper counts them.
  virtual double model_bytes() const = 0;
  virtual double flops() const = 0;

  /// How gemm is cut, and the predicted traffic.
  struct Cut {
    tile::ProcessBlocks blocks;
    tile::ProcessLoads loads;
  };
  virtual std::optional<Cut> cut() const = 0;
};

/// @param routine  one that exists in this type
/// @param type     s, d, c or z
/// @param control  how gemm limits communication. Sizes that it leaves open are chosen for the process's devices
std::unique_ptr<Problem> make_problem(const Routine& routine, char type, const Grid& grid, Index n, Index tile,
                                      const tile::ProcessControl& control);

}  // namespace tessera::mpi_bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <tessera/matrix.hpp>

#include "blas/call.hpp"
#include "support/matrices.hpp"
#include "support/values.hpp"

/// A call of any routine as a value: operands, options and factors. The output is C, even for trmm and trsm.
namespace tessera::test {

/// A factor that is passed as T or, for some Hermitian routines, as a real number.
template <Scalar T>
struct Factor {
  T value;
  Factor(T x) : value(x) {}  // NOLINT(google-explicit-constructor): stands for a T
  operator T() const { return value; }
  operator Real<T>() const requires is_complex<T> { return std::real(value); }
};

/// The arguments of all routines on pointers; each routine uses those that it has.
template <Scalar T>
struct Arguments {
  Options options;
  Extent size;
  Factor<T> alpha;
  const T* A;
  Index lda;
  const T* B;
  Index ldb;
  Factor<T> beta;
  T* C;
  Index ldc;
};

/// The arguments of all routines on matrices.
template <Scalar T>
struct TileArguments {
  Options options;
  Factor<T> alpha;
  Matrix<T> A, B;
  Factor<T> beta;
  Matrix<T> C;
};

template <Scalar T>
struct Call;

/// The description of a routine for the tests, filled in by shapes.hpp and routines.hpp.
template <Scalar T>
struct Routine {
  blas::Routine which;
  std::string name;                    ///< "gemm"
  std::vector<std::string> arguments;  ///< names of the arguments on pointers, in order
  bool real_alpha, real_beta;
  bool hermitian;                                 ///< hemm, herk, her2k: the routine accepts ConjTrans instead of Trans
  Structure a, c;                                 ///< structures of A and of the output
  std::vector<Op> ops;                            ///< legal values of op or op_a
  std::vector<Term<T>> (*terms)(const Call<T>&);  ///< the sum added to βC; for trsm the sum op(A) X, equal to αB
  void (*on_pointers)(const Arguments<T>&);
  void (*with_layout)(Layout, const Arguments<T>&);
  void (*on_matrices)(const TileArguments<T>&);
  void (*on_host)(const Arguments<T>&);  ///< computes with the host BLAS

  bool has(const char* argument) const { return std::ranges::count(arguments, argument) > 0; }
  bool has_b() const { return has("B") && has("C"); }
  bool solves() const { return name == "trsm"; }
  // Sizes of the operands as stored. Given the tile sizes of a call, the tile sizes of the operands.
  Size size_a(const Options& options, const Extent& size) const { return stored_size(0, options, size); }
  Size size_b(const Options& options, const Extent& size) const { return stored_size(1, options, size); }
  Size size_c(const Options& options, const Extent& size) const { return stored_size(2, options, size); }
  const std::string& output() const { return arguments[arguments.size() - 2]; }

 private:
  Size stored_size(std::size_t operand, const Options& o, const Extent& size) const {
    const auto stored = matrices(blas::Call{.routine = which,
                                            .type = type_letter<T>,
                                            .side = o.side,
                                            .uplo = o.uplo,
                                            .op_a = o.op_a,
                                            .op_b = o.op_b,
                                            .diag = o.diag,
                                            .m = size.m,
                                            .n = size.n,
                                            .k = size.k})[operand];
    return {stored.m, stored.n};
  }
};

template <Scalar T>
struct Call {
  const Routine<T>* routine;
  Options options;
  Extent size;
  T alpha, beta;
  HostMatrix<T> A, B, C;

  Arguments<T> arguments() {
    return {options, size, alpha, A.data(), A.ld(), B.data(), B.ld(), beta, C.data(), C.ld()};
  }
  bool empty() const { return C.m() == 0 || C.n() == 0; }
  /// Whether the call leaves C unchanged by definition, and returns without accessing it.
  bool does_nothing() const {
    return empty() || (routine->has("beta") && beta == T(1) && (alpha == T{} || (routine->has("k") && size.k == 0)));
  }
};

/// Prints everything that is needed to reproduce the call.
template <Scalar T>
std::ostream& operator<<(std::ostream& out, const Call<T>& call);

/// Runs `function`, which makes this call. The message of an exception is prefixed with the call.
template <Scalar T>
void run_as(const Call<T>& call, const std::function<void()>& function);

template <Scalar T>
void on_pointers(Call<T>& call);

template <Scalar T>
void on_host(Call<T>& call);

}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
// The routines on distributed matrices: the processes agree on the call, then each unrolls it on the tiles.
#include <complex>
#include <cstdio>
#include <string>

#include <tessera/blas3.hpp>
#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "blas/shapes.hpp"
#include "network.hpp"
#include "tile/tile_grid.hpp"

namespace tessera {

namespace detail {

namespace {

/// A call as text, for the agreement of the processes, and for the message if they disagree.
class CallText {
 public:
  CallText(char type, const char* routine) : text_(std::string(1, type) + routine + "(") {}

  template <typename Option>
  requires std::is_enum_v<Option>
  void add(Option option) { put(std::string(1, static_cast<char>(option))); }
  void add(double x) {
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.17g", x);
    put(digits);
  }
  void add(float x) { add(static_cast<double>(x)); }
  template <typename T>
  void add(const std::complex<T>& x) {
    add(x.real());
    text_ += "+";
    add(x.imag());
    text_ += "i";
  }
  template <Scalar T>
  void add(const DistributedMatrix<T>& A) {
    const auto& tiles = A.tiles();
    put(std::to_string(A.m()) + "x" + std::to_string(A.n()) + " in " + std::to_string(A.mb()) + "x" +
        std::to_string(A.nb()) + " at (" + std::to_string(MatrixAccess::first_row(tiles)) + "," +
        std::to_string(MatrixAccess::first_column(tiles)) + ") of matrix " +
        std::to_string(MatrixAccess::grid(tiles).share().number) + " " + static_cast<char>(A.op()));
  }
  std::string finished() const { return text_ + ")"; }

 private:
  void put(const std::string& word) {
    if (text_.back() != '(' && text_.back() != '+') text_ += ", ";
    text_ += word;
  }
  std::string text_;
};

template <Scalar T>
void prepare(const std::shared_ptr<Processes>& processes, const DistributedMatrix<T>& A) {
  const auto& grid = MatrixAccess::grid(A.tiles());
  if (grid.share().processes != processes) throw RuntimeError("matrices of different groups of processes in one call");
  const Index i0 = MatrixAccess::first_row(A.tiles()), j0 = MatrixAccess::first_column(A.tiles());
  const bool plain = A.op() == Op::NoTrans;
  // Copies that tasks of the program have sent may now become stale.
  for (Index j = j0; j < j0 + (plain ? A.nt() : A.mt()); j++)
    for (Index i = i0; i < i0 + (plain ? A.mt() : A.nt()); i++) processes->forget_copies(grid.handle(i, j));
}
template <typename Argument>
void prepare(const std::shared_ptr<Processes>& /*processes*/, const Argument& /*argument*/) {}

/// @param last  the output
template <Scalar T, typename... Arguments>
void agree(const char* routine, const DistributedMatrix<T>& output, const Arguments&... arguments) {
  CallText text(type_letter<T>, routine);
  (text.add(arguments), ...);
  const auto& processes = MatrixAccess::grid(output.tiles()).share().processes;
  dynamic_cast<Network&>(*processes).agree(text.finished());
  (prepare(processes, arguments), ...);
}

/// Converts an argument to what the routine on matrices takes.
template <Scalar T>
const Matrix<T>& tiles_of(const DistributedMatrix<T>& A) {
  return A.tiles();
}
template <typename Argument>
const Argument& tiles_of(const Argument& argument) {
  return argument;
}

template <typename First, typename... Rest>
const auto& last_of(const First& first, const Rest&... rest) {
  if constexpr (sizeof...(rest) == 0) return first;
  else return last_of(rest...);
}

}  // namespace

}  // namespace detail

#define PARAMETER_OPTION(Type, member, name, T, Alpha, Beta) Type name,
#define PARAMETER_SIZE(name, T, Alpha, Beta)
#define PARAMETER_FACTOR(Kind, name, T, Alpha, Beta) FACTOR_##Kind(Alpha, Beta) name,
#define PARAMETER_INPUT(name, ld, T, Alpha, Beta) const DistributedMatrix<T>&name,
#define PARAMETER_OUTPUT(name, ld, T, Alpha, Beta) const DistributedMatrix<T>& name
#define FACTOR_Alpha(Alpha, Beta) Alpha
#define FACTOR_Beta(Alpha, Beta) Beta
#define NAME_OPTION(Type, member, name, ...) name,
#define NAME_SIZE(name, ...)
#define NAME_FACTOR(Kind, name, ...) name,
#define NAME_INPUT(name, ld, ...) name,
#define NAME_OUTPUT(name, ld, ...) name
#define CONCEPT_SDCZ Scalar
#define CONCEPT_CZ ComplexScalar

#define ROUTINE(name, types, shape, Alpha, Beta)                          \
  template <CONCEPT_##types T>                                            \
  void name(SHAPE_##shape(PARAMETER, T, blas::Alpha<T>, blas::Beta<T>)) { \
    const auto call = [](const auto&... arguments) {                      \
      detail::agree(#name, detail::last_of(arguments...), arguments...);  \
      tessera::name<T>(detail::tiles_of(arguments)...);                   \
    };                                                                    \
    call(SHAPE_##shape(NAME));                                            \
  }                                                                       \
  FOR_##types(INSTANTIATE_DISTRIBUTED, name, shape, Alpha, Beta)
#define INSTANTIATE_DISTRIBUTED(letter, T, name, shape, Alpha, Beta) \
  template void name<T>(SHAPE_##shape(PARAMETER, T, blas::Alpha<T>, blas::Beta<T>));
#include "blas/routines.def"
#undef ROUTINE

template <Scalar T>
Info potrf(Uplo uplo, const DistributedMatrix<T>& A) {
  detail::agree("potrf", A, uplo, A);
  return potrf(uplo, A.tiles());
}
template <Scalar T>
void potrs(Uplo uplo, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  detail::agree("potrs", B, uplo, A, B);
  potrs(uplo, A.tiles(), B.tiles());
}
template <Scalar T>
Info getrf_nopiv(const DistributedMatrix<T>& A) {
  detail::agree("getrf_nopiv", A, A);
  return getrf_nopiv(A.tiles());
}
template <Scalar T>
void getrs_nopiv(Op op, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  detail::agree("getrs_nopiv", B, op, A, B);
  getrs_nopiv(op, A.tiles(), B.tiles());
}

#define INSTANTIATE_DISTRIBUTED_SOLVERS(letter, T, ...)                                   \
  template Info potrf<T>(Uplo, const DistributedMatrix<T>&);                              \
  template void potrs<T>(Uplo, const DistributedMatrix<T>&, const DistributedMatrix<T>&); \
  template Info getrf_nopiv<T>(const DistributedMatrix<T>&);                              \
  template void getrs_nopiv<T>(Op, const DistributedMatrix<T>&, const DistributedMatrix<T>&);
FOR_SDCZ(INSTANTIATE_DISTRIBUTED_SOLVERS, )

}  // namespace tessera

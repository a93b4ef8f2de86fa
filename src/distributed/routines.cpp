// SPDX-License-Identifier: BSD-3-Clause
// The routines on distributed matrices: the processes agree on the call, then each unrolls it on the tiles.
#include <complex>
#include <cstdio>
#include <string>
#include <tuple>

#include <tessera/blas3.hpp>
#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "algorithms/pivot_tiles.hpp"
#include "blas/shapes.hpp"
#include "in_panels.hpp"
#include "network.hpp"
#include "redistribution.hpp"
#include "routines/lu_panels.hpp"
#include "routines/solvable.hpp"
#include "tile/tile_grid.hpp"

namespace tessera {

namespace distributed {

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
        std::to_string(A.nb()) + " at (" + std::to_string(detail::MatrixAccess::first_row(tiles)) + "," +
        std::to_string(detail::MatrixAccess::first_column(tiles)) + ") of matrix " +
        std::to_string(detail::MatrixAccess::grid(tiles).share().number) + " " + static_cast<char>(A.op()));
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
void prepare(const std::shared_ptr<tile::Processes>& processes, const DistributedMatrix<T>& A) {
  const auto& grid = detail::MatrixAccess::grid(A.tiles());
  if (grid.share().processes != processes) throw RuntimeError("matrices of different groups of processes in one call");
  const Index i0 = detail::MatrixAccess::first_row(A.tiles()), j0 = detail::MatrixAccess::first_column(A.tiles());
  const bool plain = A.op() == Op::NoTrans;
  // Copies that tasks of the program have sent may now become stale.
  for (Index j = j0; j < j0 + (plain ? A.nt() : A.mt()); j++)
    for (Index i = i0; i < i0 + (plain ? A.mt() : A.nt()); i++) processes->forget_copies(grid.handle(i, j));
}
template <typename Argument>
void prepare(const std::shared_ptr<tile::Processes>& /*processes*/, const Argument& /*argument*/) {}

/// @param arguments  the last one is the output
template <Scalar T, typename... Arguments>
void agree(const char* routine, const Arguments&... arguments) {
  CallText text(type_letter<T>, routine);
  (text.add(arguments), ...);
  const DistributedMatrix<T>& output = std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
  const auto& processes = detail::MatrixAccess::grid(output.tiles()).share().processes;
  dynamic_cast<detail::Network&>(*processes).agree(text.finished());
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

/// Whether each column of A is in one process, in tiles that one task can access.
template <Scalar T>
bool has_whole_columns(const DistributedMatrix<T>& A) {
  const auto& share = detail::MatrixAccess::grid(A.tiles()).share();
  return (share.p == 1 || A.mt() <= 1) && A.mt() <= tile::most_tiles_of_panel;
}
/// Whether `getrf` factorizes A where it is.
template <Scalar T>
bool is_in_panels(const DistributedMatrix<T>& A) {
  return has_whole_columns(A) && (A.mt() <= 1 || A.mb() % A.nb() == 0);
}

/// Waits for A, and copies it.
template <Scalar T>
InPanels<T> in_panels(const DistributedMatrix<T>& A) {
  A.wait();
  return {A.grid(), A.m(), A.n(), dealt(A)};
}

template <Scalar T>
Pivoted factorize_distributed(const DistributedMatrix<T>& A) {
  if (is_in_panels(A) || A.op() != Op::NoTrans) return getrf(A.tiles());
  const auto panels = in_panels(A);
  auto result = getrf(panels.matrix().tiles());
  panels.copy_back();
  return result;
}

/// @param incx  see `laswp`
template <Scalar T>
void exchange_distributed(const DistributedMatrix<T>& B, const Pivots& pivots, Index incx) {
  if (has_whole_columns(B)) return laswp(B.tiles(), pivots, incx);
  const auto columns = in_panels(B);
  laswp(columns.matrix().tiles(), pivots, incx);
  columns.copy_back();
}

/// Whether A, in panels of a given width, can solve for B without copying either.
template <Scalar T>
bool solves_in_place(const DistributedMatrix<T>& A, Index panel, const DistributedMatrix<T>& B) {
  const bool same_rows = A.m() == B.m() && A.mt() == B.mt() && (A.mt() <= 1 || A.mb() == B.mb());
  return is_in_panels(A) && has_whole_columns(B) && same_rows && (panel == A.nb() || A.n() == 0);
}

/// Checks the operands of all other solves, which need square tiles of A.
/// @param at_a  position of A for messages
template <Scalar T>
void require_solvable_elsewhere(const char* routine, int at_a, Op op, const DistributedMatrix<T>& A, int at_b,
                                const DistributedMatrix<T>& B) {
  routines::require_stored({routine, at_a, "A"}, A.tiles());
  routines::require_stored({routine, at_b, "B"}, B.tiles());
  routines::require_solvable(routine, at_a, op, A.tiles(), at_b, B.tiles());
}

template <Scalar T>
void solve_elsewhere(Op op, const DistributedMatrix<T>& A, const Pivots& pivots, const DistributedMatrix<T>& B) {
  if (op == Op::NoTrans) exchange_distributed(B, pivots, 1);
  getrs_nopiv(op, A.tiles(), B.tiles());
  if (op != Op::NoTrans) exchange_distributed(B, pivots, -1);
}

}  // namespace

}  // namespace distributed

#define NAME_OPTION(Type, member, name, ...) name,
#define NAME_SIZE(name, ...)
#define NAME_FACTOR(Kind, name, ...) name,
#define NAME_INPUT(name, ld, ...) name,
#define NAME_OUTPUT(name, ld, ...) name

#define ROUTINE(name, types, shape, Alpha, Beta)                                            \
  template <CONCEPT_##types T>                                                              \
  void name(SHAPE_##shape(MATRICES, DistributedMatrix, T, blas::Alpha<T>, blas::Beta<T>)) { \
    const auto call = [](const auto&... arguments) {                                        \
      distributed::agree<T>(#name, arguments...);                                           \
      tessera::name<T>(distributed::tiles_of(arguments)...);                                \
    };                                                                                      \
    call(SHAPE_##shape(NAME));                                                              \
  }                                                                                         \
  FOR_##types(INSTANTIATE_DISTRIBUTED, name, shape, Alpha, Beta)
#define INSTANTIATE_DISTRIBUTED(letter, T, name, shape, Alpha, Beta) \
  template void name<T>(SHAPE_##shape(MATRICES, DistributedMatrix, T, blas::Alpha<T>, blas::Beta<T>));
#include "blas/routines.def"
#undef ROUTINE

template <Scalar T>
Info potrf(Uplo uplo, const DistributedMatrix<T>& A) {
  distributed::agree<T>("potrf", uplo, A);
  return potrf(uplo, A.tiles());
}
template <Scalar T>
void potrs(Uplo uplo, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  distributed::agree<T>("potrs", uplo, A, B);
  potrs(uplo, A.tiles(), B.tiles());
}
template <Scalar T>
Info getrf_nopiv(const DistributedMatrix<T>& A) {
  distributed::agree<T>("getrf_nopiv", A);
  return getrf_nopiv(A.tiles());
}
template <Scalar T>
void getrs_nopiv(Op op, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  distributed::agree<T>("getrs_nopiv", op, A, B);
  getrs_nopiv(op, A.tiles(), B.tiles());
}

template <Scalar T>
Pivoted getrf(const DistributedMatrix<T>& A) {
  distributed::agree<T>("getrf", A);
  return distributed::factorize_distributed(A);
}
template <Scalar T>
void getrs(Op op, const DistributedMatrix<T>& A, const Pivots& pivots, const DistributedMatrix<T>& B) {
  distributed::agree<T>("getrs", op, A, B);
  const auto& of_a = detail::PivotsAccess::tiles(pivots);
  if (of_a.panels() > 0 && !of_a.belong_to(detail::MatrixAccess::grid(A.tiles()).share().processes))
    throw ArgumentError("getrs", 3, "pivots", "are of a matrix that is not distributed over the grid of A");
  if (distributed::solves_in_place(A, of_a.panel(), B)) return getrs(op, A.tiles(), pivots, B.tiles());
  blas::arguments::require_legal("getrs", blas::arguments::illegal_op(1, "op", op));
  distributed::require_solvable_elsewhere("getrs", 2, op, A, 4, B);
  if (of_a.rows() != A.m() || of_a.columns() != A.n())
    throw ShapeError("getrs", 3, "pivots", "belong to a matrix of another size");
  distributed::solve_elsewhere(op, A, pivots, B);
}
template <Scalar T>
Pivoted gesv(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  distributed::agree<T>("gesv", A, B);
  if (distributed::solves_in_place(A, A.nb(), B)) return gesv(A.tiles(), B.tiles());
  distributed::require_solvable_elsewhere("gesv", 1, Op::NoTrans, A, 2, B);
  auto result = distributed::factorize_distributed(A);
  distributed::solve_elsewhere(Op::NoTrans, A, result.pivots, B);
  return result;
}

#define INSTANTIATE_DISTRIBUTED_SOLVERS(letter, T, ...)                                                \
  template Info potrf<T>(Uplo, const DistributedMatrix<T>&);                                           \
  template void potrs<T>(Uplo, const DistributedMatrix<T>&, const DistributedMatrix<T>&);              \
  template Info getrf_nopiv<T>(const DistributedMatrix<T>&);                                           \
  template void getrs_nopiv<T>(Op, const DistributedMatrix<T>&, const DistributedMatrix<T>&);          \
  template Pivoted getrf<T>(const DistributedMatrix<T>&);                                              \
  template void getrs<T>(Op, const DistributedMatrix<T>&, const Pivots&, const DistributedMatrix<T>&); \
  template Pivoted gesv<T>(const DistributedMatrix<T>&, const DistributedMatrix<T>&);
FOR_SDCZ(INSTANTIATE_DISTRIBUTED_SOLVERS, )

}  // namespace tessera

// SPDX-License-Identifier: BSD-3-Clause
// Routines with the argument lists of ScaLAPACK, on its arrays: tessera_pdgemm_ and the others of
// <tessera/distributed.h>.
#include <tessera/distributed.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "agreement.hpp"
#include "algorithms/pivot_tiles.hpp"
#include "blacs_grids.hpp"
#include "blas/call.hpp"
#include "descriptor.hpp"
#include "in_panels.hpp"
#include "network.hpp"
#include "redistribution.hpp"

namespace tessera {

namespace {

/// As in ScaLAPACK, an illegal call ends the program. An exception must not escape from a C function, nor from a scope
/// that holds matrices, because other processes use their tiles.
/// @param what  the routine, or the routine and its operand
/// @return      the result of `function`
template <typename Function>
auto guarded(const std::string& what, Function function) {
  try {
    return function();
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) distributed::wait_for_a_better_message();  // mostly all have the same error: one message is enough
    distributed::end_all_processes("tessera_" + what + ": " + error.what());
  }
}

/// The part of a matrix that a routine works on, as in ScaLAPACK's argument list.
template <Scalar T>
struct Part {
  const char* name;
  T* data;
  const int *i, *j, *desc;
  int m, n;
};

/// The part m×n of an operand. Inputs are only read.
template <Scalar T>
Part<T> part(const char* name, const void* data, const int* i, const int* j, const int* desc, Index m, Index n) {
  return {name, static_cast<T*>(const_cast<void*>(data)), i, j, desc, static_cast<int>(m), static_cast<int>(n)};
}
template <Scalar T>
using Parts = std::span<const Part<T>>;

using namespace distributed::field;

/// The grid of the operands of a call.
template <Scalar T>
const Grid& grid_of(Parts<T> operands) {
  auto& grids = distributed::BlacsGrids::of_process();
  const int context = operands.front().desc[Context];
  const auto& grid = grids.of(context);
  for (const auto& x : operands.subspan(1))
    if (const int other = x.desc[Context]; other != context && &grids.of(other) != &grid)
      throw RuntimeError("the operands are on different grids: their BLACS contexts are " + std::to_string(other) +
                         " and " + std::to_string(context));
  return grid;
}

template <typename Option>
Option option(const char* letter) {
  return static_cast<Option>(std::toupper(static_cast<unsigned char>(*letter)));
}

/// Whether the elements [first, first + count) consist of whole blocks.
constexpr bool is_aligned(Index first, Index count, Index block, Index whole) {
  return first % block == 0 && ((first + count) % block == 0 || first + count == whole);
}
template <Scalar T>
bool is_aligned(const Part<T>& x) {
  if (x.desc[M] == 0 || x.desc[N] == 0) return false;  // there are no tiles of which it could be a view
  return is_aligned(*x.i - 1, x.m, x.desc[Mb], x.desc[M]) && is_aligned(*x.j - 1, x.n, x.desc[Nb], x.desc[N]);
}

/// @throws ArgumentError, RuntimeError if the descriptor is illegal, or the matrix does not contain the part
template <Scalar T>
void require_legal(const Grid& grid, const Part<T>& x) {
  distributed::require_descriptor(grid, x.data, x.desc);
  const auto require_inside = [](const char* what, Index first, Index count, Index whole) {
    if (count < 0 || first < 0 || first + count > whole)
      throw RuntimeError("the part of " + std::to_string(count) + " " + what + " from " + std::to_string(first + 1) +
                         " is not inside a matrix of " + std::to_string(whole) + " " + what);
  };
  require_inside("rows", Index{*x.i} - 1, x.m, x.desc[M]);
  require_inside("columns", Index{*x.j} - 1, x.n, x.desc[N]);
}

/// Announces a call. Its collective steps on arrays would otherwise wait for processes that make another call.
template <Scalar T>
void agree(const std::string& name, const Grid& grid, Parts<T> operands) {
  auto text = "tessera_" + name;
  for (const auto& x : operands)
    text += std::string(", ") + x.name + " " + std::to_string(x.m) + "x" + std::to_string(x.n) + " at (" +
            std::to_string(*x.i) + "," + std::to_string(*x.j) + ")";
  detail::GridAccess::network(grid).agree(text);
}

/// Blocks shorter than this are put together, if there are many of them.
Index shortest_block() { return gpu_count() > 0 ? 512 : 128; }

/// Whether the blocks of an operand are too short for tiles.
template <Scalar T>
bool has_many_short_blocks(const Part<T>& x) {
  constexpr Index many = 8;
  const Index block = std::min(x.desc[Mb], x.desc[Nb]);
  return block < shortest_block() && std::max(x.m, x.n) > many * block;
}

/// The order of the tiles to which all operands of a call are copied. Empty if their blocks can be used as tiles, in
/// place: the blocks are equal, square and not too short, and all parts consist of whole blocks.
template <Scalar T>
std::optional<Index> tile_of_copies(const std::string& routine, const Grid& grid, Parts<T> operands) {
  bool in_place = true;
  Index largest = 0;
  const int block = operands.front().desc[Mb];
  for (const auto& x : operands) {
    guarded(routine + ": " + x.name, [&] { require_legal(grid, x); });
    in_place = in_place && is_aligned(x) && !has_many_short_blocks(x) && x.desc[Mb] == block && x.desc[Nb] == block;
    largest = std::max<Index>({largest, x.m, x.n});
  }
  if (in_place) return {};
  constexpr Index tiles_of_process = 4, multiple = 32;
  const Index wanted = tile::divide_up(largest, tiles_of_process * std::max(grid.p(), grid.q()));
  return std::clamp<Index>(tile::divide_up(wanted, multiple) * multiple, 64, gpu_count() > 0 ? 2048 : 256);
}

/// The elements of this process in a part.
template <Scalar T>
distributed::DealtMatrix<T> dealt(const Grid& grid, const Part<T>& x) {
  return {{x.desc[Mb], grid.p(), x.desc[FirstRow], Index{*x.i} - 1},
          {x.desc[Nb], grid.q(), x.desc[FirstColumn], Index{*x.j} - 1},
          detail::GridAccess::ranks(grid),
          x.data,
          x.desc[Lld]};
}

enum class Use { Reads, Changes, Overwrites };

/// An operand of a call as a matrix: in place, or a copy.
template <Scalar T>
class Operand {
 public:
  /// @param tile  of a copy; empty: in place
  Operand(const Grid& grid, const Part<T>& x, std::optional<Index> tile, Use use)
      : comm_(detail::GridAccess::network(grid).comm_of_values()), use_(use), given_(dealt(grid, x)),
        is_copy_(tile.has_value()), matrix_(is_copy_ ? copy(grid, x, *tile) : view(grid, x)) {
    if (is_copy_ && use != Use::Overwrites) distributed::redistribute(comm_, x.m, x.n, given_, dealt(matrix_));
  }

  const DistributedMatrix<T>& matrix() const noexcept { return matrix_; }
  /// Waits for the result, and copies it to the program's array if it is not there.
  void finish() const {
    matrix_.wait();
    if (is_copy_ && use_ != Use::Reads)
      distributed::redistribute(comm_, matrix_.m(), matrix_.n(), dealt(matrix_), given_);
  }

 private:
  static auto dealt(const Grid& grid, const Part<T>& x) { return tessera::dealt(grid, x); }
  static auto dealt(const DistributedMatrix<T>& A) { return distributed::dealt(A); }
  static DistributedMatrix<T> copy(const Grid& grid, const Part<T>& x, Index tile) {
    return {grid, x.m, x.n, {tile, tile}};
  }
  static DistributedMatrix<T> view(const Grid& grid, const Part<T>& x) {
    const DistributedMatrix<T> whole(grid, x.data, x.desc);
    const auto tiles = [](Index first, Index count, Index block) {
      return std::pair{first / block, count == 0 ? first / block : (first + count - 1) / block + 1};
    };
    const auto [i0, i1] = tiles(*x.i - 1, x.m, x.desc[Mb]);
    const auto [j0, j1] = tiles(*x.j - 1, x.n, x.desc[Nb]);
    return whole.view(i0, i1, j0, j1);
  }

  MPI_Comm comm_;
  Use use_;
  distributed::DealtMatrix<T> given_;
  bool is_copy_;
  DistributedMatrix<T> matrix_;
};

template <Scalar T>
std::string name_of(const char* routine) {
  return std::string("p") + type_letter<T> + routine;
}

/// Calls compute(operands) on the operands of a call. The result is the last of `parts`, and the first of `operands`.
/// @param use  of the result
template <Scalar T, typename Compute>
void call(const char* routine, Use use, std::vector<Part<T>> given, const Compute& compute) {
  const auto name = name_of<T>(routine);
  std::ranges::rotate(given, given.end() - 1);
  const Parts<T> parts = given;
  guarded(name, [&] {
    const auto& grid = grid_of(parts);
    const auto tile = tile_of_copies(name, grid, parts);
    agree(name, grid, parts);
    std::vector<Operand<T>> operands;
    for (const auto& x : parts)
      guarded(name + ": " + x.name, [&] { operands.emplace_back(grid, x, tile, operands.empty() ? use : Use::Reads); });
    guarded(name, [&] {
      compute(operands);
      operands.front().finish();
    });
  });
}

// --- LU with partial pivoting ----------------------------------------------------------------------------------------

/// The pivots of all rows of A from those of this process's rows.
/// @throws RuntimeError if one is not a row of A below
template <Scalar T>
std::vector<Index> all_pivots(const Grid& grid, const Part<T>& A, const int* ipiv) {
  const auto rows = dealt(grid, A).rows;
  std::vector<int> pivots(static_cast<std::size_t>(A.m));
  for (Index i = 0; i < A.m; i++)
    if (rows.process(i) == grid.row()) pivots[static_cast<std::size_t>(i)] = ipiv[rows.place(i)];
  MPI_Allreduce(MPI_IN_PLACE, pivots.data(), A.m, MPI_INT, MPI_MAX, detail::GridAccess::network(grid).comm_of_values());
  std::vector<Index> result;
  for (Index i = 0; i < A.m; i++) {
    const Index pivot = Index{pivots[static_cast<std::size_t>(i)]} - (*A.i - 1);
    if (pivot <= i || pivot > A.m)
      throw RuntimeError("IPIV: the pivot of row " + std::to_string(*A.i + i) + " is " +
                         std::to_string(pivot + *A.i - 1) + ", which is not a row from there on");
    result.push_back(pivot);
  }
  return result;
}

template <Scalar T>
int factorize(const std::string& name, const Grid& grid, const Part<T>& A, int* ipiv) {
  guarded(name + ": A", [&] { require_legal(grid, A); });
  agree<T>(name, grid, std::array{A});
  Pivoted result = [&] {
    const bool are_panels = grid.p() == 1 && A.desc[Mb] % A.desc[Nb] == 0;
    if (are_panels && is_aligned(A) && !has_many_short_blocks(A)) {
      const Operand<T> in_place(grid, A, {}, Use::Changes);
      return guarded(name, [&] {
        auto pivoted = getrf(in_place.matrix());
        in_place.finish();
        return pivoted;
      });
    }
    const distributed::InPanels<T> panels(grid, A.m, A.n, dealt(grid, A));
    return guarded(name, [&] {
      auto pivoted = getrf(panels.matrix());
      panels.copy_back();
      return pivoted;
    });
  }();
  const auto pivots = result.pivots.wait();
  const auto rows = dealt(grid, A).rows;
  for (std::size_t i = 0; i < pivots.size(); i++)
    if (const auto row = static_cast<Index>(i); rows.process(row) == grid.row())
      ipiv[rows.place(row)] = static_cast<int>(pivots[i] + *A.i - 1);
  return static_cast<int>(result.info.wait());
}

template <Scalar T>
void solve(const std::string& name, const Grid& grid, Op op, const Part<T>& A, const int* ipiv, const Part<T>& B) {
  const std::array both{A, B};
  const auto tile = tile_of_copies<T>(name, grid, both);
  agree<T>(name, grid, both);
  auto pivots = guarded(name, [&] { return all_pivots(grid, A, ipiv); });
  const Operand<T> a(grid, A, tile, Use::Reads), b(grid, B, tile, Use::Changes);
  guarded(name, [&] {
    const auto& of_a = detail::MatrixAccess::grid(a.matrix().tiles());
    const auto tiles = std::make_shared<detail::PivotTiles>(of_a.shared_session(), A.m, A.n, a.matrix().nb());
    tiles->keep_everywhere(of_a.share().processes);
    tiles->set(pivots);
    getrs(op, a.matrix(), detail::PivotsAccess::pivots(tiles), b.matrix());
    b.finish();
  });
}

// --- the argument lists ----------------------------------------------------------------------------------------------

/// Types of <tessera/distributed.h>: of elements, and of factors by their kind in routines.def.
namespace in_c {
template <Scalar T>
using Element = std::conditional_t<is_complex<T>, void, T>;
template <Scalar T>
using Full = Element<T>;
using tessera::Real;
template <Scalar T>
using None = Element<T>;
}  // namespace in_c
using in_c::Element;

}  // namespace

// The routines of the BLAS, by their shapes.
#define DECLARE_OPTION(Type, member, name, ...) const char *name,
#define DECLARE_SIZE(name, ...) const int *name,
#define DECLARE_FACTOR(Kind, name, T, Alpha, Beta) const FACTOR_##Kind(Alpha, Beta) * name,
#define DECLARE_INPUT(name, ld, T, ...) const Element<T>*name, PLACE(name),
#define DECLARE_OUTPUT(name, ld, T, ...) Element<T>*name, PLACE(name)
#define PLACE(name) const int *i##name, const int *j##name, const int *desc##name
#define SET_OPTION(Type, member, name, ...) call.member = option<Type>(name);
#define SET_SIZE(name, ...) call.name = *name;
#define SET_FACTOR(Kind, name, ...) call.name = name;
#define SET_INPUT(...)
#define SET_OUTPUT(...)
#define PART_OPTION(...)
#define PART_SIZE(...)
#define PART_FACTOR(...)
#define PART_INPUT(name, ld, T, ...) \
  part<T>(#name, name, i##name, j##name, desc##name, stored[AT_##name].m, stored[AT_##name].n),
#define PART_OUTPUT(name, ld, T, ...) part<T>(#name, name, i##name, j##name, desc##name, stored[2].m, stored[2].n)
#define GIVE_OPTION(Type, member, name, ...) option<Type>(name),
#define GIVE_SIZE(name, ...)
#define GIVE_FACTOR(Kind, name, T, Alpha, Beta) *static_cast<const FACTOR_##Kind(Alpha, Beta)*>(name),
#define GIVE_INPUT(name, ld, ...) operands[1 + AT_##name].matrix(),
#define GIVE_OUTPUT(name, ld, ...) operands.front().matrix()
#define AT_A 0
#define AT_B 1
// Of a triangle, the other one stays.
#define DEFINE_BLAS(letter, T, base, shape, Alpha, Beta)                                                          \
  void tessera_p##letter##base##_(SHAPE_##shape(DECLARE, T, in_c::Alpha<T>, in_c::Beta<T>)) {                     \
    blas::Call call{.routine = blas::Routine::base, .type = type_letter<T>};                                      \
    SHAPE_##shape(SET);                                                                                           \
    const auto stored = matrices(call);                                                                           \
    const auto use = call.has_triangle() || reads_result(call) ? Use::Changes : Use::Overwrites;                  \
    tessera::call<T>(#base, use, {SHAPE_##shape(PART, T)},                                                        \
                     [&](const auto& operands) { base(SHAPE_##shape(GIVE, T, blas::Alpha<T>, blas::Beta<T>)); }); \
  }
// The routines of LAPACK.
#define DEFINE_LAPACK(letter, T, ...)                                                                             \
  void tessera_p##letter##potrf_(const char* uplo, const int* n, Element<T>* A, PLACE(A), int* info) {            \
    call<T>("potrf", Use::Changes, {part<T>("A", A, iA, jA, descA, *n, *n)}, [&](const auto& operands) {          \
      const auto& matrix = operands.front().matrix();                                                             \
      const Info result = potrf(option<Uplo>(uplo), matrix);                                                      \
      matrix.wait();                                                                                              \
      *info = static_cast<int>(result.wait());                                                                    \
    });                                                                                                           \
  }                                                                                                               \
  void tessera_p##letter##getrf_(const int* m, const int* n, Element<T>* A, PLACE(A), int* ipiv, int* info) {     \
    const auto name = name_of<T>("getrf");                                                                        \
    const auto a = part<T>("A", A, iA, jA, descA, *m, *n);                                                        \
    *info = guarded(name, [&] { return factorize(name, grid_of<T>(std::array{a}), a, ipiv); });                   \
  }                                                                                                               \
  void tessera_p##letter##getrs_(const char* trans, const int* n, const int* nrhs, const Element<T>* A, PLACE(A), \
                                 const int* ipiv, Element<T>* B, PLACE(B), int* info) {                           \
    const auto name = name_of<T>("getrs");                                                                        \
    const auto a = part<T>("A", A, iA, jA, descA, *n, *n), b = part<T>("B", B, iB, jB, descB, *n, *nrhs);         \
    guarded(name, [&] { solve(name, grid_of<T>(std::array{b, a}), option<Op>(trans), a, ipiv, b); });             \
    *info = 0;                                                                                                    \
  }                                                                                                               \
  void tessera_p##letter##gesv_(const int* n, const int* nrhs, Element<T>* A, PLACE(A), int* ipiv, Element<T>* B, \
                                PLACE(B), int* info) {                                                            \
    const auto name = name_of<T>("gesv");                                                                         \
    const auto a = part<T>("A", A, iA, jA, descA, *n, *n), b = part<T>("B", B, iB, jB, descB, *n, *nrhs);         \
    *info = guarded(name, [&] {                                                                                   \
      const auto& grid = grid_of<T>(std::array{b, a});                                                            \
      guarded(name + ": B", [&] { require_legal(grid, b); });                                                     \
      const int zero = factorize(name, grid, a, ipiv);                                                            \
      if (zero == 0) solve(name, grid, Op::NoTrans, a, ipiv, b);                                                  \
      return zero;                                                                                                \
    });                                                                                                           \
  }

extern "C" {
FOR_SDCZ(DEFINE_BLAS, gemm, product, Full, Full)
FOR_SDCZ(DEFINE_BLAS, symm, symmetric, Full, Full)
FOR_CZ(DEFINE_BLAS, hemm, symmetric, Full, Full)
FOR_SDCZ(DEFINE_BLAS, syrk, rank_k, Full, Full)
FOR_CZ(DEFINE_BLAS, herk, rank_k, Real, Real)
FOR_SDCZ(DEFINE_BLAS, trmm, triangular, Full, None)
FOR_SDCZ(DEFINE_BLAS, trsm, triangular, Full, None)
FOR_SDCZ(DEFINE_LAPACK, )
}

}  // namespace tessera

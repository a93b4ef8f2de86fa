// SPDX-License-Identifier: BSD-3-Clause
// Routines with the argument lists of ScaLAPACK, on its arrays: tessera_pdgemm_ and the others of
// <tessera/distributed.h>.
#include <tessera/distributed.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <complex>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "agreement.hpp"
#include "algorithms/pivot_tiles.hpp"
#include "blacs_grids.hpp"
#include "blas/shapes.hpp"
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
    if (rank != 0) detail::wait_for_a_better_message();  // mostly all have the same error: one message is enough
    detail::end_all_processes("tessera_" + what + ": " + error.what());
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
Part<T> part(const char* name, const void* data, const int* i, const int* j, const int* desc, int m, int n) {
  return {name, static_cast<T*>(const_cast<void*>(data)), i, j, desc, m, n};
}

using namespace detail::field;

/// The grid of the operands of a call.
template <typename... Others>
const Grid& grid_of(const int* desc, const Others*... others) {
  auto& grids = detail::BlacsGrids::of_process();
  const int context = desc[Context];
  const auto& grid = grids.of(context);
  [[maybe_unused]] const auto require = [&](const int* other) {
    if (other[Context] != context && &grids.of(other[Context]) != &grid)
      throw RuntimeError("the operands are on different grids: their BLACS contexts are " +
                         std::to_string(other[Context]) + " and " + std::to_string(context));
  };
  (require(others), ...);
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
  return is_aligned(*x.i - 1, x.m, x.desc[Mb], x.desc[M]) && is_aligned(*x.j - 1, x.n, x.desc[Nb], x.desc[N]);
}

/// @throws ArgumentError, RuntimeError if the descriptor is illegal, or the matrix does not contain the part
template <Scalar T>
void require_legal(const Grid& grid, const Part<T>& x) {
  detail::require_descriptor(grid, x.data, x.desc);
  const auto require_inside = [](const char* what, Index first, Index count, Index whole) {
    if (count < 0 || first < 0 || first + count > whole)
      throw RuntimeError("the part of " + std::to_string(count) + " " + what + " from " + std::to_string(first + 1) +
                         " is not inside a matrix of " + std::to_string(whole) + " " + what);
  };
  require_inside("rows", Index{*x.i} - 1, x.m, x.desc[M]);
  require_inside("columns", Index{*x.j} - 1, x.n, x.desc[N]);
}

/// Announces a call. Its collective steps on arrays would otherwise wait for processes that make another call.
template <typename... Parts>
void agree(const std::string& name, const Grid& grid, const Parts&... parts) {
  auto text = "tessera_" + name;
  const auto add = [&](const auto& x) {
    text += std::string(", ") + x.name + " " + std::to_string(x.m) + "x" + std::to_string(x.n) + " at (" +
            std::to_string(*x.i) + "," + std::to_string(*x.j) + ")";
  };
  (add(parts), ...);
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
std::optional<Index> tile_of_copies(const std::string& routine, const Grid& grid,
                                    std::initializer_list<Part<T>> operands) {
  bool in_place = true;
  Index largest = 0;
  const int block = operands.begin()->desc[Mb];
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
detail::DealtMatrix<T> dealt(const Grid& grid, const Part<T>& x) {
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
    if (is_copy_ && use != Use::Overwrites) detail::redistribute(comm_, x.m, x.n, given_, dealt(matrix_));
  }

  const DistributedMatrix<T>& matrix() const noexcept { return matrix_; }
  /// Waits for the result, and copies it to the program's array if it is not there.
  void finish() const {
    matrix_.wait();
    if (is_copy_ && use_ != Use::Reads) detail::redistribute(comm_, matrix_.m(), matrix_.n(), dealt(matrix_), given_);
  }

 private:
  static auto dealt(const Grid& grid, const Part<T>& x) { return tessera::dealt(grid, x); }
  static auto dealt(const DistributedMatrix<T>& A) { return detail::dealt(A); }
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
  detail::DealtMatrix<T> given_;
  bool is_copy_;
  DistributedMatrix<T> matrix_;
};

template <Scalar T>
std::string name_of(const char* routine) {
  return std::string("p") + type_letter<T> + routine;
}

/// Calls compute(matrices...) on the operands of a call, of which the first one is the result.
/// @param use  of the result
template <Scalar T, typename Compute, typename... Inputs>
void call(const char* routine, Use use, const Compute& compute, const Part<T>& result, const Inputs&... inputs) {
  const auto name = name_of<T>(routine);
  guarded(name, [&] {
    const auto& grid = grid_of(result.desc, inputs.desc...);
    const auto tile = tile_of_copies<T>(name, grid, {result, inputs...});
    agree(name, grid, result, inputs...);
    const auto operand = [&](const Part<T>& x, Use its) {
      return guarded(name + ": " + x.name, [&] { return Operand<T>(grid, x, tile, its); });
    };
    const std::array<Operand<T>, 1 + sizeof...(inputs)> all{operand(result, use), operand(inputs, Use::Reads)...};
    guarded(name, [&] {
      std::apply([&](const auto&... operands) { compute(operands.matrix()...); }, all);
      all.front().finish();
    });
  });
}

/// How a result is used: C ← … + β C does not read C if β = 0.
template <Scalar T>
Use use_of(const T& beta) {
  return beta == T{} ? Use::Overwrites : Use::Changes;
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
  agree(name, grid, A);
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
    const detail::InPanels<T> panels(grid, A.m, A.n, dealt(grid, A));
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
  const auto tile = tile_of_copies<T>(name, grid, {A, B});
  agree(name, grid, A, B);
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

template <Scalar T>
const T& number(const void* value) {
  return *static_cast<const T*>(value);
}
bool transposes(const char* letter) { return option<Op>(letter) != Op::NoTrans; }
bool is_left(const char* side) { return option<Side>(side) == Side::Left; }

}  // namespace

}  // namespace tessera

using namespace tessera;

// Each routine for one type: p is its letter in names, N the type of numbers in <tessera/distributed.h>, T the C++
// type.
#define DEFINE_SCALAPACK(p, N, T)                                                                                     \
  void tessera_p##p##gemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,          \
                           const N* alpha, const N* a, const int* ia, const int* ja, const int* desca, const N* b,    \
                           const int* ib, const int* jb, const int* descb, const N* beta, N* c, const int* ic,        \
                           const int* jc, const int* descc) {                                                         \
    const bool ta = transposes(transa), tb = transposes(transb);                                                      \
    call<T>(                                                                                                          \
        "gemm", use_of(number<T>(beta)),                                                                              \
        [&](const auto& C, const auto& A, const auto& B) {                                                            \
          gemm(option<Op>(transa), option<Op>(transb), number<T>(alpha), A, B, number<T>(beta), C);                   \
        },                                                                                                            \
        part<T>("C", c, ic, jc, descc, *m, *n), part<T>("A", a, ia, ja, desca, ta ? *k : *m, ta ? *m : *k),           \
        part<T>("B", b, ib, jb, descb, tb ? *n : *k, tb ? *k : *n));                                                  \
  }                                                                                                                   \
  DEFINE_SYMMETRIC_PRODUCT(symm, p, N, T)                                                                             \
  DEFINE_RANK_K(syrk, p, N, T, N, T)                                                                                  \
  DEFINE_TRIANGULAR(trmm, p, N, T)                                                                                    \
  DEFINE_TRIANGULAR(trsm, p, N, T)                                                                                    \
  void tessera_p##p##potrf_(const char* uplo, const int* n, N* a, const int* ia, const int* ja, const int* desca,     \
                            int* info) {                                                                              \
    call<T>(                                                                                                          \
        "potrf", Use::Changes,                                                                                        \
        [&](const auto& A) {                                                                                          \
          const Info result = potrf(option<Uplo>(uplo), A);                                                           \
          A.wait();                                                                                                   \
          *info = static_cast<int>(result.wait());                                                                    \
        },                                                                                                            \
        part<T>("A", a, ia, ja, desca, *n, *n));                                                                      \
  }                                                                                                                   \
  void tessera_p##p##getrf_(const int* m, const int* n, N* a, const int* ia, const int* ja, const int* desca,         \
                            int* ipiv, int* info) {                                                                   \
    const auto name = name_of<T>("getrf");                                                                            \
    *info =                                                                                                           \
        guarded(name, [&] { return factorize(name, grid_of(desca), part<T>("A", a, ia, ja, desca, *m, *n), ipiv); }); \
  }                                                                                                                   \
  void tessera_p##p##getrs_(const char* trans, const int* n, const int* nrhs, const N* a, const int* ia,              \
                            const int* ja, const int* desca, const int* ipiv, N* b, const int* ib, const int* jb,     \
                            const int* descb, int* info) {                                                            \
    const auto name = name_of<T>("getrs");                                                                            \
    guarded(name, [&] {                                                                                               \
      solve(name, grid_of(descb, desca), option<Op>(trans), part<T>("A", a, ia, ja, desca, *n, *n), ipiv,             \
            part<T>("B", b, ib, jb, descb, *n, *nrhs));                                                               \
    });                                                                                                               \
    *info = 0;                                                                                                        \
  }                                                                                                                   \
  void tessera_p##p##gesv_(const int* n, const int* nrhs, N* a, const int* ia, const int* ja, const int* desca,       \
                           int* ipiv, N* b, const int* ib, const int* jb, const int* descb, int* info) {              \
    const auto name = name_of<T>("gesv");                                                                             \
    *info = guarded(name, [&] {                                                                                       \
      const auto& grid = grid_of(descb, desca);                                                                       \
      const auto A = part<T>("A", a, ia, ja, desca, *n, *n), B = part<T>("B", b, ib, jb, descb, *n, *nrhs);           \
      guarded(name + ": B", [&] { require_legal(grid, B); });                                                         \
      const int zero = factorize(name, grid, A, ipiv);                                                                \
      if (zero == 0) solve(name, grid, Op::NoTrans, A, ipiv, B);                                                      \
      return zero;                                                                                                    \
    });                                                                                                               \
  }

#define DEFINE_SYMMETRIC_PRODUCT(name, p, N, T)                                                                     \
  void tessera_p##p##name##_(const char* side, const char* uplo, const int* m, const int* n, const N* alpha,        \
                             const N* a, const int* ia, const int* ja, const int* desca, const N* b, const int* ib, \
                             const int* jb, const int* descb, const N* beta, N* c, const int* ic, const int* jc,    \
                             const int* descc) {                                                                    \
    const int order = is_left(side) ? *m : *n;                                                                      \
    call<T>(                                                                                                        \
        #name, use_of(number<T>(beta)),                                                                             \
        [&](const auto& C, const auto& A, const auto& B) {                                                          \
          name(option<Side>(side), option<Uplo>(uplo), number<T>(alpha), A, B, number<T>(beta), C);                 \
        },                                                                                                          \
        part<T>("C", c, ic, jc, descc, *m, *n), part<T>("A", a, ia, ja, desca, order, order),                       \
        part<T>("B", b, ib, jb, descb, *m, *n));                                                                    \
  }
// Of C, the other triangle stays.
#define DEFINE_RANK_K(name, p, N, T, NF, F)                                                                    \
  void tessera_p##p##name##_(const char* uplo, const char* trans, const int* n, const int* k, const NF* alpha, \
                             const N* a, const int* ia, const int* ja, const int* desca, const NF* beta, N* c, \
                             const int* ic, const int* jc, const int* descc) {                                 \
    const bool t = transposes(trans);                                                                          \
    call<T>(                                                                                                   \
        #name, Use::Changes,                                                                                   \
        [&](const auto& C, const auto& A) {                                                                    \
          name(option<Uplo>(uplo), option<Op>(trans), number<F>(alpha), A, number<F>(beta), C);                \
        },                                                                                                     \
        part<T>("C", c, ic, jc, descc, *n, *n), part<T>("A", a, ia, ja, desca, t ? *k : *n, t ? *n : *k));     \
  }
#define DEFINE_TRIANGULAR(name, p, N, T)                                                                               \
  void tessera_p##p##name##_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,   \
                             const int* n, const N* alpha, const N* a, const int* ia, const int* ja, const int* desca, \
                             N* b, const int* ib, const int* jb, const int* descb) {                                   \
    const int order = is_left(side) ? *m : *n;                                                                         \
    call<T>(                                                                                                           \
        #name, Use::Changes,                                                                                           \
        [&](const auto& B, const auto& A) {                                                                            \
          name(option<Side>(side), option<Uplo>(uplo), option<Op>(transa), option<Diag>(diag), number<T>(alpha), A,    \
               B);                                                                                                     \
        },                                                                                                             \
        part<T>("B", b, ib, jb, descb, *m, *n), part<T>("A", a, ia, ja, desca, order, order));                         \
  }

extern "C" {
DEFINE_SCALAPACK(s, float, float)
DEFINE_SCALAPACK(d, double, double)
DEFINE_SCALAPACK(c, void, std::complex<float>)
DEFINE_SCALAPACK(z, void, std::complex<double>)
DEFINE_SYMMETRIC_PRODUCT(hemm, c, void, std::complex<float>)
DEFINE_SYMMETRIC_PRODUCT(hemm, z, void, std::complex<double>)
DEFINE_RANK_K(herk, c, void, std::complex<float>, float, float)
DEFINE_RANK_K(herk, z, void, std::complex<double>, double, double)
}

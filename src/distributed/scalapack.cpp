// SPDX-License-Identifier: BSD-3-Clause
// Routines with the argument lists of ScaLAPACK, on its arrays: tessera_pdgemm_, tessera_pdtrsm_, tessera_pdpotrf_.
#include <tessera/distributed.h>

#include <cctype>
#include <string>
#include <utility>

#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "agreement.hpp"
#include "blacs_grids.hpp"

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
struct Part {
  const int *i, *j, *desc;
  int m, n;
};

constexpr int context_of(const int* desc) { return desc[1]; }

/// The tiles [first, second) of a part, in one dimension.
std::pair<Index, Index> tiles_of_part(const char* what, Index first, Index count, Index tile, Index whole) {
  const bool begins = first >= 0 && first % tile == 0, ends = (first + count) % tile == 0 || first + count == whole;
  if (!begins || !ends || count < 0 || first + count > whole)
    throw RuntimeError("the part of " + std::to_string(count) + " " + what + " from " + std::to_string(first + 1) +
                       ", of " + std::to_string(whole) + ", must begin and end at boundaries of blocks of " +
                       std::to_string(tile));
  return {first / tile, count == 0 ? first / tile : (first + count - 1) / tile + 1};
}

/// An operand of a call: a matrix, and the part of it that the routine works on.
class Operand {
 public:
  /// Ends all processes if the descriptor is illegal, or the part does not consist of whole tiles.
  /// @param routine, name  for the message: "pdgemm", "A"
  Operand(const char* routine, const char* name, const Grid& grid, const double* a, const Part& part)
      : part_(guarded(std::string(routine) + ": " + name, [&] {
          // The matrix comes first, because it checks the descriptor. Both are checked here before a process waits for
          // another.
          const DistributedMatrix<double> whole(grid, const_cast<double*>(a), part.desc);  // inputs are only read
          return guarded(std::string(routine) + ": " + name, [&] {
            const auto [i0, i1] = tiles_of_part("rows", Index{*part.i} - 1, part.m, whole.mb(), whole.m());
            const auto [j0, j1] = tiles_of_part("columns", Index{*part.j} - 1, part.n, whole.nb(), whole.n());
            return whole.view(i0, i1, j0, j1);
          });
        })) {}

  const DistributedMatrix<double>& part() const noexcept { return part_; }

 private:
  DistributedMatrix<double> part_;
};

/// The grid of the operands of a call.
template <typename... Others>
const Grid& grid_of(const int* desc, const Others*... others) {
  auto& grids = detail::BlacsGrids::of_process();
  const int context = context_of(desc);
  const auto& grid = grids.of(context);
  [[maybe_unused]] const auto require = [&](const int* other) {
    if (context_of(other) != context && &grids.of(context_of(other)) != &grid)
      throw RuntimeError("the operands are on different grids: their BLACS contexts are " +
                         std::to_string(context_of(other)) + " and " + std::to_string(context));
  };
  (require(others), ...);
  return grid;
}

template <typename Option>
Option option(char letter) {
  return static_cast<Option>(std::toupper(static_cast<unsigned char>(letter)));
}

}  // namespace

}  // namespace tessera

using namespace tessera;

extern "C" {

void tessera_pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                     const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
                     const double* b, const int* ib, const int* jb, const int* descb, const double* beta, double* c,
                     const int* ic, const int* jc, const int* descc) {
  guarded("pdgemm", [&] {
    const auto& grid = grid_of(descc, desca, descb);
    const Op op_a = option<Op>(*transa), op_b = option<Op>(*transb);
    const bool ta = op_a != Op::NoTrans, tb = op_b != Op::NoTrans;
    const Operand A("pdgemm", "A", grid, a, {ia, ja, desca, ta ? *k : *m, ta ? *m : *k}),
        B("pdgemm", "B", grid, b, {ib, jb, descb, tb ? *n : *k, tb ? *k : *n}),
        C("pdgemm", "C", grid, c, {ic, jc, descc, *m, *n});
    guarded("pdgemm", [&] {
      gemm(op_a, op_b, *alpha, A.part(), B.part(), *beta, C.part());
      C.part().wait();
    });
  });
}

void tessera_pdtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
                     const int* n, const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
                     double* b, const int* ib, const int* jb, const int* descb) {
  guarded("pdtrsm", [&] {
    const auto& grid = grid_of(descb, desca);
    const Side on = option<Side>(*side);
    const int order = on == Side::Left ? *m : *n;
    const Operand A("pdtrsm", "A", grid, a, {ia, ja, desca, order, order}),
        B("pdtrsm", "B", grid, b, {ib, jb, descb, *m, *n});
    guarded("pdtrsm", [&] {
      trsm(on, option<Uplo>(*uplo), option<Op>(*transa), option<Diag>(*diag), *alpha, A.part(), B.part());
      B.part().wait();
    });
  });
}

void tessera_pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desca,
                      int* info) {
  guarded("pdpotrf", [&] {
    const Operand A("pdpotrf", "A", grid_of(desca), a, {ia, ja, desca, *n, *n});
    guarded("pdpotrf", [&] {
      const Info result = potrf(option<Uplo>(*uplo), A.part());
      A.part().wait();
      *info = static_cast<int>(result.wait());
    });
  });
}
}

// SPDX-License-Identifier: BSD-3-Clause
// Routines with the argument lists of ScaLAPACK, on its arrays: tessera_pdgemm_, tessera_pdtrsm_, tessera_pdpotrf_.
#include <tessera/distributed.h>

#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "agreement.hpp"

// The BLACS of the program. They are looked up when a program with a ScaLAPACK is loaded: others do not need them.
extern "C" {
[[gnu::weak]] void Cblacs_gridinfo(int context, int* p, int* q, int* row, int* column);
[[gnu::weak]] void Cblacs_get(int context, int what, int* value);
[[gnu::weak]] int Cblacs_pnum(int context, int row, int column);
[[gnu::weak]] MPI_Comm Cblacs2sys_handle(int handle);
}

namespace tessera {

namespace {

constexpr int context_of(const int* desc) { return desc[1]; }

/// The grids of BLACS contexts. They live until MPI_Finalize, since starting StarPU takes longer than most calls.
class Contexts {
 public:
  const Grid& grid(int context) {
    const auto found = grids_.find(context);
    if (found != grids_.end()) return found->second;
    if (Cblacs_gridinfo == nullptr || Cblacs_get == nullptr || Cblacs_pnum == nullptr || Cblacs2sys_handle == nullptr)
      throw RuntimeError("the program has no BLACS, whose context the descriptor names");
    int p = 0, q = 0, row = -1, column = -1;
    Cblacs_gridinfo(context, &p, &q, &row, &column);
    if (row < 0) throw RuntimeError("this process is not in the grid of the BLACS context");
    constexpr int system_handle = 10;
    int handle = 0;
    Cblacs_get(context, system_handle, &handle);
    std::vector<int> ranks;
    for (int i = 0; i < p; i++)
      for (int j = 0; j < q; j++) ranks.push_back(Cblacs_pnum(context, i, j));
    MPI_Comm all = Cblacs2sys_handle(handle), of_grid = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL, group_of_grid = MPI_GROUP_NULL;
    MPI_Comm_group(all, &group);
    MPI_Group_incl(group, p * q, ranks.data(), &group_of_grid);
    constexpr int tag = 7331;
    MPI_Comm_create_group(all, group_of_grid, tag, &of_grid);
    MPI_Group_free(&group_of_grid);
    MPI_Group_free(&group);
    if (grids_.empty()) clear_in_finalize();
    const auto& grid = grids_.emplace(context, Grid(p, q, of_grid)).first->second;
    MPI_Comm_free(&of_grid);  // the grid has its own
    return grid;
  }

 private:
  /// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while messages can still be sent.
  void clear_in_finalize() {
    const auto clear = [](MPI_Comm, int, void* contexts, void*) {
      static_cast<Contexts*>(contexts)->grids_.clear();
      return MPI_SUCCESS;
    };
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clear, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, this);
  }

  std::map<int, Grid> grids_;
};

Contexts& contexts() {
  static auto* const all = new Contexts;  // never destroyed: MPI_Finalize clears it
  return *all;
}

/// The tiles of the m×n part of a matrix that begins at row i and column j, counted from 1.
template <Scalar T>
DistributedMatrix<T> part(const char* name, const DistributedMatrix<T>& A, int i, int j, int m, int n) {
  const auto range = [&](const char* what, Index first, Index count, Index tile, Index whole) {
    const bool begins = first >= 0 && first % tile == 0, ends = (first + count) % tile == 0 || first + count == whole;
    if (!begins || !ends || count < 0 || first + count > whole)
      throw RuntimeError(std::string(name) + ": the part of " + std::to_string(count) + " " + what + " from " +
                         std::to_string(first + 1) + " must begin and end where blocks of " + std::to_string(tile) +
                         " do");
    return std::pair{first / tile, count == 0 ? first / tile : (first + count - 1) / tile + 1};
  };
  const auto [i0, i1] = range("rows", i - 1, m, A.mb(), A.m());
  const auto [j0, j1] = range("columns", j - 1, n, A.nb(), A.n());
  return A.view(i0, i1, j0, j1);
}

template <typename Option>
Option option(char letter) {
  return static_cast<Option>(std::toupper(static_cast<unsigned char>(letter)));
}

/// As in ScaLAPACK, an illegal call ends the program. An exception must not leave a function of C.
template <typename Function>
void guarded(const char* routine, Function function) {
  try {
    function();
  } catch (const std::exception& error) {
    detail::end_all_processes(std::string(routine) + ": " + error.what());
  }
}

double* writable(const double* a) { return const_cast<double*>(a); }  // inputs are only read

}  // namespace

}  // namespace tessera

using namespace tessera;

extern "C" {

void tessera_pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                     const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
                     const double* b, const int* ib, const int* jb, const int* descb, const double* beta, double* c,
                     const int* ic, const int* jc, const int* descc) {
  guarded("tessera_pdgemm", [&] {
    const auto& grid = contexts().grid(context_of(descc));
    const Op op_a = option<Op>(*transa), op_b = option<Op>(*transb);
    const bool ta = op_a != Op::NoTrans, tb = op_b != Op::NoTrans;
    const DistributedMatrix<double> A(grid, writable(a), desca), B(grid, writable(b), descb), C(grid, c, descc);
    gemm(op_a, op_b, *alpha, part("A", A, *ia, *ja, ta ? *k : *m, ta ? *m : *k),
         part("B", B, *ib, *jb, tb ? *n : *k, tb ? *k : *n), *beta, part("C", C, *ic, *jc, *m, *n));
    C.wait();
  });
}

void tessera_pdtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
                     const int* n, const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
                     double* b, const int* ib, const int* jb, const int* descb) {
  guarded("tessera_pdtrsm", [&] {
    const auto& grid = contexts().grid(context_of(descb));
    const Side on = option<Side>(*side);
    const int order = on == Side::Left ? *m : *n;
    const DistributedMatrix<double> A(grid, writable(a), desca), B(grid, b, descb);
    trsm(on, option<Uplo>(*uplo), option<Op>(*transa), option<Diag>(*diag), *alpha,
         part("A", A, *ia, *ja, order, order), part("B", B, *ib, *jb, *m, *n));
    B.wait();
  });
}

void tessera_pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desca,
                      int* info) {
  guarded("tessera_pdpotrf", [&] {
    const auto& grid = contexts().grid(context_of(desca));
    const DistributedMatrix<double> A(grid, a, desca);
    const Info result = potrf(option<Uplo>(*uplo), part("A", A, *ia, *ja, *n, *n));
    A.wait();
    *info = static_cast<int>(result.wait());
  });
}
}

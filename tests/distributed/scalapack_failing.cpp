// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n 2 test-scalapack-failing outside|pivots|descriptor|ended|grids|smaller: a call that breaks a rule.
#include <cstdlib>
#include <string>

#include "blacs_matrix.hpp"

namespace {

constexpr int one = 1, n = 20;
constexpr double alpha = 1, beta = 1;

void multiply(const Matrix& A, const Matrix& B, Matrix& C, int first, int size) {
  tessera_pdgemm_("N", "N", &size, &size, &size, &alpha, A.local.data(), &first, &first, A.desc, B.local.data(), &first,
                  &first, B.desc, &beta, C.local.data(), &first, &first, C.desc);
}

void begin(MPI_Comm comm, int rows, int columns) {
  context = Csys2blacs_handle(comm);
  Cblacs_gridinit(&context, "Row", rows, columns);
  Cblacs_gridinfo(context, &p, &q, &row, &column);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  begin(MPI_COMM_WORLD, 1, 2);
  const Matrix A(n, n, 4, 1);
  Matrix C(n, n, 4, 2);
  if (how == "outside") multiply(A, A, C, 2, n);
  if (how == "pivots") {
    const std::vector<int> pivots(n + 4);
    int info = 0;
    tessera_pdgetrs_("N", &n, &n, A.local.data(), &one, &one, A.desc, pivots.data(), C.local.data(), &one, &one, C.desc,
                     &info);
  }
  if (how == "descriptor") {
    Matrix B(n, n, 4, 3);
    B.desc[8] = 1;
    multiply(A, B, C, 1, n);
  }
  if (how == "grids") {
    begin(MPI_COMM_WORLD, 2, 1);
    Matrix B(n, n, 4, 3);
    multiply(A, B, C, 1, n);
  }
  multiply(A, A, C, 1, n);
  if (how == "ended") {
    Cblacs_gridexit(context);
    multiply(A, A, C, 1, n);
  }
  if (how == "smaller") {
    begin(MPI_COMM_SELF, 1, 1);
    const Matrix B(n, n, 4, 3);
    Matrix D(n, n, 4, 4);
    multiply(B, B, D, 1, n);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}

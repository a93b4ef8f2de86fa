// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n N test-scalapack PxQ: the routines on ScaLAPACK's arrays, compared with ScaLAPACK.
#include <cstdlib>

#include "blacs_matrix.hpp"

namespace {

void check_all() {
  const int one = 1, n = 100, m = 70, nb = 16, first = 33, rest = n - first + 1;
  const double alpha = 0.7, beta = -0.3;
  for (const char* trans : {"N", "T"}) {
    const Matrix A(n, n, nb, 1), B(n, n, nb, 2);
    Matrix C(n, n, nb, 3), D = C;
    pdgemm_(trans, "T", &n, &n, &n, &alpha, A.local.data(), &one, &one, A.desc, B.local.data(), &one, &one, B.desc,
            &beta, C.local.data(), &one, &one, C.desc);
    tessera_pdgemm_(trans, "T", &n, &n, &n, &alpha, A.local.data(), &one, &one, A.desc, B.local.data(), &one, &one,
                    B.desc, &beta, D.local.data(), &one, &one, D.desc);
    compare("pdgemm", D, C);
    pdgemm_(trans, "N", &rest, &rest, &rest, &alpha, A.local.data(), &first, &first, A.desc, B.local.data(), &first,
            &first, B.desc, &beta, C.local.data(), &first, &first, C.desc);
    tessera_pdgemm_(trans, "N", &rest, &rest, &rest, &alpha, A.local.data(), &first, &first, A.desc, B.local.data(),
                    &first, &first, B.desc, &beta, D.local.data(), &first, &first, D.desc);
    compare("pdgemm of parts", D, C);
  }
  for (const char* side : {"L", "R"})
    for (const char* uplo : {"L", "U"}) {
      const int order = *side == 'L' ? m : n;
      const Matrix A(order, order, nb, 1, order);
      Matrix B(m, n, nb, 2), X = B;
      pdtrsm_(side, uplo, "T", "N", &m, &n, &alpha, A.local.data(), &one, &one, A.desc, B.local.data(), &one, &one,
              B.desc);
      tessera_pdtrsm_(side, uplo, "T", "N", &m, &n, &alpha, A.local.data(), &one, &one, A.desc, X.local.data(), &one,
                      &one, X.desc);
      compare("pdtrsm", X, B);
    }
  for (const char* uplo : {"L", "U"})
    for (const double diagonal : {2.0 * n, 0.0}) {  // positive definite or not
      Matrix A(n, n, nb, 1, diagonal), F = A;
      int info = -1, ours = -2;
      pdpotrf_(uplo, &n, A.local.data(), &one, &one, A.desc, &info);
      tessera_pdpotrf_(uplo, &n, F.local.data(), &one, &one, F.desc, &ours);
      if (diagonal > 0) compare("pdpotrf", F, A);
      if (info != ours) {
        all_right = false;
        std::fprintf(stderr, "pdpotrf: info %d, must be %d\n", ours, info);
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (argc != 2 || std::sscanf(argv[1], "%dx%d", &p, &q) != 2) return EXIT_FAILURE;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Column", p, q);  // not the order of the library's grids
  Cblacs_gridinfo(context, &p, &q, &row, &column);
  check_all();
  Cblacs_gridexit(context);
  const int failed = all_right ? 0 : 1;
  MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

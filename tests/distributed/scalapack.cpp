// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n N test-scalapack PxQ: the routines on ScaLAPACK's arrays, against ScaLAPACK.
#include <tessera/distributed.h>

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int p, int q);
void Cblacs_gridinfo(int context, int* p, int* q, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* nb, const int* proc, const int* source, const int* procs);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* rsrc, const int* csrc,
               const int* context, const int* lld, int* info);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
             const int*, const int*, const double*, const int*, const int*, const int*, const double*, double*,
             const int*, const int*, const int*);
void pdtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
             const int*, const int*, const int*, double*, const int*, const int*, const int*);
void pdpotrf_(const char*, const int*, double*, const int*, const int*, const int*, int*);
}

namespace {

int context = 0, p = 1, q = 1, row = 0, column = 0;
bool all_right = true;

/// A matrix as ScaLAPACK has it, whose first block is in another process than the first.
struct Matrix {
  int desc[9];
  std::vector<double> local;
  int rows, columns;

  Matrix(int m, int n, int nb, unsigned seed, double diagonal = 0) {
    const int rsrc = p - 1, csrc = q - 1;
    rows = numroc_(&m, &nb, &row, &rsrc, &p), columns = numroc_(&n, &nb, &column, &csrc, &q);
    const int lld = std::max(1, rows) + 3;
    int info = 0;
    descinit_(desc, &m, &n, &nb, &nb, &rsrc, &csrc, &context, &lld, &info);
    local.resize(static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, columns)));
    const auto global = [&](int i, int procs, int mine, int source) {
      return (i / nb * procs + (mine - source + procs) % procs) * nb + i % nb;
    };
    for (int j = 0; j < columns; j++)
      for (int i = 0; i < rows; i++) {
        const int x = global(i, p, row, rsrc), y = global(j, q, column, csrc);
        std::minstd_rand random(seed + static_cast<unsigned>(std::max(x, y) * 1000 + std::min(x, y)));
        random.discard(3);
        local[static_cast<std::size_t>(i + j * lld)] =
            std::uniform_real_distribution<double>(-1, 1)(random) + (x == y ? diagonal : 0);
      }
  }
};

void compare(const char* what, const Matrix& got, const Matrix& wanted) {
  double error = 0;
  for (std::size_t i = 0; i < got.local.size(); i++) error = std::max(error, std::abs(got.local[i] - wanted.local[i]));
  if (error < 1e-12) return;
  all_right = false;
  std::fprintf(stderr, "%s: error %g in process (%d, %d)\n", what, error, row, column);
}

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

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/distributed.h>

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int p, int q);
void Cblacs_gridmap(int* context, int* processes, int ld, int p, int q);
void Cblacs_gridinfo(int context, int* p, int* q, int* row, int* column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int goes_on);
int Csys2blacs_handle(MPI_Comm comm);
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

/// The BLACS grid on which the matrices are distributed, and this process's position in it.
inline int context = 0, p = 1, q = 1, row = 0, column = 0;
inline bool all_right = true;

/// A matrix as ScaLAPACK stores it. Its first block is not in the first process.
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

inline void compare(const char* what, const Matrix& got, const Matrix& wanted) {
  double error = 0;
  for (std::size_t i = 0; i < got.local.size(); i++) {
    const double difference = std::abs(got.local[i] - wanted.local[i]);
    if (!(difference <= error)) error = difference;  // or NaN
  }
  if (error < 1e-12) return;
  all_right = false;
  std::fprintf(stderr, "%s: error %g in process (%d, %d) of %dx%d\n", what, error, row, column, p, q);
}

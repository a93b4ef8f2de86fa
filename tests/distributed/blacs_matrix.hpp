// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/distributed.h>

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <random>
#include <type_traits>
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

// ScaLAPACK's routines have the types of Tessera's.
#define DECLARE_THEIRS(type)                         \
  decltype(tessera_p##type##gemm_) p##type##gemm_;   \
  decltype(tessera_p##type##symm_) p##type##symm_;   \
  decltype(tessera_p##type##syrk_) p##type##syrk_;   \
  decltype(tessera_p##type##trmm_) p##type##trmm_;   \
  decltype(tessera_p##type##trsm_) p##type##trsm_;   \
  decltype(tessera_p##type##potrf_) p##type##potrf_; \
  decltype(tessera_p##type##getrf_) p##type##getrf_; \
  decltype(tessera_p##type##getrs_) p##type##getrs_; \
  decltype(tessera_p##type##gesv_) p##type##gesv_;
DECLARE_THEIRS(s)
DECLARE_THEIRS(d)
DECLARE_THEIRS(c)
DECLARE_THEIRS(z)
decltype(tessera_pchemm_) pchemm_;
decltype(tessera_pzhemm_) pzhemm_;
decltype(tessera_pcherk_) pcherk_;
decltype(tessera_pzherk_) pzherk_;
}

/// The BLACS grid on which the matrices are distributed, and this process's position in it.
inline int context = 0, p = 1, q = 1, row = 0, column = 0;
inline bool all_right = true;

/// A matrix as ScaLAPACK stores it. Its first block is not in the first process.
template <typename T>
struct MatrixOf {
  int desc[9];
  std::vector<T> local;
  int rows, columns;

  MatrixOf(int m, int n, int nb, unsigned seed, double diagonal = 0) {
    const int rsrc = p - 1, csrc = q - 1;
    rows = numroc_(&m, &nb, &row, &rsrc, &p), columns = numroc_(&n, &nb, &column, &csrc, &q);
    const int lld = std::max(1, rows) + 3;
    int info = 0;
    descinit_(desc, &m, &n, &nb, &nb, &rsrc, &csrc, &context, &lld, &info);
    local.resize(static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, columns)));
    for_each([&](int x, int y, T& element) {
      std::minstd_rand random(seed + static_cast<unsigned>(std::max(x, y) * 1000 + std::min(x, y)));
      random.discard(3);
      std::uniform_real_distribution<double> value(-1, 1);
      const double re = value(random) + (x == y ? diagonal : 0);
      if constexpr (std::is_floating_point_v<T>) element = static_cast<T>(re);
      else {
        using Real = typename T::value_type;
        element = T(static_cast<Real>(re), x == y ? Real{} : static_cast<Real>(value(random)));
      }
    });
  }

  /// Calls visit(row, column, element) for each element of this process.
  template <typename Visit>
  void for_each(Visit visit) {
    const auto global = [](int i, int block, int procs, int mine, int source) {
      return (i / block * procs + (mine - source + procs) % procs) * block + i % block;
    };
    for (int j = 0; j < columns; j++)
      for (int i = 0; i < rows; i++)
        visit(global(i, desc[4], p, row, desc[6]), global(j, desc[5], q, column, desc[7]),
              local[static_cast<std::size_t>(i + j * desc[8])]);
  }
};
using Matrix = MatrixOf<double>;

/// @param allowed  error, for double precision
template <typename T>
void compare(const char* what, const MatrixOf<T>& got, const MatrixOf<T>& wanted, double allowed = 1e-12) {
  using Real = decltype(std::abs(T{}));
  double error = 0;
  for (std::size_t i = 0; i < got.local.size(); i++) {
    const double difference = std::abs(got.local[i] - wanted.local[i]);
    if (!(difference <= error) && !std::isnan(error)) error = difference;  // or NaN
  }
  if (error < allowed / std::numeric_limits<double>::epsilon() * std::numeric_limits<Real>::epsilon()) return;
  all_right = false;
  std::fprintf(stderr, "%s: error %g in process (%d, %d) of %dx%d\n", what, error, row, column, p, q);
}

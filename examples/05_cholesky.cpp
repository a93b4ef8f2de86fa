// SPDX-License-Identifier: BSD-3-Clause
// Tessera between the program's own StarPU tasks. They generate the tiles of a positive definite matrix A, Tessera
// computes B = A X, factorizes A = L Lᵀ and solves A Y = B, and further tasks compare Y with X. The program waits only
// once, at the end. StarPU derives the order from the tiles that each task reads and writes, so the first panel is
// factorized before all tiles of A have been generated.
//
//   05_cholesky [n [tile]]
#include <starpu.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>
#include <vector>

namespace {

using tessera::Index, tessera::Matrix, tessera::Side, tessera::Uplo;

/// A tile as a StarPU task sees it.
struct Tile {
  double* data;
  Index m, n, ld;
  explicit Tile(void* buffer)
      : data(reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffer))), m(STARPU_MATRIX_GET_NX(buffer)),
        n(STARPU_MATRIX_GET_NY(buffer)), ld(STARPU_MATRIX_GET_LD(buffer)) {}
  double& operator()(Index i, Index j) const { return data[i + j * ld]; }
};

/// The elements of A decrease convexly with the distance from the diagonal, which makes A positive definite.
double element(Index i, Index j) { return 1.0 / static_cast<double>(1 + std::abs(i - j)); }

void generate(void* buffers[], void* arguments) {
  Index i0 = 0, j0 = 0;  // the tile's first row and column in A
  starpu_codelet_unpack_args(arguments, &i0, &j0);
  const Tile A(buffers[0]);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.m; i++) A(i, j) = element(i0 + i, j0 + j);
}

/// worst ← max(worst, max|X − Y|)
void compare(void* buffers[], void* /*unused*/) {
  const Tile X(buffers[0]), Y(buffers[1]);
  auto& worst = *reinterpret_cast<double*>(STARPU_VARIABLE_GET_PTR(buffers[2]));
  for (Index j = 0; j < X.n; j++)
    for (Index i = 0; i < X.m; i++) {
      const double difference = std::abs(X(i, j) - Y(i, j));
      if (!(difference <= worst) && !std::isnan(worst)) worst = difference;  // NaN is kept
    }
}

starpu_codelet make_codelet(const char* name, starpu_cpu_func_t function) {
  starpu_codelet codelet{};
  codelet.name = name;
  codelet.cpu_funcs[0] = function;
  codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
  return codelet;
}

bool submit_generate(starpu_codelet& codelet, const Matrix<double>& A) {
  for (Index j = 0; j < A.nt(); j++)
    for (Index i = j; i < A.mt(); i++) {  // the lower triangle
      const Index i0 = i * A.mb(), j0 = j * A.nb();
      if (starpu_task_insert(&codelet, STARPU_W, A.handle(i, j), STARPU_VALUE, &i0, sizeof i0, STARPU_VALUE, &j0,
                             sizeof j0, 0) != 0)
        return false;
    }
  return true;
}

void submit_compare(starpu_codelet& codelet, const Matrix<double>& X, const Matrix<double>& Y,
                    starpu_data_handle_t worst) {
  for (Index j = 0; j < X.nt(); j++)
    for (Index i = 0; i < X.mt(); i++)
      starpu_task_insert(&codelet, STARPU_R, X.handle(i, j), STARPU_R, Y.handle(i, j), STARPU_RW, worst, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const Index n = argc > 1 ? std::atoll(argv[1]) : 2000, tile = argc > 2 ? std::atoll(argv[2]) : 250;
  if (n < 1 || tile < 1) return std::puts("usage: 05_cholesky [n [tile]], both at least 1"), 1;
  constexpr Index nrhs = 10;
  const tessera::Runtime runtime;
  auto generator = make_codelet("generate", generate), comparison = make_codelet("compare", compare);

  std::vector<double> memory_a(n * n), memory_x(n * nrhs), memory_y(n * nrhs);
  for (Index i = 0; i < n * nrhs; i++) memory_x[i] = 1 + std::sin(static_cast<double>(i));
  double worst = 0, seconds = 0;
  Index info = 0;
  {
    const Matrix<double> A(memory_a.data(), n, n, n, {tile, tile}), X(memory_x.data(), n, nrhs, n, {tile, nrhs}),
        Y(memory_y.data(), n, nrhs, n, {tile, nrhs});
    starpu_data_handle_t worst_handle{};
    starpu_variable_data_register(&worst_handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&worst),
                                  sizeof worst);
    const auto start = std::chrono::steady_clock::now();
    if (!submit_generate(generator, A)) return std::puts("no CPU worker for the program's own tasks"), 1;
    symm(Side::Left, Uplo::Lower, 1.0, A, X, 0.0, Y);
    const auto factorized = potrf(Uplo::Lower, A);
    potrs(Uplo::Lower, A, Y);
    submit_compare(comparison, X, Y, worst_handle);
    starpu_data_unregister(worst_handle);  // waits for the comparisons, and thus for all tasks before them
    info = factorized.wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (info != 0) {
    std::printf("A is not positive definite: its leading minor of order %lld is not\n", static_cast<long long>(info));
    return 1;
  }
  std::printf("n = %lld in tiles of %lld, %lld right-hand sides: %.3f s, %.1f GFLOP/s\n", static_cast<long long>(n),
              static_cast<long long>(tile), static_cast<long long>(nrhs), seconds, std::pow(n, 3) / 3 / seconds * 1e-9);
  std::printf("max|X - Y| = %.2g, must be less than 1e-9\n", worst);
  return worst < 1e-9 ? 0 : 1;  // 1 for NaN
}

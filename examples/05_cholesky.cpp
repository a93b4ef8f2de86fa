// SPDX-License-Identifier: BSD-3-Clause
// Tiled Cholesky factorization A = L Lᵀ of a matrix in host memory. LAPACK factorizes the diagonal tiles, in the
// program's own StarPU codelet. Tessera's trsm and syrk, on ranges of tiles, compute the rest. There is one wait, at
// the end. StarPU starts a task as soon as its input tiles are ready, so the next panel is computed before the update
// is complete.
//
//   05_cholesky [n [tile]]
#include <starpu.h>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>
#include <vector>

extern "C" void dpotrf_(const char* uplo, const int* n, double* A, const int* lda, int* info);  // LAPACK

namespace {

using tessera::Diag, tessera::Index, tessera::Op, tessera::Side, tessera::Uplo;

std::atomic<Index> not_positive = 0;  // order of the first leading minor of A that is not positive

/// tile <- L where L Lᵀ = tile, on a CPU worker.
void potrf(void* buffers[], void* arguments) {
  Index first = 0;  // the tile's first row in A
  starpu_codelet_unpack_args(arguments, &first);
  const int n = static_cast<int>(STARPU_MATRIX_GET_NX(buffers[0])),
            ld = static_cast<int>(STARPU_MATRIX_GET_LD(buffers[0]));
  int info = 0;
  dpotrf_("L", &n, reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffers[0])), &ld, &info);
  Index none = 0;
  if (info > 0) not_positive.compare_exchange_strong(none, first + info);  // later failures follow from the first one
}

starpu_codelet make_potrf() {
  starpu_codelet codelet{};
  codelet.name = "potrf";
  codelet.cpu_funcs[0] = potrf;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_RW;
  return codelet;
}

/// Submits the factorization of the lower triangle of A and returns at once; false if no worker can run the codelet.
bool submit_cholesky(starpu_codelet& codelet, const tessera::Matrix<double>& A) {
  const Index nt = A.nt();
  for (Index k = 0; k < nt; k++) {
    const auto diagonal = A.view(k, k + 1, k, k + 1), panel = A.view(k + 1, nt, k, k + 1);
    const Index first = k * A.nb();
    if (starpu_task_insert(&codelet, STARPU_RW, A.handle(k, k), STARPU_VALUE, &first, sizeof first, 0) != 0)
      return false;
    trsm(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, 1.0, diagonal, panel);
    syrk(Uplo::Lower, Op::NoTrans, -1.0, panel, 1.0, A.view(k + 1, nt, k + 1, nt));
  }
  return true;
}

/// Frobenius norm of the symmetric matrix whose lower triangle is in `A`.
double norm(const std::vector<double>& A, Index n) {
  double sum = 0;
  for (Index j = 0; j < n; j++)
    for (Index i = j; i < n; i++) sum += (i == j ? 1 : 2) * A[i + j * n] * A[i + j * n];
  return std::sqrt(sum);
}

}  // namespace

int main(int argc, char** argv) {
  const Index n = argc > 1 ? std::atoll(argv[1]) : 2000, tile = argc > 2 ? std::atoll(argv[2]) : 250;
  if (n < 1 || tile < 1) return std::puts("usage: 05_cholesky [n [tile]], both at least 1"), 1;
  tessera::Runtime runtime;
  starpu_codelet codelet = make_potrf();  // must exist until its tasks have run

  std::vector<double> A(n *
                        n);  // positive definite: elements fall convexly to zero with the distance from the diagonal
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) A[i + j * n] = 1.0 / static_cast<double>(1 + std::abs(i - j));
  auto L = A;
  double seconds = 0;
  {
    const tessera::Matrix<double> tiles(L.data(), n, n, n, {tile, tile});
    const auto start = std::chrono::steady_clock::now();
    if (!submit_cholesky(codelet, tiles)) return std::puts("no CPU worker for potrf"), 1;
    tiles.wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (not_positive != 0) {
    std::printf("A is not positive definite: its leading minor of order %lld is not\n",
                static_cast<long long>(not_positive));
    return 1;
  }
  std::printf("n = %lld in tiles of %lld: %.3f s, %.1f GFLOP/s\n", static_cast<long long>(n),
              static_cast<long long>(tile), seconds, std::pow(n, 3) / 3 / seconds * 1e-9);

  for (Index j = 0; j < n; j++) std::fill_n(&L[j * n], j, 0.0);  // above the diagonal, L still holds A
  const double size = norm(A, n) * static_cast<double>(n) * std::numeric_limits<double>::epsilon() / 2;
  tessera::syrk(Uplo::Lower, Op::NoTrans, n, n, -1.0, L.data(), n, 1.0, A.data(), n);  // A <- A - L Lᵀ
  const double residual = norm(A, n) / size;
  std::printf("||A - L L^T|| / (n ||A|| u) = %.2g, must be less than 1\n", residual);
  return residual < 1 ? 0 : 1;  // 1 for NaN
}

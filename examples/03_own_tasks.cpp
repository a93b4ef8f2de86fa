// SPDX-License-Identifier: BSD-3-Clause
// The program's own StarPU tasks run between two products, on the same tiles and without a wait: StarPU orders all
// tasks by the tiles that they access. Together they compute a layer of a neural network, Y = W2 max(0, W1 X).
#include <starpu.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>
#include <vector>

namespace {

/// tile <- max(0, tile), on a CPU worker. StarPU fetches the tile from the memory in which the product left it.
void rectify(void* buffers[], void* /*arg*/) {
  auto* tile = reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffers[0]));
  const auto rows = STARPU_MATRIX_GET_NX(buffers[0]), columns = STARPU_MATRIX_GET_NY(buffers[0]);
  const auto ld = STARPU_MATRIX_GET_LD(buffers[0]);
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++) tile[i + j * ld] = std::max(0.0, tile[i + j * ld]);
}

starpu_codelet make_rectifier() {
  starpu_codelet codelet{};
  codelet.name = "rectify";
  codelet.cpu_funcs[0] = rectify;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_RW;
  return codelet;
}

}  // namespace

int main() {
  using tessera::Op;
  const tessera::Index n = 500;
  const tessera::TileSize tile{128, 128};
  tessera::Runtime runtime;
  starpu_codelet rectifier = make_rectifier();  // must exist until its tasks have run

  std::vector<double> w1(n * n), w2(n * n, 1.0), x(n * n, 1.0), h(n * n), y(n * n);
  for (tessera::Index i = 0; i < n; i++) w1[i + i * n] = i % 2 == 0 ? 3.0 : -3.0;  // rows of W1 X: 3, -3, 3, ...
  {
    const tessera::Matrix<double> W1(w1.data(), n, n, n, tile), W2(w2.data(), n, n, n, tile),
        X(x.data(), n, n, n, tile), H(h.data(), n, n, n, tile), Y(y.data(), n, n, n, tile);
    gemm(Op::NoTrans, Op::NoTrans, 1.0, W1, X, 0.0, H);
    for (tessera::Index j = 0; j < H.nt(); j++)
      for (tessera::Index i = 0; i < H.mt(); i++)
        if (starpu_task_insert(&rectifier, STARPU_RW, H.handle(i, j), 0) != 0) return std::puts("no CPU worker"), 1;
    gemm(Op::NoTrans, Op::NoTrans, 1.0, W2, H, 0.0, Y);
    Y.wait();
  }
  const double expected = 3.0 * n / 2;  // would be 0 without the tasks in between
  for (const double value : y)
    if (std::abs(value - expected) > 1e-10 * expected) return std::puts("wrong result"), 1;
  std::printf("Y(i, j) = %g everywhere, as it should be\n", expected);
}

// SPDX-License-Identifier: BSD-3-Clause
// Several asynchronous products with a single wait. Routines on Matrix return at once. The order of the calls
// determines the dependencies between tiles: the two independent products below run concurrently, and the third starts
// as soon as its first tiles are ready.
#include <cmath>
#include <cstdio>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>
#include <vector>

int main() {
  using tessera::Op;
  const tessera::Index n = 600;
  const tessera::TileSize tile{200, 200};
  tessera::Runtime runtime;

  std::vector<double> a(n * n), b(n * n, 1.0), c(n * n), d(n * n), e(n * n, 1.0);
  for (tessera::Index i = 0; i < n; i++) a[i + i * n] = 2.0;  // A = 2 I
  {
    const tessera::Matrix<double> A(a.data(), n, n, n, tile), B(b.data(), n, n, n, tile), C(c.data(), n, n, n, tile),
        D(d.data(), n, n, n, tile), E(e.data(), n, n, n, tile);
    gemm(Op::NoTrans, Op::NoTrans, 1.0, A, B, 0.0, C);  // C = A B = 2 everywhere
    gemm(Op::NoTrans, Op::Trans, 3.0, A, B, 0.0, D);    // D = 3 A Bᵀ = 6 everywhere, at the same time as C
    gemm(Op::NoTrans, Op::NoTrans, 1.0 / n, C, D, 1.0,
         E);  // E = C D / n + E = 13, starting with the first tiles of C and D
    // Updates a single tile of E, from a tile row of C and a tile column of D: 13 + 12 = 25.
    gemm(Op::NoTrans, Op::NoTrans, 1.0 / n, C.view(0, 1, 0, 3), D.view(0, 3, 0, 1), 1.0, E.view(0, 1, 0, 1));
    std::puts("four products submitted");
    E.wait();
    std::puts("done");
  }
  const auto expected = [&](tessera::Index i, tessera::Index j) { return i < 200 && j < 200 ? 25.0 : 13.0; };
  for (tessera::Index j = 0; j < n; j++)
    for (tessera::Index i = 0; i < n; i++)
      if (std::abs(e[i + j * n] - expected(i, j)) > 1e-10) return std::puts("wrong result"), 1;
  std::puts("E is 13 everywhere, and 25 in its first tile, as it should be");
}

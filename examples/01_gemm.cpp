// SPDX-License-Identifier: BSD-3-Clause
// The smallest program: one product of matrices given by pointers. The call uses all cores or all GPUs, and returns
// when the result is in place.
#include <cmath>
#include <cstdio>
#include <tessera/blas.hpp>
#include <vector>

int main() {
  using tessera::Op;
  const tessera::Index m = 1000, n = 800, k = 600;
  std::vector<double> A(m * k, 1.0), B(k * n, 2.0), C(m * n, 3.0);  // column-major

  // C <- 0.5 A B + 2 C
  tessera::gemm(Op::NoTrans, Op::NoTrans, m, n, k, 0.5, A.data(), m, B.data(), k, 2.0, C.data(), m);

  const double expected = 0.5 * 1.0 * 2.0 * k + 2.0 * 3.0;
  for (const double c : C)
    if (std::abs(c - expected) > 1e-10 * expected) return std::puts("wrong result"), 1;
  std::printf("C(i, j) = %g everywhere, as it should be\n", expected);
}

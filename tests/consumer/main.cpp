// SPDX-License-Identifier: BSD-3-Clause
// A user's program: it includes public headers, links the exported library, and computes a product.
#include <cstdlib>
#include <iostream>
#include <vector>

#include <tessera/tessera.h>
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>

int main() {
  constexpr tessera::Index n = 100;
  const std::vector<double> A(n * n, 1.0), B(n * n, 2.0);
  std::vector<double> C(n * n);
  const tessera::Runtime runtime;
  tessera::gemm<double>(tessera::Op::NoTrans, tessera::Op::NoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0,
                        C.data(), n);
  std::cout << "tessera " << tessera_version() << ": " << C.front() << '\n';
  return C == std::vector<double>(n * n, 200.0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

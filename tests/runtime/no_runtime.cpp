// SPDX-License-Identifier: BSD-3-Clause
// A program without a Runtime object. The first routine starts the runtime, and the program exits with status 0, even
// if a matrix is a global object that is destroyed after main.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/runtime.hpp>

namespace {

std::vector<double> memory(64 * 64, 1.0);
std::unique_ptr<tessera::Matrix<double>> outlives_main;

bool product_is_right() {
  constexpr tessera::Index n = 50;
  const std::vector<double> A(n * n, 2.0), B(n * n, 3.0);
  std::vector<double> C(n * n, 1.0);
  tessera::gemm<double>(tessera::Op::NoTrans, tessera::Op::NoTrans, n, n, n, 1, A.data(), n, B.data(), n, 1, C.data(),
                        n);
  return C == std::vector<double>(n * n, 301.0);
}

}  // namespace

int main(int argc, char** argv) {
  const bool global_matrix = argc > 1 && std::strcmp(argv[1], "global-matrix") == 0;
  const bool submitted = argc > 1 && std::strcmp(argv[1], "unfinished") == 0;
  if (!product_is_right() || tessera::cpu_workers() < 1) {
    std::cout << "a wrong product\n";
    return EXIT_FAILURE;
  }
  if (global_matrix || submitted) {
    outlives_main = std::make_unique<tessera::Matrix<double>>(memory.data(), 64, 64, 64, tessera::TileSize{16, 16});
    if (submitted)  // and does not wait
      tessera::gemm<double>(tessera::Op::NoTrans, tessera::Op::NoTrans, 0, *outlives_main, *outlives_main, 2,
                            *outlives_main);
  }
  return EXIT_SUCCESS;
}

// SPDX-License-Identifier: BSD-3-Clause
// A program without a Runtime object. The first routine starts the runtime, and the program exits with status 0, even
// if a matrix is a global object that is destroyed after main, or is never destroyed, or in a forked child.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
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

/// In a child that has inherited a matrix: a routine is refused, and the child exits as it wants to.
bool child_is_well() {
  outlives_main = std::make_unique<tessera::Matrix<double>>(memory.data(), 64, 64, 64, tessera::TileSize{16, 16});
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    try {
      product_is_right();
    } catch (const tessera::RuntimeError&) {
      std::exit(7);
    }
    std::exit(EXIT_FAILURE);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7 && product_is_right();
}

/// Tasks that go on for a while, on matrices that nothing ends.
void leak_work() {
  constexpr tessera::Index n = 200;
  const auto leaked = [] {
    return new tessera::Matrix<double>((new std::vector<double>(n * n, 1.0))->data(), n, n, n, tessera::TileSize{8, 8});
  };
  const auto *A = leaked(), *C = leaked();
  tessera::gemm<double>(tessera::Op::NoTrans, tessera::Op::NoTrans, 1, *A, *A, 0, *C);
}

}  // namespace

int main(int argc, char** argv) {
  const auto asked = [&](const char* what) { return argc > 1 && std::strcmp(argv[1], what) == 0; };
  const bool global_matrix = asked("global-matrix"), submitted = asked("unfinished");
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
  if (asked("leaked")) leak_work();
  if (asked("forked") && !child_is_well()) {
    std::cout << "the child or its parent is not well\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

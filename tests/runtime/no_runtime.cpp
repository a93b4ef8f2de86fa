// SPDX-License-Identifier: BSD-3-Clause
// A program without a Runtime object. The first routine starts the runtime, and the program exits with status 0, even
// - if a matrix is a global object that is destroyed after main, or is never destroyed,
// - in a forked child,
// - if threads call routines until the process has ended, or start the runtime during the exit,
// - if a Runtime is never destroyed.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <thread>
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

/// In a child that has inherited a matrix, a routine is refused, and the child exits normally.
bool child_is_well() {
  outlives_main = std::make_unique<tessera::Matrix<double>>(memory.data(), 64, 64, 64, tessera::TileSize{16, 16});
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(150);
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

/// Keeps the process alive for a while after the exit handlers of all libraries have run.
void linger(int /*status*/, void* /*unused*/) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }
/// Runs before the libraries are initialized. Handlers registered here run after those of the libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)() = [] { on_exit(linger, nullptr); };

/// Submits tasks that run for a while, on matrices that are never destroyed.
void leave_work() {
  constexpr tessera::Index n = 200;
  struct Left {
    std::vector<double> values = std::vector<double>(n * n, 1.0);
    tessera::Matrix<double> matrix{values.data(), n, n, n, {8, 8}};
  };
  static const auto *A = new Left, *C = new Left;
  tessera::gemm<double>(tessera::Op::NoTrans, tessera::Op::NoTrans, 1, A->matrix, A->matrix, 0, C->matrix);
}

/// A thread that calls a routine until the process has ended.
void call_until_the_end() {
  std::thread([] {
    while (product_is_right()) {
    }
    std::_Exit(EXIT_FAILURE);
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  const auto asked = [&](const char* what) { return argc > 1 && std::strcmp(argv[1], what) == 0; };
  const bool global_matrix = asked("global-matrix"), submitted = asked("unfinished");
  if (asked("left-runtime")) {
    [[maybe_unused]] static const auto* runtime = new tessera::Runtime;
    leave_work();
    return EXIT_SUCCESS;
  }
  if (asked("starting")) {
    call_until_the_end();
    std::this_thread::sleep_for(std::chrono::milliseconds(argc > 2 ? std::atoi(argv[2]) : 60));
    return EXIT_SUCCESS;
  }
  if (!product_is_right() || tessera::cpu_workers() < 1) {
    std::cout << "a wrong product\n";
    return EXIT_FAILURE;
  }
  if (global_matrix || submitted) {
    outlives_main = std::make_unique<tessera::Matrix<double>>(memory.data(), 64, 64, 64, tessera::TileSize{16, 16});
    if (submitted)  // without waiting
      tessera::gemm<double>(tessera::Op::NoTrans, tessera::Op::NoTrans, 0, *outlives_main, *outlives_main, 2,
                            *outlives_main);
  }
  if (asked("leaked")) leave_work();
  if (asked("forked") && !child_is_well()) {
    std::cout << "the child or its parent is not well\n";
    return EXIT_FAILURE;
  }
  for (int i = 0; i < 3 && asked("calling-threads"); i++) call_until_the_end();
  return EXIT_SUCCESS;
}

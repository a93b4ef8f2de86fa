// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n 2 failing disagree|shapes|throw|exit|fewer: process 1 does not do what process 0 does.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <tessera/distributed.hpp>

int main(int argc, char** argv) {
  using namespace tessera;
  const std::string how = argc > 1 ? argv[1] : "";
  try {
    const Grid grid(1, 2);
    const bool other = grid.rank() == 1;
    const Index n = 64, other_n = other && how == "shapes" ? 65 : n;
    const DistributedMatrix<double> A(grid, other_n, n, {16, 16}), B(grid, n, n, {16, 16}), C(grid, n, n, {16, 16});
    for (const auto* x : {&A, &B, &C})
      for (Index i = 0; i < x->local_m() * x->local_n(); i++) x->local()[i] = 1;
    if (other && how == "throw") throw std::runtime_error("a failure of the program");
    if (other && how == "exit") std::exit(3);
    if (!(other && how == "fewer")) gemm(Op::NoTrans, Op::NoTrans, other && how == "disagree" ? 2. : 1., A, B, 0., C);
    C.wait();
  } catch (const std::runtime_error&) {
    return 5;  // as programs do that print an error and leave
  }
  return EXIT_SUCCESS;
}

// SPDX-License-Identifier: BSD-3-Clause
// Matrices distributed over processes: mpirun -n 2 14_distributed, or with any other number of processes. Between two
// products, the program's own StarPU tasks run, each in the process that owns its tile.
#include <tessera/distributed.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

/// tile <- max(0, tile)
void rectify(void* buffers[], void* /*arg*/) {
  auto* tile = reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffers[0]));
  const auto rows = STARPU_MATRIX_GET_NX(buffers[0]), columns = STARPU_MATRIX_GET_NY(buffers[0]);
  const auto ld = STARPU_MATRIX_GET_LD(buffers[0]);
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++) tile[i + j * ld] = std::max(0.0, tile[i + j * ld]);
}

/// first <- first + second(0, 0). The tiles may belong to different processes.
void add_corner(void* buffers[], void* /*arg*/) {
  auto* first = reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffers[0]));
  first[0] += *reinterpret_cast<const double*>(STARPU_MATRIX_GET_PTR(buffers[1]));
}

/// Sets the elements that this process owns.
template <typename Value>
void fill(const tessera::DistributedMatrix<double>& A, Value value) {
  for (tessera::Index j = 0; j < A.local_n(); j++)
    for (tessera::Index i = 0; i < A.local_m(); i++)
      A.local()[i + j * A.ld()] = value(A.global_row(i), A.global_column(j));
}

/// The grid of p x q processes that is closest to square.
tessera::Grid make_grid() {
  int level = 0, size = 1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int p = static_cast<int>(std::sqrt(size));
  while (size % p != 0) p--;
  return {p, size / p};
}

int run() {
  using tessera::Op;
  const tessera::Grid grid = make_grid();
  const tessera::Index n = 300;
  const tessera::TileSize tile{64, 64};
  const tessera::DistributedMatrix<double> W1(grid, n, n, tile), W2(grid, n, n, tile), X(grid, n, n, tile),
      H(grid, n, n, tile), Y(grid, n, n, tile);
  const auto one = [](tessera::Index, tessera::Index) { return 1.0; };
  fill(W1, [](tessera::Index i, tessera::Index j) { return i != j ? 0.0 : i % 2 == 0 ? 3.0 : -3.0; });
  fill(W2, one);
  fill(X, one);

  starpu_codelet rectifier{}, adder{};  // must exist until their tasks have run
  rectifier.name = "rectify", rectifier.cpu_funcs[0] = rectify, rectifier.nbuffers = 1;
  rectifier.modes[0] = STARPU_RW;
  adder.name = "add_corner", adder.cpu_funcs[0] = add_corner, adder.nbuffers = 2;
  adder.modes[0] = STARPU_RW, adder.modes[1] = STARPU_R;

  // All processes make all of these calls. None of the calls waits.
  gemm(Op::NoTrans, Op::NoTrans, 1.0, W1, X, 0.0, H);
  for (tessera::Index j = 0; j < H.nt(); j++)
    for (tessera::Index i = 0; i < H.mt(); i++)
      starpu_mpi_task_insert(grid.comm(), &rectifier, STARPU_RW, H.handle(i, j), 0);
  gemm(Op::NoTrans, Op::NoTrans, 1.0, W2, H, 0.0, Y);
  starpu_mpi_task_insert(grid.comm(), &adder, STARPU_RW, Y.handle(0, 0), STARPU_R, Y.handle(1, 1), 0);
  gemm(Op::NoTrans, Op::NoTrans, 1.0, W1, X, 1.0, Y);  // changes Y(1, 1), which is therefore sent again below
  starpu_mpi_task_insert(grid.comm(), &adder, STARPU_RW, Y.handle(0, 0), STARPU_R, Y.handle(1, 1), 0);
  Y.wait();
  grid.wait();

  const double sum = 3.0 * n / 2;
  int wrong = 0;
  for (tessera::Index j = 0; j < Y.local_n(); j++)
    for (tessera::Index i = 0; i < Y.local_m(); i++) {
      const auto row = Y.global_row(i);
      const double term = row % 2 == 0 ? 3.0 : -3.0, corner = row == 0 && Y.global_column(j) == 0 ? sum + sum + 3.0 : 0;
      if (!(std::abs(Y.local()[i + j * Y.ld()] - (sum + term + corner)) < 1e-9 * sum)) wrong++;
    }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, grid.comm());
  if (grid.rank() == 0) std::printf("%d x %d processes: %d wrong elements\n", grid.p(), grid.q(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main() {
  const int status = run();  // grid and matrices are gone when it returns
  MPI_Finalize();
  return status;
}

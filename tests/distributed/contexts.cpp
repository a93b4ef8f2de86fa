// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n N test-contexts PxQ: BLACS contexts that end, and whose numbers are reused for contexts with other
// processes, shapes and orders.
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>

#include "blacs_matrix.hpp"

namespace {

int processes = 1, rank = 0, grid_p = 1, grid_q = 1;
std::set<int> numbers;  ///< numbers of all contexts so far
int numbers_again = 0;  ///< contexts that got the number of an earlier context

void use(int of) {
  context = of;
  Cblacs_gridinfo(context, &p, &q, &row, &column);
}

void announce(int of) {
  if (!numbers.insert(of).second) numbers_again++;
  use(of);
}

/// A context over a communicator.
int make(MPI_Comm comm, const char* order, int rows, int columns) {
  int made = Csys2blacs_handle(comm);
  Cblacs_gridinit(&made, order, rows, columns);
  announce(made);
  return made;
}

void check(const std::string& what) {
  constexpr int n = 40, nb = 8, one = 1;
  constexpr double alpha = 0.7, beta = -0.3;
  const Matrix A(n, n, nb, 1), B(n, n, nb, 2);
  Matrix C(n, n, nb, 3), D = C;
  pdgemm_("N", "T", &n, &n, &n, &alpha, A.local.data(), &one, &one, A.desc, B.local.data(), &one, &one, B.desc, &beta,
          C.local.data(), &one, &one, C.desc);
  tessera_pdgemm_("N", "T", &n, &n, &n, &alpha, A.local.data(), &one, &one, A.desc, B.local.data(), &one, &one, B.desc,
                  &beta, D.local.data(), &one, &one, D.desc);
  compare((what + ", pdgemm").c_str(), D, C);
  Matrix F(n, n, nb, 4, 2 * n), G = F;
  int info = -1, ours = -2;
  pdpotrf_("L", &n, F.local.data(), &one, &one, F.desc, &info);
  tessera_pdpotrf_("L", &n, G.local.data(), &one, &one, G.desc, &ours);
  compare((what + ", pdpotrf").c_str(), G, F);
  if (info != 0 || ours != 0) all_right = false;
}

void one_after_another() {
  const auto once = [](const char* what, const char* order, int rows, int columns) {
    const int made = make(MPI_COMM_WORLD, order, rows, columns);
    check(what);
    Cblacs_gridexit(made);
  };
  once("by rows", "Row", grid_p, grid_q);
  once("by columns", "Column", grid_p, grid_q);
  once("turned", "Row", grid_q, grid_p);
  once("one row", "Row", 1, processes);
  once("one column", "Column", processes, 1);
  once("by rows again", "Row", grid_p, grid_q);
  std::vector<int> backwards(static_cast<std::size_t>(processes));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  int mapped = Csys2blacs_handle(MPI_COMM_WORLD);
  Cblacs_gridmap(&mapped, backwards.data(), grid_p, grid_p, grid_q);
  announce(mapped);
  check("backwards");
  Cblacs_gridexit(mapped);
}

void side_by_side() {
  const int first = make(MPI_COMM_WORLD, "Row", grid_p, grid_q);
  check("first of two");
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  const int second = make(backwards, "Row", grid_p, grid_q);
  MPI_Comm_free(&backwards);
  check("second of two");
  use(first);
  check("the first again");
  Cblacs_gridexit(first);
  const int third = make(MPI_COMM_WORLD, "Row", grid_q, grid_p);
  use(second);
  check("the second, without the first");
  use(third);
  check("a third one with the number of the first");
  Cblacs_gridexit(second);
  check("the third alone");
  Cblacs_gridexit(third);
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2 || std::sscanf(argv[1], "%dx%d", &grid_p, &grid_q) != 2) return EXIT_FAILURE;
  const int alone = make(MPI_COMM_SELF, "Row", 1, 1);
  check("alone");
  Cblacs_gridexit(alone);
  one_after_another();
  side_by_side();
  if (numbers_again < 5) {
    all_right = false;
    std::fprintf(stderr, "the BLACS gave only %d numbers again: this tests nothing\n", numbers_again);
  }
  int failures = 0;
  const int failed = all_right ? 0 : 1;
  MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  Cblacs_exit(0);  // finalizes MPI
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

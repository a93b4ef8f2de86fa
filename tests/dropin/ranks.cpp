// SPDX-License-Identifier: BSD-3-Clause
// A rank of an MPI program under the drop-in: multiplies matrices, and prints, one per line, the cores on which the
// threads of StarPU's CPU workers may run.
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

extern "C" void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);

namespace {

std::set<int> cores_of_workers() {
  std::set<int> cores;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (!name.starts_with("CPU")) continue;  // StarPU's names
    cpu_set_t its;
    CPU_ZERO(&its);
    sched_getaffinity(std::atoi(thread.path().filename().c_str()), sizeof(its), &its);
    for (int core = 0; core < CPU_SETSIZE; core++)
      if (CPU_ISSET(core, &its)) cores.insert(core);
  }
  return cores;
}

}  // namespace

int main() {
  constexpr int n = 100;
  constexpr double one = 1, zero = 0;
  const std::vector<double> a(n * n, 1), b(n * n, 1);
  std::vector<double> c(n * n);
  dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n);
  if (c.front() != n) return EXIT_FAILURE;
  for (const int core : cores_of_workers()) std::printf("%d\n", core);
  return EXIT_SUCCESS;
}

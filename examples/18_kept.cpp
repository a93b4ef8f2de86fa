// SPDX-License-Identifier: BSD-3-Clause
// Computes X <- A X repeatedly, on pointers. The program keeps its matrices on the GPUs, so from the third call on
// only results are copied, to the host. Now and then it changes a column of A, and tells Tessera.
//
//   18_kept [n [calls [keep|copy [changes]]]]
//
// n is at least 2. A column of A changes after each `changes` calls; 0: never.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index, tessera::Op;

int main(int argc, char** argv) {
  const Index n = argc > 1 ? std::atoll(argv[1]) : 600, calls = argc > 2 ? std::atoll(argv[2]) : 8;
  const std::string how = argc > 3 ? argv[3] : "keep";
  if (how != "keep" && how != "copy") {
    std::fprintf(stderr, "'%s' is not one of keep, copy\n", how.c_str());
    return 2;
  }
  const bool keeps = how == "keep";
  const Index changes = argc > 4 ? std::atoll(argv[4]) : 3;
  std::vector<double> A(n * n), X(n * n), Y(n * n);
  // A moves the rows of X by one place, and the last row to the front. So each result is known exactly.
  for (Index i = 0; i < n; i++) A[(i + 1) % n + i * n] = 1;
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) X[i + j * n] = static_cast<double>((i + 3 * j) % 1000);
  const auto column = [&](Index j) { return std::vector<double>(&X[j * n], &X[j * n] + n); };
  auto first = column(0), last = column(n - 1);

  if (keeps)
    for (const auto* matrix : {&A, &X, &Y}) tessera::keep(matrix->data(), n, n, n);
  std::vector<double> seconds;
  for (Index call = 1; call <= calls; call++) {
    const auto begin = std::chrono::steady_clock::now();
    tessera::gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A.data(), n, X.data(), n, 0, Y.data(), n);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (call > 2) seconds.push_back(took.count());
    std::printf("call %lld: %.3g s, %.3g TFLOP/s\n", static_cast<long long>(call), took.count(),
                2e-12 * static_cast<double>(n * n * n) / took.count());
    std::swap(X, Y);
    const double factor = A[1];  // of column 0 of A, which moves the first row
    for (auto* expected : {&first, &last}) {
      std::rotate(expected->begin(), expected->end() - 1, expected->end());
      (*expected)[1 % n] *= factor;
    }
    if (column(0) != first || column(n - 1) != last) {
      std::printf("the result is wrong\n");
      return 1;
    }
    if (changes > 0 && call % changes == 0) {
      A[1] = A[1] == 1 ? 2 : 1;
      if (keeps) tessera::changed(A.data(), n, 1, n);
    }
  }
  if (keeps)
    for (const auto* matrix : {&A, &X, &Y}) tessera::forget(matrix->data());
  if (seconds.empty()) return 0;
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("from the third call on, median: %.3g s, %.3g TFLOP/s\n", median,
              2e-12 * static_cast<double>(n * n * n) / median);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "host_gemmt.hpp"

#include <algorithm>
#include <vector>

#include "host.hpp"

namespace tessera::dropin {

namespace {

template <Scalar T>
void triangle(const HostBlas& host, const Call& c) {
  constexpr Index width = 64;
  static constexpr T zero{};
  const T beta = *static_cast<const T*>(c.beta);
  const auto A = [&](Index i) { return static_cast<const T*>(c.A) + (c.op_a == Op::NoTrans ? i : i * c.lda); };
  const auto B = [&](Index j) { return static_cast<const T*>(c.B) + (c.op_b == Op::NoTrans ? j * c.ldb : j); };
  const auto C = [&](Index i, Index j) { return static_cast<T*>(c.C) + i + j * c.ldc; };
  const auto product = [&](Index i, Index j, Index m, Index n, const T* factor, T* result, Index ld) {
    Call gemm = c;
    gemm.routine = Routine::gemm;
    gemm.m = m, gemm.n = n, gemm.A = A(i), gemm.B = B(j), gemm.beta = factor, gemm.C = result, gemm.ldc = ld;
    host(gemm);
  };
  const bool lower = c.uplo == Uplo::Lower;
  std::vector<T> square(width * width);
  for (Index first = 0; first < c.n; first += width) {
    const Index count = std::min(width, c.n - first), beyond = first + count;
    product(first, first, count, count, &zero, square.data(), width);
    for (Index j = 0; j < count; j++)
      for (Index i = lower ? j : 0; i < (lower ? count : j + 1); i++) {
        T& element = *C(first + i, first + j);
        const T sum = square[static_cast<std::size_t>(i + j * width)];
        element = beta == T{} ? sum : sum + beta * element;  // with beta = 0, C is not read
      }
    const Index row = lower ? beyond : 0, rows = lower ? c.n - beyond : first;
    if (rows > 0) product(row, first, rows, count, static_cast<const T*>(c.beta), C(row, first), c.ldc);
  }
}

}  // namespace

void gemmt_by_gemm(const HostBlas& host, const Call& call) {
  switch (call.type) {
  case 's': return triangle<float>(host, call);
  case 'd': return triangle<double>(host, call);
  case 'c': return triangle<std::complex<float>>(host, call);
  default: return triangle<std::complex<double>>(host, call);
  }
}

}  // namespace tessera::dropin

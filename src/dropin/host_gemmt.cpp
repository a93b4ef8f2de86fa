// SPDX-License-Identifier: BSD-3-Clause
#include "host_gemmt.hpp"

#include <vector>

#include "common/of_type.hpp"
#include "common/triangle.hpp"
#include "host.hpp"

namespace tessera::dropin {

namespace {

template <Scalar T>
void triangle(const HostBlas& host, const Call& c) {
  constexpr int leaf = 64;
  static constexpr T zero{};
  const T beta = *static_cast<const T*>(c.beta);
  const auto A = [&](Index i) { return static_cast<const T*>(c.A) + (c.op_a == Op::NoTrans ? i : i * c.lda); };
  const auto B = [&](Index j) { return static_cast<const T*>(c.B) + (c.op_b == Op::NoTrans ? j * c.ldb : j); };
  const auto C = [&](Index i, Index j) { return static_cast<T*>(c.C) + i + j * c.ldc; };
  const auto product = [&](Index i, Index j, Index m, Index n, const void* factor, T* result, Index ld) {
    auto part = c;
    part.routine = blas::Routine::gemm;
    part.m = m, part.n = n, part.A = A(i), part.B = B(j), part.beta = factor, part.C = result, part.ldc = ld;
    host(part);
  };
  const bool lower = c.uplo == Uplo::Lower;
  std::vector<T> square(static_cast<std::size_t>(leaf) * leaf);
  codelets::cut_triangle(
      c.uplo, static_cast<int>(c.n), leaf,
      [&](const codelets::Rectangle& r) { product(r.i, r.j, r.m, r.n, c.beta, C(r.i, r.j), c.ldc); },
      [&](int first, int n) {
        product(first, first, n, n, &zero, square.data(), leaf);
        for (int j = 0; j < n; j++)
          for (int i = lower ? j : 0; i < (lower ? n : j + 1); i++) {
            T& element = *C(first + i, first + j);
            const T sum = square[static_cast<std::size_t>(i + j * leaf)];
            element = beta == T{} ? sum : sum + beta * element;  // with beta = 0, C is not read
          }
      });
}

}  // namespace

void gemmt_by_gemm(const HostBlas& host, const Call& call) {
  with_type(call.type, [&]<Scalar T>(T) { triangle<T>(host, call); });
}

}  // namespace tessera::dropin

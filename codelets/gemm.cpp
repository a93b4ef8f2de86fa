// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Gemm {
  using Args = GemmArgs;
  static void run(const auto& blas, void* buffers[], const Args& args) {
    const auto& [work, op_a, op_b, alpha, beta, first_column, first_term] = args;
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    const int k = op_a == Op::NoTrans ? A.n : A.m;
    blas.gemm(op_a, op_b, C.m, C.n, k, T(alpha), A.data, A.ld, element_of(op_b, B, first_term, first_column), B.ld,
              T(beta), C.data, C.ld);
  }
};

}  // namespace

starpu_codelet& gemm(char type) { return codelet_of<Gemm>(type, "gemm"); }

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"
#include "opencl_triangle.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Trmm {
  using Args = TriangularArgs;

  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto& [work, side, uplo, op, diag, alpha, blocked, sum, spreads] = args;
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    host::trmm<T>(side, uplo, op, diag, B.m, B.n, T(alpha), A.data, A.ld, B.data, B.ld);
    sum_slots::give_back(sum);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& /*blas*/, void* buffers[], const Args& args) {
    multiply_on_device(args, tile<const T>(buffers[0]), tile<T>(buffers[1]));
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const OnOpenCl& on, void* buffers[], const Args& args) {
    multiply(on, args, tile<const T>(buffers[0]), tile<T>(buffers[1]));
  }
#endif
};

}  // namespace

starpu_codelet& trmm(char type) { return codelet_of<Trmm>(type, "trmm"); }

}  // namespace tessera::codelets

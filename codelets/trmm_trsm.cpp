// SPDX-License-Identifier: BSD-3-Clause
// trmm, and trsm, which applies the inverse.
#include "kernel.hpp"
#include "opencl_triangle.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T, bool inverse>
struct Triangular {
  using Args = TriangularArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto& [work, side, uplo, op, diag, alpha, blocked, sum, spreads] = args;
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    const auto operation = inverse ? device::cpu::trsm<T> : device::cpu::trmm<T>;
    operation(side, uplo, op, diag, B.m, B.n, T(alpha), A.data, A.ld, B.data, B.ld);
    memory::sum_slots::give_back(sum);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    if constexpr (!inverse) multiply_on_device(args, A, B);
    else if (args.blocked)
      solve_on_device(args, A, B, starpu_task_get_current()->handles[2], tile<const T>(buffers[2]));
    else solve_on_device(args, A, B, nullptr, {});
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    if constexpr (inverse) solve(on, args, A, B);
    else multiply(on, args, A, B);
  }
#endif
};

}  // namespace

starpu_codelet& trmm(char type) { return codelet_of<Triangular, false>(type, "trmm"); }

starpu_codelet& trsm(char type) { return codelet_of<Triangular, true>(type, "trsm"); }

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Trsm {
  using Args = TriangularArgs<T>;

  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto& [work, side, uplo, op, diag, alpha, blocked, sum, spreads] = args;
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    host::trsm<T>(side, uplo, op, diag, B.m, B.n, alpha, A.data, A.ld, B.data, B.ld);
    sum_slots::give_back(sum);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    if (args.blocked) {
      const auto found = inverses_of(starpu_task_get_current()->handles[2]);
      const bool by_rows = !args.spreads && (!output_is_finite<T>(buffers, args) || found.use == Inverses::NotFinite);
      const TriangularBlocks<T> blocks(buffers, args);
      if (by_rows)
        return blocks.solve(1, [&](const Range& row, T alpha) { blocks.apply_in_place(device::trsm<T>, row, alpha); });
      if (blocks.solve_by(tile<const T>(buffers[2]), found)) return;
    }
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    check("trsm", device::trsm<T>(on.handle, args.side, args.uplo, args.op, args.diag, B.m, B.n, args.alpha, A.data,
                                  A.ld, B.data, B.ld));
  }
#endif
};

}  // namespace

template <Scalar T>
starpu_codelet& trsm() {
  return codelet_of<Trsm<T>>("trsm");
}
INSTANTIATE_FOR_ALL_TYPES(trsm)

}  // namespace tessera::codelets

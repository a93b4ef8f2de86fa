// SPDX-License-Identifier: BSD-3-Clause
// The tile operations of LU factorization with partial pivoting, on panels.
#include "devices/row_moves.hpp"
#include "devices/tile_stack.hpp"
#include "kernel.hpp"
#include "panel_kernels.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Laswp {
  using Args = LaswpArgs;
  static constexpr bool reads_indices = true;

  /// @param exchange  a function (B, first, pivots, count), which exchanges rows of B
  static void run(void* buffers[], const Args& args, auto exchange) {
    const TileStack<T> B(buffers, args.tiles);
    const int panels = starpu_task_get_current()->nbuffers - args.tiles;
    for (int i = 0; i < panels; i++) {
      const auto pivots = tile<int>(buffers[args.tiles + i]);
      exchange(B, args.first + i * args.step, pivots.data, PivotTile::count(pivots.m));
    }
  }
  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    run(buffers, args, [&](const TileStack<T>& B, int first, const int* pivots, int count) {
      exchange_rows(B, first, pivots, count, args.backwards ? -1 : 1);
    });
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& /*on*/, void* buffers[], const Args& args) {
    run(buffers, args, [&](const TileStack<T>& B, int first, int* pivots, int count) {
      move_rows(B, first, pivots, count, args.backwards);
    });
  }
#endif
#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    run(buffers, args, [&](const TileStack<T>& B, int first, const int* pivots, int count) {
      on.move_rows(B, first, pivots, count, args.backwards);
    });
  }
#endif
};

template <Scalar T>
struct PanelSolve {
  using Args = PanelSolveArgs;

  /// @param solve  a function (uplo, op, diag, n, nrhs, A, lda, B, ldb), which computes B ← op(A)⁻¹ B
  static void run(const auto& blas, void* buffers[], const Args& args, auto solve) {
    const TileStack<const T> A(buffers, args.tiles);
    const TileStack<T> B(buffers + args.tiles, args.tiles);
    const bool upper = args.uplo == Uplo::Upper;
    const int begin = upper ? 0 : args.first + A.n(),
              end = upper ? args.first : A.m();  // rows of X outside the triangle
    const auto triangle = A.rows(args.first, args.first + A.n());
    const auto own = B.rows(args.first, args.first + A.n());
    const auto diagonal = [&] {
      solve(args.uplo, args.op, upper ? Diag::NonUnit : Diag::Unit, A.n(), B.n(), triangle.data, triangle.ld, own.data,
            own.ld);
    };
    if (args.op == Op::NoTrans) diagonal();
    for (int i = 0; i < A.count(); i++) {
      const auto a = A.part(i, begin, end);
      const auto b = B.part(i, begin, end);
      if (a.m == 0) continue;
      if (args.op == Op::NoTrans)
        blas.gemm(Op::NoTrans, Op::NoTrans, a.m, B.n(), A.n(), T(-1), a.data, a.ld, static_cast<const T*>(own.data),
                  own.ld, T(1), b.data, b.ld);
      else
        blas.gemm(args.op, Op::NoTrans, A.n(), B.n(), a.m, T(-1), a.data, a.ld, static_cast<const T*>(b.data), b.ld,
                  T(1), own.data, own.ld);
    }
    if (args.op != Op::NoTrans) diagonal();
  }
  static void run(const device::OnHost& blas, void* buffers[], const Args& args) {
    run(blas, buffers, args, [](Uplo uplo, Op op, Diag diag, int n, int nrhs, const T* A, int lda, T* B, int ldb) {
      device::cpu::trsm<T>(Side::Left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb);
    });
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](Uplo uplo, Op op, Diag diag, int n, int nrhs, const T* A, int lda, T* B, int ldb) {
      device::check("trsm",
                    device::cuda::trsm<T>(on.handle, Side::Left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb));
    });
  }
#endif
#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](Uplo uplo, Op op, Diag diag, int n, int nrhs, const T* A, int lda, T* B, int ldb) {
      solve<T>(on, triangular_args(args.work, Side::Left, uplo, diag, T(1), false, op), {A, n, n, lda},
               {B, n, nrhs, ldb});
    });
  }
#endif
};

}  // namespace

starpu_codelet& getrf(char type) { return codelet_of<Getrf>(type, "getrf"); }

starpu_codelet& panel_update(char type) { return codelet_of<PanelUpdate>(type, "panel_update"); }

starpu_codelet& laswp(char type) { return codelet_of<Laswp>(type, "laswp"); }

starpu_codelet& panel_solve(char type) { return codelet_of<PanelSolve>(type, "panel_solve"); }

}  // namespace tessera::codelets

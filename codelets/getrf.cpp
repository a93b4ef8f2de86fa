// SPDX-License-Identifier: BSD-3-Clause
// The tile operations of LU factorization with partial pivoting, on panels.
#include <algorithm>
#include <memory>

#include "host_lapack.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

/// What lies below row `first` of a panel, and the number of its pivots.
template <typename T>
struct RowsBelow {
  T* data;  ///< at row `first`
  int m, n, ld, pivots;

  RowsBelow(const Tile<T>& panel, Index first)
      : data(panel.data + first), m(panel.m - static_cast<int>(first)), n(panel.n), ld(panel.ld),
        pivots(std::min(m, n)) {}
  int below() const { return m - pivots; }
};

template <Scalar T>
struct Getrf {
  using Args = GetrfArgs;

  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    const RowsBelow<T> A(tile<T>(buffers[0]), args.first);
    const int info = host::getrf<T>(A.m, A.n, A.data, A.ld, tile<int>(buffers[1]).data);
    if (info > 0) args.value->report(args.first + info);
    if (args.blocked) set_inverses(starpu_task_get_current()->handles[2], {Inverses::Refused, 0});
  }

#ifdef TESSERA_WITH_CUDA
  /// Reads cuSOLVER's info, as a host function of the stream.
  struct Report {
    const int* info;
    Index first;
    InfoValue* value;

    static void run(void* self) {
      const std::unique_ptr<Report> r(static_cast<Report*>(self));
      if (*r->info > 0) r->value->report(r->first + *r->info);
    }
  };

  static void run(const OnDevice& /*on*/, void* buffers[], const Args& args) {
    const RowsBelow<T> A(tile<T>(buffers[0]), args.first);
    if (args.blocked) set_inverses(starpu_task_get_current()->handles[2], {Inverses::Refused, 0});
    const auto& solver = device::local_solver();
    if (solver.handle == nullptr) return;  // reported
    int elements = 0;
    check("getrf", device::getrf_workspace<T>(solver.handle, A.m, A.n, A.data, A.ld, &elements));
    auto* const workspace = static_cast<T*>(device::solver_workspace(static_cast<std::size_t>(elements) * sizeof(T)));
    if (workspace == nullptr) return;  // reported
    check("getrf",
          device::getrf<T>(solver.handle, A.m, A.n, A.data, A.ld, workspace, tile<int>(buffers[1]).data, solver.info));
    std::unique_ptr<Report> report(new Report{solver.info, args.first, args.value});
    const auto status = cudaLaunchHostFunc(starpu_cuda_get_local_stream(), Report::run, report.get());
    check("cudaLaunchHostFunc", status);
    if (status == cudaSuccess) static_cast<void>(report.release());  // it deletes itself
    if (args.blocked)
      set_inverses(
          starpu_task_get_current()->handles[2],
          invert_diagonal_blocks<T>({A.data, A.pivots, A.pivots, A.ld}, tile<T>(buffers[2]), Uplo::Lower, Diag::Unit));
  }
#endif
};

template <Scalar T>
struct PanelUpdate {
  using Args = PanelUpdateArgs;

  static void run(const OnHost& blas, void* buffers[], const Args& args) {
    const RowsBelow<const T> A(tile<const T>(buffers[0]), args.first);
    const RowsBelow<T> B(tile<T>(buffers[2]), args.first);
    host::laswp<T>(B.n, B.data, B.ld, A.pivots, tile<const int>(buffers[1]).data, 1);
    host::trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, A.pivots, B.n, T(1), A.data, A.ld, B.data, B.ld);
    subtract(blas, A, B);
  }

  static void subtract(const auto& blas, const RowsBelow<const T>& A, const RowsBelow<T>& B) {
    if (A.below() > 0)
      blas.gemm(Op::NoTrans, Op::NoTrans, A.below(), B.n, A.pivots, T(-1), A.data + A.pivots, A.ld,
                static_cast<const T*>(B.data), B.ld, T(1), B.data + A.pivots, B.ld);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    const RowsBelow<const T> A(tile<const T>(buffers[0]), args.first);
    const RowsBelow<T> B(tile<T>(buffers[2]), args.first);
    check("laswp", device::laswp<T>(device::local_solver().handle, B.n, B.data, B.ld, A.pivots,
                                    tile<const int>(buffers[1]).data, 1));
    solve(on, buffers, args, {A.data, A.pivots, A.pivots, A.ld}, {B.data, A.pivots, B.n, B.ld});
    subtract(on, A, B);
  }

  /// B ← L⁻¹ B
  static void solve(const OnDevice& on, void* buffers[], const Args& args, const Tile<const T>& L, const Tile<T>& B) {
    const TriangularArgs<T> triangular{.work = args.work,
                                       .side = Side::Left,
                                       .uplo = Uplo::Lower,
                                       .op = Op::NoTrans,
                                       .diag = Diag::Unit,
                                       .alpha = T(1),
                                       .blocked = args.blocked,
                                       .sum = nullptr,
                                       .spreads = true};
    if (args.blocked && TriangularBlocks<T>(triangular, L, B)
                            .solve_by(tile<const T>(buffers[3]), inverses_of(starpu_task_get_current()->handles[3])))
      return;
    check("trsm", device::trsm<T>(on.handle, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, B.m, B.n, T(1), L.data,
                                  L.ld, B.data, B.ld));
  }
#endif
};

template <Scalar T>
struct Laswp {
  using Args = LaswpArgs;

  /// @param exchange  (B, ldb, count, pivots, step) for some rows of B
  static void run(void* buffers[], const Args& args, auto exchange) {
    const auto B = tile<T>(buffers[0]);
    const int tiles = starpu_task_get_current()->nbuffers - 1;
    for (int i = 0; i < tiles; i++) {
      const auto pivots = tile<const int>(buffers[1 + i]);
      exchange(B.data + args.first + i * args.step, B.ld, B.n, pivots.m, pivots.data, args.backwards ? -1 : 1);
    }
  }
  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    run(buffers, args, [](T* B, int ld, int n, int count, const int* pivots, int step) {
      host::laswp<T>(n, B, ld, count, pivots, step);
    });
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& /*on*/, void* buffers[], const Args& args) {
    run(buffers, args, [](T* B, int ld, int n, int count, const int* pivots, int step) {
      check("laswp", device::laswp<T>(device::local_solver().handle, n, B, ld, count, pivots, step));
    });
  }
#endif
};

template <Scalar T>
struct PanelSolve {
  using Args = PanelSolveArgs;

  /// @param solve  (uplo, op, diag, n, nrhs, A, lda, B, ldb): B ← op(A)⁻¹ B
  static void run(const auto& blas, void* buffers[], const Args& args, auto solve) {
    const auto A = tile<const T>(buffers[0]);
    const auto B = tile<T>(buffers[1]);
    const bool upper = args.uplo == Uplo::Upper;
    const int first = static_cast<int>(args.first), other = upper ? 0 : first + A.n;
    const int count = upper ? first : A.m - other;  // rows of A beside the triangle
    T *const own = B.data + first, *const others = B.data + other;
    const auto diagonal = [&] {
      solve(args.uplo, args.op, upper ? Diag::NonUnit : Diag::Unit, A.n, B.n, A.data + first, A.ld, own, B.ld);
    };
    if (args.op == Op::NoTrans) diagonal();
    if (count > 0 && args.op == Op::NoTrans)
      blas.gemm(Op::NoTrans, Op::NoTrans, count, B.n, A.n, T(-1), A.data + other, A.ld, static_cast<const T*>(own),
                B.ld, T(1), others, B.ld);
    if (count > 0 && args.op != Op::NoTrans)
      blas.gemm(args.op, Op::NoTrans, A.n, B.n, count, T(-1), A.data + other, A.ld, static_cast<const T*>(others), B.ld,
                T(1), own, B.ld);
    if (args.op != Op::NoTrans) diagonal();
  }
  static void run(const OnHost& blas, void* buffers[], const Args& args) {
    run(blas, buffers, args, [](Uplo uplo, Op op, Diag diag, int n, int nrhs, const T* A, int lda, T* B, int ldb) {
      host::trsm<T>(Side::Left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb);
    });
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](Uplo uplo, Op op, Diag diag, int n, int nrhs, const T* A, int lda, T* B, int ldb) {
      check("trsm", device::trsm<T>(on.handle, Side::Left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb));
    });
  }
#endif
};

}  // namespace

template <Scalar T>
starpu_codelet& getrf() {
  return codelet_of<Getrf<T>>("getrf");
}
INSTANTIATE_FOR_ALL_TYPES(getrf)

template <Scalar T>
starpu_codelet& panel_update() {
  return codelet_of<PanelUpdate<T>>("panel_update");
}
INSTANTIATE_FOR_ALL_TYPES(panel_update)

template <Scalar T>
starpu_codelet& laswp() {
  return codelet_of<Laswp<T>>("laswp");
}
INSTANTIATE_FOR_ALL_TYPES(laswp)

template <Scalar T>
starpu_codelet& panel_solve() {
  return codelet_of<PanelSolve<T>>("panel_solve");
}
INSTANTIATE_FOR_ALL_TYPES(panel_solve)

}  // namespace tessera::codelets

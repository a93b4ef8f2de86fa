// SPDX-License-Identifier: BSD-3-Clause
// The tile operations that invert a matrix from the panels of its LU factorization.
#include <algorithm>

#include "device_triangle.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "devices/row_moves.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

/// A panel in two parts: the rows above its part of the diagonal, and the square on the diagonal.
template <typename T>
struct UpperPanel {
  Tile<T> above, square;

  /// @param columns  the number of rows of the square
  UpperPanel(const Tile<T>& panel, Index first, int columns)
      : above{panel.data, static_cast<int>(first), panel.n, panel.ld}, square{panel.data + first, columns, panel.n,
                                                                              panel.ld} {}
};

template <Scalar T>
struct PanelMultiply {
  using Args = PanelArgs;

  /// @param multiply  a function (A, B), which computes B ← A B for an upper triangular A
  static void run(const auto& blas, void* buffers[], const Args& args, auto multiply) {
    const auto panel = tile<const T>(buffers[0]);
    const UpperPanel<const T> A(panel, args.first, panel.n);
    const UpperPanel<T> B(tile<T>(buffers[1]), args.first, panel.n);
    const T* const factor = B.square.data;
    if (A.above.m > 0)
      blas.gemm(Op::NoTrans, Op::NoTrans, A.above.m, B.above.n, A.above.n, T(1), A.above.data, A.above.ld, factor,
                B.square.ld, T(1), B.above.data, B.above.ld);
    multiply(A.square, B.square);
  }
  static void run(const device::OnHost& blas, void* buffers[], const Args& args) {
    run(blas, buffers, args, [](const Tile<const T>& A, const Tile<T>& B) {
      device::cpu::trmm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, B.m, B.n, T(1), A.data, A.ld, B.data,
                           B.ld);
    });
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](const Tile<const T>& A, const Tile<T>& B) {
      const auto triangular = triangular_args(args.work, Side::Left, Uplo::Upper, Diag::NonUnit, T(1), true);
      TriangularBlocks<T>(triangular, A, B).multiply_copies();
    });
  }
#endif
};

template <Scalar T>
struct PanelInvert {
  using Args = PanelInvertArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto panel = tile<T>(buffers[0]);
    const UpperPanel<T> A(panel, args.first, panel.n);
    if (A.above.m > 0)
      device::cpu::trsm<T>(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, A.above.m, A.above.n, T(-1),
                           A.square.data, A.square.ld, A.above.data, A.above.ld);
    // A zero on the diagonal, which `find_zero` reports, leaves the square unchanged.
    static_cast<void>(device::cpu::trtri<T>(Uplo::Upper, Diag::NonUnit, A.square.n, A.square.data, A.square.ld));
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto panel = tile<T>(buffers[0]);
    const UpperPanel<T> A(panel, args.first, panel.n);
    const Tile<const T> square{A.square.data, A.square.m, A.square.n, A.square.ld};
    FoundInverses<T> inverses;
    if (args.blocked) {
      const auto D = tile<T>(buffers[2]);
      inverses = {{D.data, D.m, D.n, D.ld}, inverted_diagonal_blocks<T>(square, D, Uplo::Upper, Diag::NonUnit)};
    }
    const auto triangular = triangular_args(args.work, Side::Right, Uplo::Upper, Diag::NonUnit, T(-1), args.blocked);
    solve<T>(on, triangular, square, A.above, inverses);
    invert_triangle<T>(on, Uplo::Upper, Diag::NonUnit, A.square, tile<T>(buffers[1]), inverses);
  }
#endif
};

template <Scalar T>
struct SplitPanel {
  using Args = PanelArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]), L = tile<T>(buffers[1]);
    for (int j = 0; j < L.n; j++) {
      T* const column = element(A, static_cast<int>(args.first), j);
      std::copy_n(column, L.m, element(L, 0, j));
      std::fill(column + j + 1, column + L.m, T{});
    }
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto panel = tile<T>(buffers[0]), L = tile<T>(buffers[1]);
    const Tile<T> A{panel.data + args.first, L.m, L.n, panel.ld};
    device::check("copy", device::cuda::scale<T>(on.handle, L.m, L.n, T(1), A.data, A.ld, L.data, L.ld));
    clear(A);
    copy_triangle<T>(on, Uplo::Upper, {L.data, L.n, L.n, L.ld}, A);
  }
#endif
};

template <Scalar T>
struct SwapColumns {
  using Args = SwapColumnsArgs;
  static constexpr bool reads_indices = true;

  /// @param swap  a function (m, x, y), which exchanges two columns of m elements
  static void run(void* buffers[], const Args& args, auto swap) {
    const auto pivots = tile<const int>(buffers[0]);
    const auto A = tile<T>(buffers[1]);
    const Index others = starpu_task_get_current()->nbuffers - 2;
    for (int i = device::PivotTile::count(pivots.m) - 1; i >= 0; i--) {
      const Index target = pivots.data[i] - 1, beyond = target - args.distance;
      if (target == i) continue;
      if (target < A.n) {
        if (args.within) swap(A.m, element(A, 0, i), element(A, 0, static_cast<int>(target)));
      } else if (beyond >= 0 && beyond < others * args.panel) {
        const auto B = tile<T>(buffers[2 + beyond / args.panel]);
        swap(A.m, element(A, 0, i), element(B, 0, static_cast<int>(beyond % args.panel)));
      }
    }
  }
  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    run(buffers, args, [](int m, T* x, T* y) { std::swap_ranges(x, x + m, y); });
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    run(buffers, args, [&](int m, T* x, T* y) { device::check("swap", device::cuda::swap<T>(on.handle, m, x, y)); });
  }
#endif
};

}  // namespace

starpu_codelet& panel_multiply(char type) { return codelet_of<PanelMultiply>(type, "panel_multiply"); }

starpu_codelet& panel_invert(char type) { return codelet_of<PanelInvert>(type, "panel_invert"); }

starpu_codelet& split_panel(char type) { return codelet_of<SplitPanel>(type, "split_panel"); }

/// The pivots must be in host memory, because the thread that drives the GPU submits an operation for each exchange.
starpu_codelet& swap_columns(char type) { return codelet_of<SwapColumns>(type, "swap_columns", 0); }

}  // namespace tessera::codelets

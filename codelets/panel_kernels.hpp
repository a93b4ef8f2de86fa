// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "devices/cpu/host_lapack.hpp"
#include "devices/row_moves.hpp"
#include "devices/tile_stack.hpp"
#include "kernel.hpp"
#include "not_finite.hpp"
#include "opencl_triangle.hpp"
#include "panel_factorization.hpp"
#include "triangular_blocks.hpp"

/// Kernels on panels that several codelets share: the factorization, and the update of another panel.
namespace tessera::codelets {

using device::TileStack;

/// The pivots of a task, whose buffer follows the tiles of its first panel.
inline int* pivots_in(void* buffers[], int tiles) { return tile<int>(buffers[tiles]).data; }

inline starpu_data_handle_t handle_of(int buffer) { return STARPU_TASK_GET_HANDLE(starpu_task_get_current(), buffer); }

/// Exchanges rows `first` + i and `first` + pivots[i] − 1 of B; in reverse order if `step` is -1.
template <typename T>
void exchange_rows(const TileStack<T>& B, int first, const int* pivots, int count, int step) {
  if (B.count() == 1) return device::cpu::laswp<T>(B.n(), &B.at(first, 0), B.tile(0).ld, count, pivots, step);
  for (int j = 0; j < B.n(); j++)
    for (int i = 0; i < count; i++) {
      const int k = step > 0 ? i : count - 1 - i;
      std::swap(B.at(first + k, j), B.at(first + pivots[k] - 1, j));
    }
}

#ifdef TESSERA_WITH_CUDA
/// Exchanges rows of B on a GPU by the pivots of a PivotTile; in reverse order if `step` is -1.
template <typename T>
void move_rows(const TileStack<T>& B, int first, int* pivots, int count, bool backwards) {
  static_assert(device::cuda::TileColumn<T>::most_tiles == most_tile_rows);
  device::cuda::TileColumn<T> column{};
  column.tile_m = B.tile_m();
  for (int i = 0; i < B.count(); i++) column.data[i] = B.tile(i).data, column.ld[i] = B.tile(i).ld;
  const int batches = PivotTile::batches(count), most = 2 * std::min(count, PivotTile::batch);
  for (int i = 0; i < batches; i++) {
    const auto moves = PivotTile::moves(pivots, count, backwards ? batches - 1 - i : i);
    device::check("laswp", device::cuda::move_rows<T>(device::cuda::local_stream(), column, first, B.n(),
                                                      {moves.count, moves.destination, moves.source, most}, backwards));
  }
}
#endif

template <Scalar T>
struct Getrf {
  using Args = GetrfArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const TileStack<T> A(buffers, args.tiles);
    const int m = A.m() - args.first, order = std::min(m, A.n());
    int* const pivots = pivots_in(buffers, args.tiles);
    int info = 0;
    if (args.tiles == 1) {
      info = factorize({&A.at(args.first, 0), m, A.n(), A.tile(0).ld}, pivots);
    } else {
      std::vector<T> gathered(static_cast<std::size_t>(m) * static_cast<std::size_t>(A.n()));
      const auto for_each = [&](auto copy) {
        for (int j = 0; j < A.n(); j++)
          for (int i = 0; i < m; i++)
            copy(A.at(args.first + i, j), gathered[static_cast<std::size_t>(Index{j} * m + i)]);
      };
      for_each([](const T& in_tile, T& copy) { copy = in_tile; });
      info = factorize({gathered.data(), m, A.n(), m}, pivots);
      for_each([](T& in_tile, const T& copy) { in_tile = copy; });
    }
    PivotTile::write_moves(pivots, order);
    if (info > 0) args.value->report(args.place + info);
    if (args.blocked) set_inverses(handle_of(args.tiles + 1), {Inverses::Refused, 0});
  }

  static int factorize(const Tile<T>& panel, int* pivots) {
    if (!all_finite<T>({panel.data, panel.m, panel.n, panel.ld})) return factorize_not_finite(panel, pivots);
    return device::cpu::getrf<T>(panel.m, panel.n, panel.data, panel.ld, pivots);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& /*on*/, void* buffers[], const Args& args) {
    const TileStack<T> A(buffers, args.tiles);
    if (args.blocked) set_inverses(handle_of(args.tiles + 1), {Inverses::Refused, 0});
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr) return;  // the failure has been reported
    const int m = A.m() - args.first;
    // A panel of several tiles is gathered, because fewer and larger products suffice for a contiguous panel.
    const std::size_t gathered =
        args.tiles == 1 ? 0 : aligned(static_cast<std::size_t>(m) * static_cast<std::size_t>(A.n()) * sizeof(T));
    Tile<T> panel{A.tile(0).data + args.first, m, A.n(), args.tiles == 1 ? A.tile(0).ld : m};
    auto& report = device::cuda::new_report();
    PanelFactorization<T> factorization(panel, pivots_in(buffers, args.tiles), &report.info);
    const auto own = factorization.workspace_bytes();
    auto* const workspace = own ? static_cast<std::byte*>(device::cuda::solver_workspace(gathered + *own)) : nullptr;
    if (workspace == nullptr) return;  // the failure has been reported
    if (args.tiles > 1) {
      panel.data = reinterpret_cast<T*>(workspace);
      for_each_part(A, args.first, panel, [](const Tile<T>& part, const Tile<T>& copy) { copy_tile(part, copy); });
    }
    factorization.run(panel.data, workspace + gathered);
    if (args.tiles > 1)
      for_each_part(A, args.first, panel, [](const Tile<T>& part, const Tile<T>& copy) { copy_tile(copy, part); });
    device::when_complete([&report, place = args.place, value = args.value] {
      if (report.info > 0) value->report(place + report.info);
    });
    if (!args.blocked) return;
    const int order = std::min(m, A.n());
    const auto L =
        A.rows(args.first, args.first + order);  // not the gathered copy, whose workspace the inversion needs
    invert_diagonal_blocks<T>({L.data, order, order, L.ld}, tile<T>(buffers[args.tiles + 1]), Uplo::Lower, Diag::Unit,
                              handle_of(args.tiles + 1));
  }

  static std::size_t aligned(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    return (bytes + alignment - 1) / alignment * alignment;
  }

  /// Calls body(part of a tile of A, its position in the panel) for all tiles.
  static void for_each_part(const TileStack<T>& A, int first, const Tile<T>& panel, auto body) {
    int row = 0;
    for (int i = 0; i < A.count(); i++) {
      const auto part = A.part(i, first, A.m());
      body(part, Tile<T>{panel.data + row, part.m, part.n, panel.ld});
      row += part.m;
    }
  }

  static void copy_tile(const Tile<T>& from, const Tile<T>& to) {
    device::check("copy of a panel", device::cuda::copy_matrix(device::cuda::local_stream(), from.m, from.n, from.data,
                                                               from.ld, to.data, to.ld));
  }
#endif
};

template <Scalar T>
struct PanelUpdate {
  using Args = PanelUpdateArgs;
  static constexpr bool reads_indices = true;

  /// The panels of a task, and the blocks on which its steps work.
  struct Panels {
    TileStack<const T> A;
    int* pivots;
    TileStack<T> B;
    int first, order;

    Panels(void* buffers[], const Args& args)
        : A(buffers, args.tiles), pivots(pivots_in(buffers, args.tiles)), B(buffers + args.tiles + 1, args.tiles),
          first(args.first), order(std::min(A.m() - args.first, A.n())) {}
    Tile<const T> L() const { return A.rows(first, first + order); }
    Tile<T> U() const { return B.rows(first, first + order); }
  };

  static void run(const device::OnHost& blas, void* buffers[], const Args& args) {
    const Panels p(buffers, args);
    exchange_rows(p.B, p.first, p.pivots, p.order, 1);
    const auto L = p.L();
    const auto U = p.U();
    device::cpu::trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, p.order, U.n, T(1), L.data, L.ld, U.data,
                         U.ld);
    subtract(blas, p);
  }

  static void subtract(const auto& blas, const Panels& p) {
    const auto U = p.U();
    for (int i = 0; i < p.A.count(); i++) {
      const auto A = p.A.part(i, p.first + p.order, p.A.m());
      const auto B = p.B.part(i, p.first + p.order, p.B.m());
      if (A.m > 0)
        blas.gemm(Op::NoTrans, Op::NoTrans, A.m, B.n, p.order, T(-1), A.data, A.ld, static_cast<const T*>(U.data), U.ld,
                  T(1), B.data, B.ld);
    }
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    run(on, buffers, args, args.blocked ? inverses_of(handle_of(2 * args.tiles + 1)) : Inverses{Inverses::Refused, 0});
  }
  static void run(const device::OnDevice& on, void* buffers[], const Args& args, const Inverses& inverses) {
    const Panels p(buffers, args);
    move_rows(p.B, p.first, p.pivots, p.order, false);
    const auto L = p.L();
    solve(on, buffers, args, inverses, {L.data, p.order, p.order, L.ld}, p.U());
    subtract(on, p);
  }

  /// B ← L⁻¹ B
  static void solve(const device::OnDevice& on, void* buffers[], const Args& args, const Inverses& inverses,
                    const Tile<const T>& L, const Tile<T>& B) {
    const auto triangle = triangular_args(args.work, Side::Left, Uplo::Lower, Diag::Unit, T(1), args.blocked);
    if (args.blocked &&
        TriangularBlocks<T>(triangle, L, B).solve_by(tile<const T>(buffers[2 * args.tiles + 1]), inverses))
      return;
    device::check("trsm", device::cuda::trsm<T>(on.handle, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, B.m, B.n,
                                                T(1), L.data, L.ld, B.data, B.ld));
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    const Panels p(buffers, args);
    on.move_rows(p.B, p.first, p.pivots, p.order, false);
    const auto L = p.L();
    codelets::solve<T>(on, triangular_args(args.work, Side::Left, Uplo::Lower, Diag::Unit, T(1), false),
                       {L.data, p.order, p.order, L.ld}, p.U());
    subtract(on, p);
  }
#endif
};

}  // namespace tessera::codelets

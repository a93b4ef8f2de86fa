// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef TESSERA_WITH_CUDA

#include <algorithm>

#include "common/triangle.hpp"
#include "devices/cuda/cublas.hpp"
#include "devices/cuda/handles.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

/// Operations with the triangle of a tile on a GPU: copy, inverse, solve.
namespace tessera::codelets {

/// C ← 0
template <Scalar T>
void clear(const Tile<T>& C) {
  device::check("clear", device::cuda::clear_matrix(device::cuda::local_stream(), C.m, C.n, C.data, C.ld));
}

/// A triangle of C ← the same triangle of A. The rest of C keeps its values.
template <Scalar T>
void copy_triangle(const device::OnDevice& on, Uplo uplo, const Tile<const T>& A, const Tile<T>& C) {
  const device::cuda::LeafWorkspace<T> workspace;
  common::cut_triangle(
      uplo, A.n, device::cuda::leaf,
      [&](const common::Rectangle& r) {
        device::check("copy", device::cuda::scale<T>(on.handle, r.m, r.n, T(1), element(A, r.i, r.j), A.ld,
                                                     element(C, r.i, r.j), C.ld));
      },
      [&](int first, int order) {
        device::check("copy", device::cuda::copy_triangle<T>(on.handle, uplo, order, element(A, first, first), A.ld,
                                                             workspace.packed, element(C, first, first), C.ld));
      });
}

/// The inverses of the diagonal blocks of a triangle.
template <Scalar T>
struct FoundInverses {
  Tile<const T> tile{};
  Inverses use{Inverses::Refused, 0};
};

/// B ← α op(A)⁻¹ B, by products if the inverses of the diagonal blocks are accurate enough.
template <Scalar T>
void solve(const device::OnDevice& on, const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B,
           const FoundInverses<T>& inverses) {
  if (B.m == 0 || B.n == 0 || TriangularBlocks<T>(args, A, B).solve_by(inverses.tile, inverses.use)) return;
  device::check("trsm", device::cuda::trsm<T>(on.handle, args.side, args.uplo, args.op, args.diag, B.m, B.n,
                                              T(args.alpha), A.data, A.ld, B.data, B.ld));
}

/// A triangle of A ← its inverse. A unit diagonal keeps its values.
/// @param W  workspace, a tile of the same order
template <Scalar T>
void invert_triangle(const device::OnDevice& on, Uplo uplo, Diag diag, const Tile<T>& A, const Tile<T>& W,
                     const FoundInverses<T>& inverses) {
  const Tile<const T> triangle{A.data, A.n, A.n, A.ld};
  clear(W);
  for (int first = 0; first < W.n; first += device::cuda::leaf)
    device::cuda::set_unit_diagonal<T>(std::min(device::cuda::leaf, W.n - first), element(W, first, first), W.ld);
  const auto args = triangular_args({}, Side::Left, uplo, diag, T(1), true);
  solve<T>(on, args, triangle, W, inverses);
  if (diag == Diag::Unit)
    device::check("copy", device::cuda::copy<T>(on.handle, A.n, A.data, A.ld + Index{1}, W.data, W.ld + Index{1}));
  copy_triangle<T>(on, uplo, {W.data, W.n, W.n, W.ld}, A);
}

}  // namespace tessera::codelets

#endif

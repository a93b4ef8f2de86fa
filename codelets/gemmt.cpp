// SPDX-License-Identifier: BSD-3-Clause
// A triangle of a product. CBLAS and cuBLAS lack some variants of this operation, so gemm computes the rectangles off
// the diagonal, and the diagonal blocks as squares in a workspace, from which the triangles are copied.
#include <algorithm>
#include <vector>

#include "kernel.hpp"

namespace tessera::codelets {

using common::Rectangle;

namespace {

template <Scalar T>
struct Gemmt {
  using Args = GemmtArgs;

  /// Returns a function (i, j, m, n, β, D, ld), which computes D ← P + β D, where P is the m×n part of α op(A) op(B)
  /// that begins at (i, j).
  static auto product_on(const auto& blas, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const int k = args.op_a == Op::NoTrans ? A.n : A.m;
    return [=, &blas, &args](int i, int j, int m, int n, T beta, T* D, int ld) {
      blas.gemm(args.op_a, args.op_b, m, n, k, T(args.alpha), row(args.op_a, A, i), A.ld, column(args.op_b, B, j), B.ld,
                beta, D, ld);
    };
  }

  static void run(const device::OnHost& blas, void* buffers[], const Args& args) {
    const Uplo uplo = args.uplo;
    const auto beta = T(args.beta);
    const auto C = tile<T>(buffers[2]);
    const int leaf = std::min(128, C.n);
    const auto product = product_on(blas, buffers, args);
    std::vector<T> square(static_cast<std::size_t>(leaf) * leaf);
    common::cut_trapezoid(
        uplo, C.m, C.n, args.first_row, leaf,
        [&](const Rectangle& r) { product(r.i, r.j, r.m, r.n, beta, element(C, r.i, r.j), C.ld); },
        [&](int row, int column, int n) {
          product(row, column, n, n, T{}, square.data(), leaf);
          for (int j = 0; j < n; j++) {
            const int begin = uplo == Uplo::Lower ? j : 0, count = uplo == Uplo::Lower ? n - j : j + 1;
            const T* from = square.data() + begin + static_cast<Index>(j) * leaf;
            T* to = element(C, row + begin, column + j);
            if (beta == T{}) {
              std::copy_n(from, count, to);
            } else {
              if (beta != T(1)) device::cpu::scal(count, beta, to);
              for (int i = 0; i < count; i++) to[i] += from[i];
            }
          }
        });
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const Uplo uplo = args.uplo;
    const auto beta = T(args.beta);
    const auto C = tile<T>(buffers[2]);
    const auto product = product_on(on, buffers, args);
    const auto rectangle = [&](const Rectangle& r) { product(r.i, r.j, r.m, r.n, beta, element(C, r.i, r.j), C.ld); };
    if (fills_square(on, buffers[2], C.n)) return rectangle(common::around_trapezoid(uplo, C.m, C.n, args.first_row));
    const device::cuda::LeafWorkspace<T> workspace;
    common::cut_trapezoid(
        uplo, C.m, C.n, args.first_row, device::cuda::leaf, rectangle, [&](int row, int column, int n) {
          T* const corner = element(C, row, column);
          if (beta != T{})
            device::check("gemmt", device::cuda::scale<T>(on.handle, n, n, T(1), corner, C.ld, workspace.square,
                                                          device::cuda::leaf));
          product(row, column, n, n, beta, workspace.square, device::cuda::leaf);
          device::check("gemmt", device::cuda::copy_triangle<T>(on.handle, uplo, n, workspace.square,
                                                                device::cuda::leaf, workspace.packed, corner, C.ld));
        });
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]), B = tile<const T>(buffers[1]);
    const auto C = tile<T>(buffers[2]);
    const int k = args.op_a == Op::NoTrans ? A.n : A.m;
    const auto product = [&](const device::opencl::Place& D, const Rectangle& r, T beta) {
      on.gemm_to<T>(D, args.op_a, args.op_b, r.m, r.n, k, T(args.alpha), row(args.op_a, A, r.i), A.ld,
                    column(args.op_b, B, r.j), B.ld, beta);
    };
    common::cut_trapezoid(
        args.uplo, C.m, C.n, args.first_row, device::opencl::leaf,
        [&](const Rectangle& r) { product(on.place(element(C, r.i, r.j), C.ld), r, T(args.beta)); },
        [&](int row, int column, int n) {
          product(on.square(), {row, column, n, n}, T{});
          on.add<T>({.m = n, .n = n, .part = common::part_of(args.uplo)}, on.square(), T(args.beta),
                    element(C, row, column), C.ld);
        });
  }
#endif
};

}  // namespace

starpu_codelet& gemmt(char type) { return codelet_of<Gemmt>(type, "gemmt"); }

}  // namespace tessera::codelets

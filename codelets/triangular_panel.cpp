// SPDX-License-Identifier: BSD-3-Clause
// The tile operations of trsm and trmm in tall panels.

#include "kernel.hpp"
#include "opencl_triangle.hpp"
#include "triangular_blocks.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/magnitude.hpp"
#endif

namespace tessera::codelets {

namespace {

template <Scalar T, bool inverse>
struct TriangularPanel {
  using Args = TriangularPanelArgs;

  /// Rows [first, first + count) of B if the triangle is on the left, or columns [first, first + count) if it is on the
  /// right.
  template <typename U>
  static Tile<U> rows_of(const Args& args, const Tile<U>& B, int first, int count) {
    if (args.side == Side::Left) return {B.data + first, count, B.n, B.ld};
    return {element(B, 0, first), B.m, count, B.ld};
  }

  /// The parts of the panels on which a step works.
  struct Parts {
    Tile<const T> triangle, rest;
    Tile<T> own, others;

    Parts(void* buffers[], const Args& args) {
      const auto A = tile<const T>(buffers[0]);
      const auto B = tile<T>(buffers[1]);
      const bool lower = args.uplo == Uplo::Lower;
      const int begin = lower ? args.first + A.n : 0, count = lower ? A.m - begin : args.first;
      triangle = {A.data + args.first, A.n, A.n, A.ld};
      rest = {A.data + begin, count, A.n, A.ld};
      own = rows_of(args, B, args.first, A.n);
      others = rows_of(args, B, begin, count);
    }
  };

  /// to ← α op(rest) from + β to (Left), or α from op(rest) + β to (Right)
  static void add_product(const auto& blas, const Args& args, T alpha, const Tile<const T>& rest, const Tile<T>& from,
                          T beta, const Tile<T>& to) {
    const T* const x = from.data;
    if (args.side == Side::Left)
      blas.gemm(args.op, Op::NoTrans, to.m, to.n, from.m, alpha, rest.data, rest.ld, x, from.ld, beta, to.data, to.ld);
    else
      blas.gemm(Op::NoTrans, args.op, to.m, to.n, from.n, alpha, x, from.ld, rest.data, rest.ld, beta, to.data, to.ld);
  }

  /// @param diagonal  a function of the Parts and α, which solves with the triangle or multiplies by it
  static void run(const auto& blas, void* buffers[], const Args& args, auto diagonal) {
    const Parts p(buffers, args);
    const bool alone = p.others.m == 0 || p.others.n == 0;
    const auto &from = args.gathers() ? p.others : p.own, &to = args.gathers() ? p.own : p.others;
    const T alpha(args.alpha);
    const bool product_first = inverse == args.gathers();
    using enum TriangularPanelArgs::Part;
    if (!product_first) diagonal(p, alpha);
    if (!alone && args.part != Diagonal)
      add_product(blas, args, inverse ? T(-1) : alpha, p.rest, from, inverse ? alpha : T(1), to);
    if (product_first && args.part != Product) diagonal(p, inverse && !alone ? T(1) : alpha);
  }

  static void run(const device::OnHost& blas, void* buffers[], const Args& args) {
    run(blas, buffers, args, [&](const Parts& p, T alpha) {
      const auto operation = inverse ? device::cpu::trsm<T> : device::cpu::trmm<T>;
      operation(args.side, args.uplo, args.op, args.diag, p.own.m, p.own.n, alpha, p.triangle.data, p.triangle.ld,
                p.own.data, p.own.ld);
    });
    memory::sum_slots::give_back(args.sum);
    if (args.next_sum == nullptr) return;
    const auto next = rows_of(args, tile<const T>(buffers[1]), args.next_first, args.next_rows);
    Real<T> sum{};
    for (int j = 0; j < next.n; j++) sum += device::cpu::sum_of_magnitudes<T>(next.m, element(next, 0, j));
    *static_cast<Real<T>*>(args.next_sum) = sum;
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](const Parts& p, T alpha) {
      const auto own = with(args, alpha);
      if constexpr (!inverse) multiply_on_device(own, p.triangle, p.own);
      else if (args.blocked)
        solve_on_device(own, p.triangle, p.own, starpu_task_get_current()->handles[2], tile<const T>(buffers[2]));
      else solve_on_device(own, p.triangle, p.own, nullptr, {});
    });
    if (args.next_sum == nullptr) return;
    // The largest magnitude also shows whether an element is not finite.
    const auto& lane = device::cuda::local_lane();
    const auto next = rows_of(args, tile<const T>(buffers[1]), args.next_first, args.next_rows);
    device::check("inspection of a panel",
                  device::cuda::add_magnitude<T>(lane.stream, next.m, next.n, next.data, next.ld, lane.values));
    device::check("inspection of a panel",
                  device::cuda::take_value(lane.stream, lane.values, static_cast<Real<T>*>(args.next_sum)));
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](const Parts& p, T alpha) {
      const auto own = with(args, alpha);
      if constexpr (inverse) solve<T>(on, own, p.triangle, p.own);
      else multiply<T>(on, own, p.triangle, p.own);
    });
  }
#endif

 private:
  static TriangularArgs with(TriangularArgs args, T alpha) {
    args.alpha = alpha;
    return args;
  }
};

}  // namespace

starpu_codelet& trmm_panel(char type) { return codelet_of<TriangularPanel, false>(type, "trmm_panel"); }

starpu_codelet& trsm_panel(char type) { return codelet_of<TriangularPanel, true>(type, "trsm_panel"); }

}  // namespace tessera::codelets

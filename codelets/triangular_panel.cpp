// SPDX-License-Identifier: BSD-3-Clause
// The tile operations of trsm and trmm in tall panels.
#include <algorithm>
#include <cmath>

#include "kernel.hpp"
#include "opencl_triangle.hpp"
#include "triangular_blocks.hpp"

#ifdef TESSERA_WITH_CUDA
#include "device_magnitude.hpp"
#endif

namespace tessera::codelets {

namespace {

template <Scalar T, bool inverse>
struct TriangularPanel {
  using Args = TriangularPanelArgs;

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
      own = {B.data + args.first, A.n, B.n, B.ld};
      others = {B.data + begin, count, B.n, B.ld};
    }
  };

  /// @param diagonal  a function of the Parts, which solves with the triangle or multiplies by it
  static void run(const auto& blas, void* buffers[], const Args& args, auto diagonal) {
    const Parts p(buffers, args);
    if (inverse) diagonal(p);
    if (p.others.m > 0)
      blas.gemm(Op::NoTrans, Op::NoTrans, p.others.m, p.others.n, p.own.m, inverse ? T(-1) : T(args.alpha), p.rest.data,
                p.rest.ld, static_cast<const T*>(p.own.data), p.own.ld, inverse ? T(args.alpha) : T(1), p.others.data,
                p.others.ld);
    if (!inverse) diagonal(p);
  }

  static void run(const OnHost& blas, void* buffers[], const Args& args) {
    run(blas, buffers, args, [&](const Parts& p) {
      const auto operation = inverse ? host::trsm<T> : host::trmm<T>;
      operation(Side::Left, args.uplo, Op::NoTrans, args.diag, p.own.m, p.own.n, T(args.alpha), p.triangle.data,
                p.triangle.ld, p.own.data, p.own.ld);
    });
    sum_slots::give_back(args.sum);
    if (args.next_sum == nullptr) return;
    const auto B = tile<const T>(buffers[1]);
    Real<T> sum{};
    for (int j = 0; j < B.n; j++) sum += host::sum_of_magnitudes<T>(args.next_rows, element(B, args.next_first, j));
    *static_cast<Real<T>*>(args.next_sum) = sum;
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](const Parts& p) {
      if constexpr (!inverse) multiply_on_device(args, p.triangle, p.own);
      else if (args.blocked)
        solve_on_device(args, p.triangle, p.own, starpu_task_get_current()->handles[2], tile<const T>(buffers[2]));
      else solve_on_device(args, p.triangle, p.own, nullptr, {});
    });
    if (args.next_sum == nullptr) return;
    // The largest magnitude also shows whether an element is not finite.
    const auto& lane = device::local_lane();
    const auto B = tile<const T>(buffers[1]);
    check("inspection of a panel", device::add_magnitude<T>(lane.stream, args.next_rows, B.n,
                                                            element(B, args.next_first, 0), B.ld, lane.values));
    check("inspection of a panel", device::take_value(lane.stream, lane.values, static_cast<Real<T>*>(args.next_sum)));
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const OnOpenCl& on, void* buffers[], const Args& args) {
    run(on, buffers, args, [&](const Parts& p) {
      if constexpr (inverse) solve<T>(on, args, p.triangle, p.own);
      else multiply<T>(on, args, p.triangle, p.own);
    });
  }
#endif
};

template <Scalar T>
using TrmmPanel = TriangularPanel<T, false>;
template <Scalar T>
using TrsmPanel = TriangularPanel<T, true>;

}  // namespace

starpu_codelet& trmm_panel(char type) { return codelet_of<TrmmPanel>(type, "trmm_panel"); }

starpu_codelet& trsm_panel(char type) { return codelet_of<TrsmPanel>(type, "trsm_panel"); }

}  // namespace tessera::codelets

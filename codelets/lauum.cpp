// SPDX-License-Identifier: BSD-3-Clause
#include "common/symmetry.hpp"
#include "device_triangle.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Lauum {
  using Args = LauumArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    device::cpu::lauum<T>(args.uplo, A.n, A.data, A.ld);
  }

#ifdef TESSERA_WITH_CUDA
  /// Multiplies a copy of the triangle, whose other triangle is zero: three times the work of lauum, but in one
  /// product.
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]), W = tile<T>(buffers[1]);
    clear(W);
    copy_triangle<T>(on, args.uplo, {A.data, A.n, A.n, A.ld}, W);
    const Op op = args.uplo == Uplo::Lower ? common::symmetry(is_complex<T>) : Op::NoTrans;
    const T* const triangle = W.data;
    if constexpr (is_complex<T>) on.herk(args.uplo, op, A.n, A.n, Real<T>(1), triangle, W.ld, Real<T>(0), A.data, A.ld);
    else on.syrk(args.uplo, op, A.n, A.n, T(1), triangle, W.ld, T(0), A.data, A.ld);
  }
#endif
};

}  // namespace

starpu_codelet& lauum(char type) { return codelet_of<Lauum>(type, "lauum"); }

}  // namespace tessera::codelets

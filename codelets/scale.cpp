// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

#include "kernel.hpp"

namespace tessera::codelets {

namespace {

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void scale_rectangle(T beta, T* C, int m, int n, int ld) {
  if (beta == T{}) check("scale", cudaMemset2DAsync(C, ld * sizeof(T), 0, m * sizeof(T), n, device::local_stream()));
  else check("scale", device::scale<T>(device::local_handle(), m, n, beta, C, ld, C, ld));
}
#endif

template <Scalar T>
struct Scale {
  using Args = ScaleArgs;

  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto [part, first_row, real_diagonal] = std::tuple(args.part, args.first_row, args.real_diagonal);
    const auto beta = T(args.beta);
    const auto C = tile<T>(buffers[0]);
    for (int j = 0; j < C.n; j++) {
      const int diagonal = first_row + j;
      const int first = part == Part::Lower ? diagonal : 0, end = part == Part::Upper ? diagonal + 1 : C.m;
      T* column = element(C, 0, j);
      if (real_diagonal) column[diagonal] = std::real(column[diagonal]);  // the old imaginary part must not affect it
      if (beta == T{}) std::fill_n(column + first, end - first, T{});     // 0 · NaN would be NaN
      else host::scal(end - first, beta, column + first);
      if (real_diagonal) column[diagonal] = std::real(column[diagonal]);  // scaling may have left −0
    }
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    const auto part = args.part;
    const bool real_diagonal = args.real_diagonal;
    const auto beta = T(args.beta);
    const auto C = tile<T>(buffers[0]);
    if (part == Part::All) return scale_rectangle<T>(beta, C.data, C.m, C.n, C.ld);
    const auto clear_imaginary_diagonal = [&] {
      if constexpr (is_complex<T>)
        if (real_diagonal) device::clear_imaginary_diagonal(C.n, element(C, args.first_row, 0), C.ld);
    };
    clear_imaginary_diagonal();  // before scaling: it must not spread into the real part
    const auto uplo = uplo_of(part);
    const device::LeafWorkspace<T> workspace;
    cut_trapezoid(
        uplo, C.m, C.n, args.first_row, device::leaf,
        [&](const Rectangle& r) { scale_rectangle<T>(beta, element(C, r.i, r.j), r.m, r.n, C.ld); },
        [&](int row, int column, int n) {
          T* const corner = element(C, row, column);
          if (beta == T{}) scale_rectangle<T>(beta, workspace.square, n, n, device::leaf);
          else check("scale", device::scale<T>(on.handle, n, n, beta, corner, C.ld, workspace.square, device::leaf));
          check("scale", device::copy_triangle<T>(on.handle, uplo, n, workspace.square, device::leaf, workspace.packed,
                                                  corner, C.ld));
        });
    clear_imaginary_diagonal();  // scaling may have left −0
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const OnOpenCl& on, void* buffers[], const Args& args) {
    const auto C = tile<T>(buffers[0]);
    on.scale<T>({C.m, C.n, args.part, args.first_row, args.real_diagonal}, T(args.beta), C.data, C.ld);
  }
#endif
};

}  // namespace

starpu_codelet& scale(char type) { return codelet_of<Scale>(type, "scale"); }

}  // namespace tessera::codelets

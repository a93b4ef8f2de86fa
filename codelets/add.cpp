// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Add {
  using Args = ScaleArgs;

  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto [part, first_row, real_diagonal] = std::tuple(args.part, args.first_row, args.real_diagonal);
    const auto beta = T(args.beta);
    const auto D = tile<const T>(buffers[0]);
    const auto C = tile<T>(buffers[1]);
    for (int j = 0; j < C.n; j++) {
      const int diagonal = first_row + j;
      const int first = part == Part::Lower ? diagonal : 0, end = part == Part::Upper ? diagonal + 1 : C.m;
      T* column = element(C, 0, j);
      if (real_diagonal) column[diagonal] = std::real(column[diagonal]);  // the old imaginary part must not spread
      const T* terms = element(D, 0, j);
      if (beta == T{}) {
        std::copy(terms + first, terms + end, column + first);
      } else {
        if (beta != T(1)) host::scal(end - first, beta, column + first);
        for (int i = first; i < end; i++) column[i] += terms[i];  // complex axpy turns an infinity into NaN
      }
      if (real_diagonal) column[diagonal] = std::real(column[diagonal]);  // scaling may have left −0
    }
  }

#ifdef TESSERA_WITH_CUDA
  /// C ← D. A product with 1 would change infinities and NaN of complex elements.
  static void copy(const Tile<const T>& D, const Tile<T>& C) {
    check("copy", cudaMemcpy2DAsync(C.data, C.ld * sizeof(T), D.data, D.ld * sizeof(T), C.m * sizeof(T), C.n,
                                    cudaMemcpyDeviceToDevice, device::local_stream()));
  }
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    const auto part = args.part;
    const auto beta = T(args.beta);
    const auto D = tile<const T>(buffers[0]);
    const auto C = tile<T>(buffers[1]);
    if (part == Part::All && beta == T{}) return copy(D, C);
    if (part == Part::All) return check("add", device::add<T>(on.handle, C.m, C.n, D.data, D.ld, beta, C.data, C.ld));
    const auto clear_imaginary_diagonal = [&] {
      if constexpr (is_complex<T>)
        if (args.real_diagonal) device::clear_imaginary_diagonal(C.n, element(C, args.first_row, 0), C.ld);
    };
    clear_imaginary_diagonal();  // before scaling: it must not spread into the real part
    const auto uplo = uplo_of(part);
    const device::LeafWorkspace<T> workspace;
    cut_trapezoid(
        uplo, C.m, C.n, args.first_row, device::leaf,
        [&](const Rectangle& r) {
          check("add",
                device::add<T>(on.handle, r.m, r.n, element(D, r.i, r.j), D.ld, beta, element(C, r.i, r.j), C.ld));
        },
        [&](int row, int column, int n) {
          T* const corner = element(C, row, column);
          check("add", device::geam<T>(on.handle, n, n, T(1), element(D, row, column), D.ld, beta, corner, C.ld,
                                       workspace.square, device::leaf));
          check("add", device::copy_triangle<T>(on.handle, uplo, n, workspace.square, device::leaf, workspace.packed,
                                                corner, C.ld));
        });
    clear_imaginary_diagonal();  // scaling may have left −0
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const OnOpenCl& on, void* buffers[], const Args& args) {
    const auto D = tile<const T>(buffers[0]);
    const auto C = tile<T>(buffers[1]);
    on.add<T>({C.m, C.n, args.part, args.first_row, args.real_diagonal}, on.place(D.data, D.ld), T(args.beta), C.data,
              C.ld);
  }
#endif
};

}  // namespace

starpu_codelet& add(char type) { return codelet_of<Add>(type, "add"); }

}  // namespace tessera::codelets

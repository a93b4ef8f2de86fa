// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernel.hpp"

namespace tessera::codelets {

using common::Part;

namespace {

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void scale_rectangle(T beta, T* C, int m, int n, int ld) {
  if (beta == T{}) device::check("scale", device::cuda::clear_matrix(device::cuda::local_stream(), m, n, C, ld));
  else device::check("scale", device::cuda::scale<T>(device::cuda::local_handle(), m, n, beta, C, ld, C, ld));
}
#endif

/// C ← β C, or if it `adds`, C ← D + β C.
template <Scalar T, bool adds>
struct Scale {
  using Args = ScaleArgs;

  static Tile<T> result(void* buffers[]) { return tile<T>(buffers[adds ? 1 : 0]); }

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto beta = T(args.beta);
    const auto D = tile<const T>(buffers[0]);
    const auto C = result(buffers);
    for (int j = 0; j < C.n; j++) {
      const int diagonal = args.first_row + j;
      const int first = args.part == Part::Lower ? diagonal : 0, end = args.part == Part::Upper ? diagonal + 1 : C.m;
      T* const column = element(C, 0, j);
      const T* const terms = element(D, 0, j);
      if (args.real_diagonal) column[diagonal] = std::real(column[diagonal]);  // the old imaginary part must not spread
      if (adds && beta == T{}) std::copy(terms + first, terms + end, column + first);
      else if (beta == T{}) std::fill_n(column + first, end - first, T{});  // 0 · NaN would be NaN
      else if (!adds || beta != T(1)) device::cpu::scal(end - first, beta, column + first);
      if (adds && beta != T{})
        for (int i = first; i < end; i++) column[i] += terms[i];  // complex axpy turns an infinity into NaN
      if (args.real_diagonal) column[diagonal] = std::real(column[diagonal]);  // scaling may have left −0
    }
  }

#ifdef TESSERA_WITH_CUDA
  /// C ← D. A product with 1 would change infinities and NaN of complex elements.
  static void copy(const Tile<const T>& D, const Tile<T>& C) {
    device::check("copy",
                  device::cuda::copy_matrix(device::cuda::local_stream(), C.m, C.n, D.data, D.ld, C.data, C.ld));
  }
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto beta = T(args.beta);
    const auto D = tile<const T>(buffers[0]);
    const auto C = result(buffers);
    const auto rectangle = [&](const common::Rectangle& r) {
      T* const c = element(C, r.i, r.j);
      if constexpr (adds)
        device::check("add", device::cuda::add<T>(on.handle, r.m, r.n, element(D, r.i, r.j), D.ld, beta, c, C.ld));
      else scale_rectangle<T>(beta, c, r.m, r.n, C.ld);
    };
    if (adds && args.part == Part::All && beta == T{}) return copy(D, C);
    if (args.part == Part::All) return rectangle({0, 0, C.m, C.n});
    const auto clear_imaginary_diagonal = [&] {
      if constexpr (is_complex<T>)
        if (args.real_diagonal) device::cuda::clear_imaginary_diagonal(C.n, element(C, args.first_row, 0), C.ld);
    };
    clear_imaginary_diagonal();  // before scaling: it must not spread into the real part
    const auto uplo = common::uplo_of(args.part);
    const device::cuda::LeafWorkspace<T> workspace;
    const auto corner = [&](int row, int column, int n) {
      T *const c = element(C, row, column), *const square = workspace.square;
      constexpr int ld = device::cuda::leaf;
      if constexpr (adds)
        device::check("add", device::cuda::geam<T>(on.handle, n, n, T(1), element(D, row, column), D.ld, beta, c, C.ld,
                                                   square, ld));
      else if (beta == T{}) scale_rectangle<T>(beta, square, n, n, ld);
      else device::check("scale", device::cuda::scale<T>(on.handle, n, n, beta, c, C.ld, square, ld));
      device::check(adds ? "add" : "scale",
                    device::cuda::copy_triangle<T>(on.handle, uplo, n, square, ld, workspace.packed, c, C.ld));
    };
    if (fills_square(on, buffers[adds ? 1 : 0], C.n))
      rectangle(common::around_trapezoid(uplo, C.m, C.n, args.first_row));
    else common::cut_trapezoid(uplo, C.m, C.n, args.first_row, device::cuda::leaf, rectangle, corner);
    clear_imaginary_diagonal();  // scaling may have left −0
  }
#endif

#ifdef TESSERA_WITH_OPENCL
  static void run(const device::OnOpenCl& on, void* buffers[], const Args& args) {
    const auto D = tile<const T>(buffers[0]);
    const auto C = result(buffers);
    const device::opencl::PartOf part{C.m, C.n, args.part, args.first_row, args.real_diagonal};
    if constexpr (adds) on.add<T>(part, on.place(D.data, D.ld), T(args.beta), C.data, C.ld);
    else on.scale<T>(part, T(args.beta), C.data, C.ld);
  }
#endif
};

}  // namespace

starpu_codelet& scale(char type) { return codelet_of<Scale, false>(type, "scale"); }

starpu_codelet& add(char type) { return codelet_of<Scale, true>(type, "add"); }

}  // namespace tessera::codelets

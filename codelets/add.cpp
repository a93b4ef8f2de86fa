// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void add_cpu(void* buffers[], void* arg) {
  const auto& [work, part, first_row, beta] = *static_cast<AddArgs<T>*>(arg);
  const auto D = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  for (int j = 0; j < C.n; j++) {
    const int diagonal = first_row + j;
    const int first = part == Part::Lower ? diagonal : 0, end = part == Part::Upper ? diagonal + 1 : C.m;
    T* column = element(C, 0, j);
    if (beta != T(1)) host::scal(end - first, beta, column + first);
    const T* terms = element(D, 0, j);
    for (int i = first; i < end; i++) column[i] += terms[i];  // complex axpy makes a NaN of an infinity
  }
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void add_cuda(void* buffers[], void* arg) {
  const auto& args = *static_cast<AddArgs<T>*>(arg);
  const auto part = args.part;
  const T beta = args.beta;
  const auto D = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  const auto handle = device::local_handle();
  if (part == Part::All) return check("add", device::add<T>(handle, C.m, C.n, D.data, D.ld, beta, C.data, C.ld));
  const auto uplo = uplo_of(part);
  const device::LeafWorkspace<T> workspace;
  cut_trapezoid(
      uplo, C.m, C.n, args.first_row, device::leaf,
      [&](const Rectangle& r) {
        check("add", device::add<T>(handle, r.m, r.n, element(D, r.i, r.j), D.ld, beta, element(C, r.i, r.j), C.ld));
      },
      [&](int row, int column, int n) {
        T* const corner = element(C, row, column);
        check("add", device::geam<T>(handle, n, n, T(1), element(D, row, column), D.ld, beta, corner, C.ld,
                                     workspace.square, device::leaf));
        check("add", device::copy_triangle<T>(handle, uplo, n, workspace.square, device::leaf, workspace.packed, corner,
                                              C.ld));
      });
}
#else
template <Scalar T>
const starpu_cuda_func_t add_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& add() {
  static TileOperation operation("add", add_cpu<T>, add_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& add<float>();
template starpu_codelet& add<double>();
template starpu_codelet& add<std::complex<float>>();
template starpu_codelet& add<std::complex<double>>();

}  // namespace tessera::codelets

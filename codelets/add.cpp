// SPDX-License-Identifier: BSD-3-Clause
#include "codelet.hpp"
#include "host_blas.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
void add_cpu(void* buffers[], void* arg) {
  const auto& [work, part, beta] = *static_cast<AddArgs<T>*>(arg);
  const auto D = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  for (int j = 0; j < C.n; j++) {
    const int first = part == Part::Lower ? j : 0, end = part == Part::Upper ? j + 1 : C.m;
    T* column = C.data + static_cast<Index>(j) * C.ld;
    if (beta != T(1)) host::scal(end - first, beta, column + first);
    const T* terms = D.data + static_cast<Index>(j) * D.ld;
    for (int i = first; i < end; i++) column[i] += terms[i];  // a complex axpy by 1 makes a NaN of an infinity
  }
}

#ifdef TESSERA_WITH_CUDA
template <Scalar T>
void add_cuda(void* buffers[], void* arg) {
  const auto part = static_cast<AddArgs<T>*>(arg)->part;
  const T beta = static_cast<AddArgs<T>*>(arg)->beta;
  const auto D = tile<const T>(buffers[0]);
  const auto C = tile<T>(buffers[1]);
  const auto handle = device::local_handle();
  if (part == Part::All) return check("add", device::add<T>(handle, C.m, C.n, D.data, D.ld, beta, C.data, C.ld));
  const auto uplo = uplo_of(part);
  const device::LeafWorkspace<T> workspace;
  const auto from = [&](int i, int j) { return D.data + i + static_cast<Index>(j) * D.ld; };
  const auto to = [&](int i, int j) { return C.data + i + static_cast<Index>(j) * C.ld; };
  cut_triangle(
      uplo, C.n, device::leaf,
      [&](const Rectangle& r) {
        check("add", device::add<T>(handle, r.m, r.n, from(r.i, r.j), D.ld, beta, to(r.i, r.j), C.ld));
      },
      [&](int first, int n) {
        T* const corner = to(first, first);
        check("add", device::geam<T>(handle, n, n, T(1), from(first, first), D.ld, beta, corner, C.ld, workspace.square,
                                     device::leaf));
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

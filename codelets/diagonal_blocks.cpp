// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "codelet.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

#ifdef TESSERA_WITH_CUDA

/// The largest |Re| + |Im| of n elements, if none is NaN. Waits for the stream.
template <Scalar T>
double magnitude(int n, const T* x) {
  const auto stream = starpu_cuda_get_local_stream();
  int index = 1;
  check("amax", device::largest<T>(device::local_handle(), n, x, &index));
  T element{};
  check("amax", cudaMemcpyAsync(&element, x + index - 1, sizeof(T), cudaMemcpyDeviceToHost, stream));
  check("amax", cudaStreamSynchronize(stream));
  return std::abs(std::real(element)) + std::abs(std::imag(element));
}

/// Writes the triangles on the diagonal of A to D as full matrices.
/// @pre  D is zero
template <Scalar T>
void expand(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag) {
  const device::LeafWorkspace<T> workspace;
  for (int first = 0; first < A.n; first += diagonal_block) {
    const int n = std::min(diagonal_block, A.n - first);
    T* const d = D.data + static_cast<Index>(first) * D.ld;
    check("diagonal_blocks",
          device::copy_triangle<T>(device::local_handle(), uplo, n, A.data + first + static_cast<Index>(first) * A.ld,
                                   A.ld, workspace.packed, d, D.ld));
    if (diag == Diag::Unit) device::set_unit_diagonal<T>(n, d, D.ld);
  }
}

/// Writes the inverses of the triangles on the diagonal of A to D. One batch inverts all blocks of full size.
/// @pre  D is zero
template <Scalar T>
void invert(const Tile<const T>& A, const Tile<T>& D, Uplo uplo, Diag diag) {
  const auto handle = device::local_handle();
  const int whole = A.n / diagonal_block;
  std::vector<const T*> triangles;
  std::vector<T*> results;
  for (int first = 0; first < A.n; first += diagonal_block) {
    triangles.push_back(A.data + first + static_cast<Index>(first) * A.ld);
    results.push_back(D.data + static_cast<Index>(first) * D.ld);
    device::set_unit_diagonal<T>(std::min(diagonal_block, A.n - first), results.back(), D.ld);
  }
  auto* const pointers = static_cast<const T**>(device::local_workspace());
  const auto stream = starpu_cuda_get_local_stream();
  const std::size_t bytes = sizeof(T*) * triangles.size();
  check("diagonal_blocks", cudaMemcpyAsync(pointers, triangles.data(), bytes, cudaMemcpyHostToDevice, stream));
  check("diagonal_blocks",
        cudaMemcpyAsync(pointers + triangles.size(), results.data(), bytes, cudaMemcpyHostToDevice, stream));
  if (whole > 0)
    check("diagonal_blocks",
          device::trsm_batched<T>(handle, Side::Left, uplo, Op::NoTrans, diag, diagonal_block, diagonal_block, T(1),
                                  pointers, A.ld, const_cast<T* const*>(pointers + triangles.size()), D.ld, whole));
  if (const int rest = A.n - whole * diagonal_block; rest > 0)
    check("diagonal_blocks", device::trsm<T>(handle, Side::Left, uplo, Op::NoTrans, diag, rest, rest, T(1),
                                             triangles.back(), A.ld, results.back(), D.ld));
}

/// Whether all elements of the triangle of A outside the blocks on its diagonal are finite: a zero times any other
/// value is NaN. Waits for the stream.
template <Scalar T>
bool rest_is_finite(const Tile<const T>& A, Uplo uplo) {
  auto* const sums = static_cast<T*>(device::local_workspace());  // products of the rows of A with zeros
  auto* const zeros = sums + A.m;
  check("diagonal_blocks",
        cudaMemsetAsync(sums, 0, (A.m + diagonal_block) * sizeof(T), starpu_cuda_get_local_stream()));
  for (int first = 0; first < A.n; first += diagonal_block) {
    const int n = std::min(diagonal_block, A.n - first);
    const int begin = uplo == Uplo::Lower ? first + n : 0, end = uplo == Uplo::Lower ? A.m : first;
    if (begin < end)
      check("diagonal_blocks",
            device::gemm<T>(device::local_handle(), Op::NoTrans, Op::NoTrans, end - begin, 1, n, T(1),
                            element(A, begin, first), A.ld, zeros, diagonal_block, T(1), sums + begin, A.m));
  }
  return all_finite<T>(Tile<T>{sums, A.m, 1, A.m});
}

template <Scalar T>
void diagonal_blocks_cuda(void* buffers[], void* arg) {
  const auto& [work, uplo, diag, inverse] = *static_cast<DiagonalBlocksArgs<T>*>(arg);
  const auto A = tile<const T>(buffers[0]);
  const auto D = tile<T>(buffers[1]);
  check("diagonal_blocks",
        cudaMemset2DAsync(D.data, D.ld * sizeof(T), 0, D.m * sizeof(T), D.n, starpu_cuda_get_local_stream()));
  if (!inverse) return expand<T>(A, D, uplo, diag);
  const Tile<T> inverses{D.data, D.m, A.n, D.ld}, blocks{element(D, 0, A.n), D.m, A.n, D.ld};
  expand<T>(A, blocks, uplo, diag);
  invert<T>(A, inverses, uplo, diag);
  const int elements = D.ld * A.n;
  const double growth = magnitude<T>(elements, blocks.data) * magnitude<T>(elements, inverses.data);
  set_inverses(starpu_task_get_current()->handles[1], !all_finite<T>(D) || !rest_is_finite<T>(A, uplo)
                                                          ? Inverses::NotFinite
                                                      : growth <= accurate_growth     ? Inverses::Accurate
                                                      : growth <= refinable_growth<T> ? Inverses::ToRefine
                                                                                      : Inverses::Refused);
}
#else
template <Scalar T>
const starpu_cuda_func_t diagonal_blocks_cuda = no_cuda;
#endif

}  // namespace

template <Scalar T>
starpu_codelet& diagonal_blocks() {
  static TileOperation operation("diagonal_blocks", nullptr, diagonal_blocks_cuda<T>);
  return operation.codelet;
}

template starpu_codelet& diagonal_blocks<float>();
template starpu_codelet& diagonal_blocks<double>();
template starpu_codelet& diagonal_blocks<std::complex<float>>();
template starpu_codelet& diagonal_blocks<std::complex<double>>();

}  // namespace tessera::codelets

// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "codelet.hpp"
#include "kernel.hpp"
#include "triangular_blocks.hpp"

namespace tessera::codelets {

namespace {

#ifdef TESSERA_WITH_CUDA

/// What the host must know about the inverses and the triangle, computed by the GPU in pinned memory.
template <Scalar T>
struct Findings {
  // Not finite if an element is not: the sum of the magnitudes of D, and that of the rest of the triangle.
  Real<T> sum = std::numeric_limits<Real<T>>::quiet_NaN(), rest = std::numeric_limits<Real<T>>::quiet_NaN();
  int blocks_index = 1, inverses_index = 1;  ///< of the largest element, from 1
  Real<T> blocks = 0, inverses = 0;          ///< magnitude of this element
};

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

/// Returns a vector of A.m elements on the device. All are finite only if all elements of the triangle of A outside the
/// blocks on its diagonal are: a zero times any other value is NaN.
template <Scalar T>
const T* rest_times_zero(const Tile<const T>& A, Uplo uplo) {
  auto* const sums = static_cast<T*>(device::local_workspace());
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
  return sums;
}

/// How trsm may use the inverses. Waits for the stream twice: the magnitude of an element can be read only when its
/// index is known.
template <Scalar T>
Inverses examine(const Tile<const T>& A, const Tile<T>& inverses, const Tile<T>& blocks, Uplo uplo) {
  const auto handle = device::local_handle();
  const auto wait = [] { check("diagonal_blocks", cudaStreamSynchronize(starpu_cuda_get_local_stream())); };
  static_assert(sizeof(Findings<T>) <= device::results_bytes);
  auto& found = *new (device::local_results()) Findings<T>;
  const int elements = inverses.ld * A.n;
  const T* const rest = rest_times_zero(A, uplo);
  const device::ResultsInMemory mode(handle);
  check("asum", device::sum_of_magnitudes<T>(handle, 2 * elements, inverses.data, &found.sum));  // blocks follow
  check("asum", device::sum_of_magnitudes<T>(handle, A.m, rest, &found.rest));
  check("amax", device::largest<T>(handle, elements, blocks.data, &found.blocks_index));
  check("amax", device::largest<T>(handle, elements, inverses.data, &found.inverses_index));
  wait();
  if (!std::isfinite(found.sum) || !std::isfinite(found.rest)) return Inverses::NotFinite;
  // The sum of one element: a copy would queue behind the tiles that are written back.
  check("asum", device::sum_of_magnitudes<T>(handle, 1, blocks.data + found.blocks_index - 1, &found.blocks));
  check("asum", device::sum_of_magnitudes<T>(handle, 1, inverses.data + found.inverses_index - 1, &found.inverses));
  wait();
  const double growth = static_cast<double>(found.blocks) * static_cast<double>(found.inverses);
  return growth <= accurate_growth       ? Inverses::Accurate
         : growth <= refinable_growth<T> ? Inverses::ToRefine
                                         : Inverses::Refused;
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
  set_inverses(starpu_task_get_current()->handles[1], examine<T>(A, inverses, blocks, uplo));
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

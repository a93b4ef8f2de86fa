// SPDX-License-Identifier: BSD-3-Clause
// Finds the largest element of a tile, for the growth of a factorization.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernel.hpp"

namespace tessera::codelets {

using common::Part;

namespace {

/// |Re| + |Im|, by which the BLAS compares elements.
template <Scalar T>
double magnitude(T x) {
  return std::abs(static_cast<double>(std::real(x))) + std::abs(static_cast<double>(std::imag(x)));
}

template <Scalar T>
struct Growth {
  using Args = GrowthArgs;

  /// @param sum  the sum of all magnitudes, which is NaN if any element is NaN; the largest element may not be
  static void add(const Args& args, T largest, Real<T> sum) {
    args.value->add(args.of, std::isnan(sum) ? std::numeric_limits<double>::quiet_NaN() : magnitude(largest));
  }

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    for (int j = 0; j < A.n; j++) {
      const int first = args.part == Part::Lower ? j : 0, end = args.part == Part::Upper ? std::min(j + 1, A.m) : A.m;
      if (first >= end) break;
      const T* const x = element(A, first, j);
      add(args, x[device::cpu::largest(end - first, x)], device::cpu::sum_of_magnitudes(end - first, x));
    }
  }

#ifdef TESSERA_WITH_CUDA
  static constexpr Index most = Index{1} << 30;  // cuBLAS counts in int

  /// Results of cuBLAS, in pinned memory.
  struct Findings {
    Real<T> sum;
    int index;  ///< index of the largest element, from 1
    T element;
  };

  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const bool all = args.part == Part::All;
    if (all && A.ld == A.m) return examine(on, static_cast<Index>(A.m) * A.n, A.data, args);
    // Packs the trapezoid: first the triangle, then the rows below it or the columns beside it. In the program's
    // memory, other tiles lie between the columns; a whole tile is then the rows below an empty triangle.
    const int order = all ? 0 : std::min(A.m, A.n);
    const bool lower = args.part != Part::Upper;
    const Tile<const T> rest{lower ? A.data + order : element(A, 0, order), lower ? A.m - order : A.m,
                             lower ? A.n : A.n - order, A.ld};
    const Index triangle = static_cast<Index>(order) * (order + 1) / 2,
                elements = triangle + static_cast<Index>(rest.m) * (rest.n);
    auto* const packed =
        static_cast<T*>(device::cuda::solver_workspace(static_cast<std::size_t>(elements) * sizeof(T)));
    if (packed == nullptr)
      return args.value->add(args.of, std::numeric_limits<double>::quiet_NaN());  // failure reported
    if (order > 0)
      device::check("growth", device::cuda::pack_triangle<T>(on.handle, lower ? Uplo::Lower : Uplo::Upper, order,
                                                             A.data, A.ld, packed));
    if (rest.m > 0 && rest.n > 0)
      device::check("growth", device::cuda::copy_matrix(device::cuda::local_stream(), rest.m, rest.n, rest.data,
                                                        rest.ld, packed + triangle, rest.m));
    examine(on, elements, packed, args);
  }

  /// Waits for the stream twice, because an element can be read only after its index is known.
  static void examine(const device::OnDevice& on, Index elements, const T* x, const Args& args) {
    static_assert(sizeof(Findings) <= device::cuda::results_bytes);
    auto& found = *static_cast<Findings*>(device::cuda::local_results());
    constexpr auto unknown = std::numeric_limits<Real<T>>::quiet_NaN();  // initial value, in case a kernel fails
    for (Index first = 0; first < elements; first += most) {
      const int count = static_cast<int>(std::min(most, elements - first));
      found = {unknown, 1, T(unknown)};
      {
        const device::cuda::ResultsInMemory mode(on.handle);
        device::check("growth", device::cuda::largest<T>(on.handle, count, x + first, &found.index));
        device::check("growth", device::cuda::sum_of_magnitudes<T>(on.handle, count, x + first, &found.sum));
      }
      wait();
      const int index = std::clamp(found.index, 1, count) - 1;
      // A kernel copies this, because a cudaMemcpy would queue behind tiles that are being written back.
      device::check("growth", device::cuda::copy<T>(on.handle, 1, x + first + index, 1, &found.element));
      wait();
      add(args, found.element, found.sum);
    }
  }
  static void wait() { device::check("growth", device::cuda::wait_for(device::cuda::local_stream())); }
#endif
};

}  // namespace

starpu_codelet& growth(char type) { return codelet_of<Growth>(type, "growth", 1); }

}  // namespace tessera::codelets

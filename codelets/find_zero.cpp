// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/magnitude.hpp"
#endif

namespace tessera::codelets {

namespace {

/// Reports the first zero of a diagonal.
/// @param diagonal  `count` elements, `stride` apart
/// @param first     the row of the matrix that contains the first element
template <Scalar T>
void report_zeros(const T* diagonal, std::ptrdiff_t stride, int count, Index first, InfoValue& value) {
  for (int i = 0; i < count; i++)
    if (diagonal[i * stride] == T{}) return value.report_in_any_order(first + i + 1);
}

template <Scalar T>
struct FindZero {
  using Args = FindZeroArgs;

  /// The square whose diagonal is searched.
  static Tile<const T> square(void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const int order = std::min(A.m - static_cast<int>(args.row), A.n);
    return {A.data + args.row, order, order, A.ld};
  }

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = square(buffers, args);
    report_zeros(A.data, A.ld + std::ptrdiff_t{1}, A.n, args.first, *args.value);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& /*on*/, void* buffers[], const Args& args) {
    const auto A = square(buffers, args);
    auto& report = device::cuda::new_report();
    device::check("find_zero",
                  device::cuda::first_zero<T>(device::cuda::local_stream(), A.n, A.data, A.ld, &report.on_diagonal));
    device::when_complete([&report, n = A.n, first = args.first, value = args.value] {
      if (report.on_diagonal < n) value->report_in_any_order(first + report.on_diagonal + 1);
    });
  }
#endif
};

}  // namespace

starpu_codelet& find_zero(char type) { return codelet_of<FindZero>(type, "find_zero"); }

}  // namespace tessera::codelets

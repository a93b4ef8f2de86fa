// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <memory>

#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "device_solver.hpp"
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

#ifdef TESSERA_WITH_CUDA
/// A host function in the stream of a GPU, which searches a diagonal that the GPU has copied.
template <Scalar T>
struct Search {
  const T* diagonal;
  int count;
  Index first;
  InfoValue* value;

  static void run(void* self) {
    const std::unique_ptr<Search> s(static_cast<Search*>(self));
    report_zeros(s->diagonal, 1, s->count, s->first, *s->value);
  }
};
#endif

template <Scalar T>
struct FindZero {
  using Args = FindZeroArgs;

  /// The square whose diagonal is searched.
  static Tile<const T> square(void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const int order = std::min(A.m - static_cast<int>(args.row), A.n);
    return {A.data + args.row, order, order, A.ld};
  }

  static void run(const OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = square(buffers, args);
    report_zeros(A.data, A.ld + std::ptrdiff_t{1}, A.n, args.first, *args.value);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const OnDevice& on, void* buffers[], const Args& args) {
    const auto A = square(buffers, args);
    const auto& solver = device::local_solver();  // only its pinned memory is used
    if (solver.handle == nullptr) return;         // the failure has been reported
    auto* const diagonal = static_cast<T*>(solver.diagonal);
    for (int first = 0; first < A.n; first += device::longest_diagonal) {
      const int count = std::min(device::longest_diagonal, A.n - first);
      check("copy", device::copy<T>(on.handle, count, element(A, first, first), A.ld + 1, diagonal));
      std::unique_ptr<Search<T>> search(new Search<T>{diagonal, count, args.first + first, args.value});
      const auto status = cudaLaunchHostFunc(device::local_stream(), Search<T>::run, search.get());
      check("cudaLaunchHostFunc", status);
      if (status == cudaSuccess) static_cast<void>(search.release());  // its host function deletes it
    }
  }
#endif
};

}  // namespace

starpu_codelet& find_zero(char type) { return codelet_of<FindZero>(type, "find_zero"); }

}  // namespace tessera::codelets

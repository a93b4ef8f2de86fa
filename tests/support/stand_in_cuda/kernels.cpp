// SPDX-License-Identifier: BSD-3-Clause
// Launches of kernels. nvcc's code registers each kernel with its mangled name.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "devices/cuda/corner_kernel.hpp"
#include "devices/cuda/invert_triangles.hpp"
#include "devices/cuda/magnitude.hpp"
#include "stand_in.hpp"

namespace stand_in {

namespace {

using tessera::device::cuda::PointerArrays;
using tessera::device::staging::CornerCopy;

auto& names = *new std::map<const void*, std::string>;  ///< of kernels; written before main

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

/// An argument of a kernel.
template <typename T>
T argument(void** arguments, int i) {
  return *static_cast<T*>(arguments[i]);
}

void copy_corners(const CornerCopy& copy, dim3 grid) {
  for (unsigned y = 0; y < grid.y; y++) {
    const auto& [i0, j0, m, n] = copy.corners[y];
    for (int j = j0; j < j0 + std::min(n, static_cast<int>(grid.x)); j++) {
      const int diagonal = copy.diagonal + j;
      const int begin = copy.lower ? std::clamp(diagonal, i0, i0 + m) : i0,
                end = copy.lower ? i0 + m : std::clamp(diagonal + 1, i0, i0 + m);
      const auto at = static_cast<std::size_t>(begin) * copy.element, column = static_cast<std::size_t>(j);
      std::memcpy(static_cast<char*>(copy.target) + column * copy.target_column + at,
                  static_cast<const char*>(copy.source) + column * copy.source_column + at,
                  static_cast<std::size_t>(end - begin) * copy.element);
    }
  }
}

void write_pointers(const PointerArrays& of, int arrays, int count, const void** pointers) {
  for (int i = 0; i < arrays * count; i++) {
    const int array = i / count, element = i % count;
    pointers[i] =
        static_cast<const char*>(of.base[array]) + element / 2 * of.pair[array] + element % 2 * of.single[array];
  }
}

/// Whether a session only wants to know how long a kernel takes. Tests have smaller matrices.
bool is_only_timed(int m, int n) { return static_cast<double>(m) * n > 1e6; }

/// The inverses of the diagonal triangles of A.
template <typename T>
void invert(bool lower, bool unit, int n, const T* A, int lda, T* V, int ldv) {
  constexpr int order = tessera::device::cuda::inverted_order;
  if (is_only_timed(n, n)) return;
  for (int first = 0; first < n; first += order) {
    const int count = std::min(order, n - first);
    const auto place = [&](int i) { return first + (lower ? i : count - 1 - i); };
    const auto at = [&](int i, int j) { return A[place(i) + static_cast<std::ptrdiff_t>(place(j)) * lda]; };
    for (int j = 0; j < count; j++) {
      std::vector<T> x(static_cast<std::size_t>(count));
      x[static_cast<std::size_t>(j)] = 1;
      for (int k = j; k < count; k++) {
        auto& solved = x[static_cast<std::size_t>(k)];
        if (!unit) solved /= at(k, k);
        for (int i = k + 1; i < count; i++) x[static_cast<std::size_t>(i)] -= at(i, k) * solved;
      }
      for (int i = 0; i < count; i++)
        V[place(i) % ldv + static_cast<std::ptrdiff_t>(place(j)) * ldv] = x[static_cast<std::size_t>(i)];
    }
  }
}

template <typename T>
double magnitude(T x) {
  const double sum = std::abs(std::real(x)) + std::abs(std::imag(x));
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

/// The largest magnitude of A(i, j) for which `belongs`.
template <typename T, typename Belongs>
double largest(int m, int n, const T* A, int lda, Belongs belongs) {
  double found = 0;
  if (is_only_timed(m, n)) return found;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      if (belongs(i, j)) found = std::max(found, magnitude(A[i + static_cast<std::ptrdiff_t>(j) * lda]));
  return found;
}

void add_to(double* result, double x) { *result = std::max(*result, x); }

template <typename T>
std::function<void()> magnitudes(void** x) {
  return [m = argument<int>(x, 0), n = argument<int>(x, 1), A = argument<const T*>(x, 2), lda = argument<int>(x, 3),
          result = argument<double*>(x, 4)] { add_to(result, largest(m, n, A, lda, [](int, int) { return true; })); };
}

template <typename T>
std::function<void()> magnitudes_of_triangle(void** x) {
  return [lower = argument<bool>(x, 0), unit = argument<bool>(x, 1), block = argument<int>(x, 2),
          m = argument<int>(x, 3), n = argument<int>(x, 4), A = argument<const T*>(x, 5), lda = argument<int>(x, 6),
          of_squares = argument<double*>(x, 7), of_rest = argument<double*>(x, 8)] {
    const auto is_used = [=](int i, int j) { return (lower ? i >= j : i <= j) && !(unit && i == j); };
    const auto is_in_square = [=](int i, int j) { return i / block == j / block; };
    const double squares = largest(m, n, A, lda, [&](int i, int j) { return is_used(i, j) && is_in_square(i, j); });
    add_to(of_squares, unit ? std::max(squares, 1.0) : squares);
    add_to(of_rest, largest(m, n, A, lda, [&](int i, int j) { return is_used(i, j) && !is_in_square(i, j); }));
  };
}

template <typename R>
std::function<void()> taking(void** x) {
  return
      [value = argument<double*>(x, 0), pinned = argument<R*>(x, 1)] { *pinned = static_cast<R>(*value), *value = 0; };
}

template <typename T>
std::function<void()> search_for_not_finite(void** x) {
  return [lower = argument<bool>(x, 0), n = argument<int>(x, 1), A = argument<const T*>(x, 2),
          lda = argument<int>(x, 3), first = argument<int*>(x, 4)] {
    for (int j = 0; j < n; j++)
      for (int i = lower ? j + 1 : 0; i < (lower ? n : j); i++)
        if (!std::isfinite(magnitude(A[i + static_cast<std::ptrdiff_t>(j) * lda])))
          *first = std::min(*first, lower ? i : j);
  };
}

template <typename T>
std::function<void()> search_of_diagonal(void** x, bool zeros) {
  return [n = argument<int>(x, 0), A = argument<const T*>(x, 1), lda = argument<int>(x, 2),
          first = argument<int*>(x, 3), zeros] {
    int i = 0;
    const auto at = [&] { return A[i + static_cast<std::ptrdiff_t>(i) * lda]; };
    while (i < n && (zeros ? at() != T{} : std::real(at()) > 0)) i++;
    *first = i;
  };
}

template <typename T>
std::function<void()> inversion(void** x) {
  return [lower = argument<bool>(x, 0), unit = argument<bool>(x, 1), n = argument<int>(x, 2),
          A = argument<const T*>(x, 3), lda = argument<int>(x, 4), V = argument<T*>(x, 5),
          ldv = argument<int>(x, 6)] { invert(lower, unit, n, A, lda, V, ldv); };
}

template <typename T>
std::function<void()> symmetrization(void** x) {
  return [lower = argument<bool>(x, 0), hermitian = argument<bool>(x, 1), n = argument<int>(x, 2),
          A = argument<const T*>(x, 3), lda = argument<int>(x, 4), D = argument<T*>(x, 5), ldd = argument<int>(x, 6)] {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        const bool stored = lower ? i >= j : i <= j;
        T a = A[(stored ? i : j) + static_cast<std::ptrdiff_t>(stored ? j : i) * lda];
        if constexpr (!std::is_floating_point_v<T>)
          if (hermitian) a = i == j ? T(a.real()) : stored ? a : std::conj(a);
        D[i + static_cast<std::ptrdiff_t>(j) * ldd] = a;
      }
  };
}

/// What a kernel does; empty: the stand-in lacks it.
std::function<void()> operation(const std::string& name, dim3 grid, void** x, int device) {
  const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (is("copy_corners_kernel")) {
    const auto copy = argument<CornerCopy>(x, 0);
    const auto& first = copy.corners[0];
    require_access(device, copy.source, "copy_corners");
    require_access(device,
                   static_cast<char*>(copy.target) + static_cast<std::size_t>(first.i) * copy.element +
                       static_cast<std::size_t>(first.j) * copy.target_column,
                   "copy_corners");
    return [=] { copy_corners(copy, grid); };
  }
  if (is("write_pointers_kernel"))
    return [of = argument<PointerArrays>(x, 0), arrays = argument<int>(x, 1), count = argument<int>(x, 2),
            pointers = argument<const void**>(x, 3)] { write_pointers(of, arrays, count, pointers); };
  if (is("take_values_kernel"))
    return [values = argument<double*>(x, 0), count = argument<int>(x, 1), pinned = argument<double*>(x, 2)] {
      for (int i = 0; i < count; i++) pinned[i] = std::exchange(values[i], 0);
    };
  if (is("take_value_kernelIf")) return taking<float>(x);
  if (is("take_value_kernelId")) return taking<double>(x);
  const auto of_type = [&](const std::string& kernel, auto operation) -> std::function<void()> {
    if (is((kernel + "f").c_str())) return operation(float());
    if (is((kernel + "d").c_str())) return operation(double());
    return is("ComplexIf") ? operation(std::complex<float>()) : operation(std::complex<double>());
  };
  if (is("invert_kernelI")) return of_type("invert_kernelI", [&]<typename T>(T) { return inversion<T>(x); });
  if (is("symmetrize_kernelI"))
    return of_type("symmetrize_kernelI", [&]<typename T>(T) { return symmetrization<T>(x); });
  if (is("magnitude_kernelI")) return of_type("magnitude_kernelI", [&]<typename T>(T) { return magnitudes<T>(x); });
  if (is("magnitudes_of_triangle_kernelI"))
    return of_type("magnitudes_of_triangle_kernelI", [&]<typename T>(T) { return magnitudes_of_triangle<T>(x); });
  if (is("first_not_finite_kernelI"))
    return of_type("first_not_finite_kernelI", [&]<typename T>(T) { return search_for_not_finite<T>(x); });
  for (const bool zeros : {false, true}) {
    const std::string kernel = std::string("first_on_diagonal_kernelILb") + (zeros ? "1" : "0") + "E";
    if (is(kernel.c_str())) return of_type(kernel, [&]<typename T>(T) { return search_of_diagonal<T>(x, zeros); });
  }
  return {};
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* /*code*/) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {}
void __cudaRegisterFunction(void** /*handle*/, const char* kernel, char* /*code*/, const char* name, int /*threads*/,
                            uint3* /*thread*/, uint3* /*block*/, dim3* /*blocks*/, dim3* /*grid*/, int* /*warp*/) {
  names[kernel] = name;
}
cudaError_t __cudaGetKernel(cudaKernel_t* found, const void* kernel) {
  return *found = static_cast<cudaKernel_t>(const_cast<void*>(kernel)), cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  const auto& last = configurations.back();
  *grid = last.grid, *block = last.block, *shared = last.shared, *static_cast<cudaStream_t*>(stream) = last.stream;
  return configurations.pop_back(), cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* /*kernel*/) {
  return *attributes = {}, cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t /*shared*/,
                             cudaStream_t stream) {
  constexpr unsigned most_threads = 1024, most_blocks = 65535;  // of y and z
  const auto& name = names.at(kernel);
  auto& at = stream_of(stream);
  if (at.device != current) return refuse(cudaErrorInvalidResourceHandle, name + " on a stream of another device");
  if (grid.x == 0 || grid.y == 0 || grid.y > most_blocks || grid.z > most_blocks ||
      block.x * block.y * block.z > most_threads)
    return refuse(cudaErrorInvalidConfiguration, name + " in a grid that CUDA refuses");
  auto computes = operation(name, grid, arguments, at.device);
  if (!computes) return fail(cudaErrorNotSupported);
  return at.add(std::move(computes)), cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                        cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

}  // extern "C"

}  // namespace stand_in

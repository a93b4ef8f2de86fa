// SPDX-License-Identifier: BSD-3-Clause
// Launches of kernels. nvcc's code registers each kernel with its mangled name.
#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "codelets/device_inverse.hpp"
#include "codelets/device_magnitude.hpp"
#include "memory/staging/corner_kernel.hpp"
#include "stand_in.hpp"

namespace stand_in {

namespace {

using tessera::detail::staging::CornerCopy;
using tessera::device::PointerArrays;

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

/// The inverses of the diagonal triangles of A.
template <typename T>
void invert(bool lower, bool unit, int n, const T* A, int lda, T* V, int ldv) {
  constexpr int order = tessera::device::inverted_order;
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
std::function<void()> inversion(void** x) {
  return [lower = argument<bool>(x, 0), unit = argument<bool>(x, 1), n = argument<int>(x, 2),
          A = argument<const T*>(x, 3), lda = argument<int>(x, 4), V = argument<T*>(x, 5),
          ldv = argument<int>(x, 6)] { invert(lower, unit, n, A, lda, V, ldv); };
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
  if (is("invert_kernelIf")) return inversion<float>(x);
  if (is("invert_kernelId")) return inversion<double>(x);
  if (is("invert_kernelI") && is("ComplexIf")) return inversion<std::complex<float>>(x);
  if (is("invert_kernelI")) return inversion<std::complex<double>>(x);
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

// SPDX-License-Identifier: BSD-3-Clause
#include "handles.hpp"

#include <starpu.h>

#include <array>
#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error.hpp>

#include "cublas.hpp"
#include "devices/kernel_tile.hpp"
#include "invert_triangles.hpp"
#include "magnitude.hpp"
#include "memory/sum_slots.hpp"
#include "on_cuda.hpp"

namespace tessera::device::cuda {

namespace {

struct Worker {
  Lane lane;
  void* ones = nullptr;     ///< `leaf` ones of each type
  double* slots = nullptr;  ///< pinned memory
  Report* reports = nullptr;
  std::size_t next_report = 0;
};
std::array<Worker, STARPU_NMAXWORKERS> workers{};
thread_local Lane* lane_in_use = nullptr;

/// Reports of each worker, which its tasks take in turns: at most two for each of the few tasks that StarPU submits to
/// a GPU before the first one has ended (STARPU_MAX_PIPELINE, which is 4).
constexpr std::size_t reports = 32;

/// Slots for each worker. Each task of a trmm or trsm in flight, up to one per tile of B, needs a slot, or else waits.
constexpr std::size_t slots = 1 << 14;

Worker& my_worker() { return workers[static_cast<std::size_t>(starpu_worker_get_id_check())]; }

/// The offset in `ones` of the ones of a type [bytes].
template <Scalar T>
constexpr std::size_t offset_of_ones = std::size_t{leaf} * (std::same_as<T, float>                 ? 0
                                                            : std::same_as<T, double>              ? 4
                                                            : std::same_as<T, std::complex<float>> ? 12
                                                                                                   : 20);
constexpr std::size_t bytes_of_ones = offset_of_ones<std::complex<double>> + leaf * sizeof(std::complex<double>);

template <Scalar T>
void write_ones() {
  const std::vector<T> ones(leaf, T(1));
  check("cudaMemcpy", cudaMemcpy(static_cast<std::byte*>(my_worker().ones) + offset_of_ones<T>, ones.data(),
                                 leaf * sizeof(T), cudaMemcpyHostToDevice));
}

void write_all_ones() {
  write_ones<float>();
  write_ones<double>();
  write_ones<std::complex<float>>();
  write_ones<std::complex<double>>();
}

/// Runs the operations once in double precision, the most common type, because CUDA loads a kernel at its first launch.
/// The first call of a program is then as fast as later calls. The matrices are zeros of order `leaf`, because cuBLAS
/// uses other kernels for small matrices.
void load_kernels() {
  constexpr int n = leaf;
  constexpr std::size_t square = std::size_t{n} * n;
  static_assert(4 * square * sizeof(double) <= workspace_bytes);
  auto* const A = static_cast<double*>(my_worker().lane.workspace);
  auto *const B = A + square, *const C = B + square, *const packed = C + square;
  auto* const pointers = const_cast<double**>(reinterpret_cast<const double**>(my_worker().lane.pointers));
  const auto [stream, handle] = std::pair(my_worker().lane.stream, my_worker().lane.handle);
  const std::array ops{Op::NoTrans, Op::Trans};
  check("cudaMemset", cudaMemsetAsync(A, 0, 3 * square * sizeof(double), stream));
  for (const auto op_a : ops)
    for (const auto op_b : ops) check("gemm", gemm<double>(handle, op_a, op_b, n, n, n, 1, A, n, B, n, 1, C, n));
  check("geam", geam<double>(handle, n, n, 1, A, n, 1, B, n, C, n));
  for (const auto uplo : {Uplo::Lower, Uplo::Upper}) {
    for (const auto op : ops) {
      check("syrk", syrk<double>(handle, uplo, op, n, n, 1, A, n, 1, C, n));
      check("syr2k", syr2k<double>(handle, uplo, op, n, n, 1, A, n, B, n, 1, C, n));
    }
    for (const auto side : {Side::Left, Side::Right}) {
      check("symm", symm<double>(handle, side, uplo, n, n, 1, A, n, B, n, 1, C, n));
      for (const auto op : ops)
        check("trmm", trmm<double>(handle, side, uplo, op, Diag::NonUnit, n, n, 1, A, n, B, n, C, n));
    }
    check("copy", copy_triangle<double>(handle, uplo, n, A, n, packed, C, n));
  }
  constexpr int matrices = 3;
  constexpr auto apart = static_cast<std::ptrdiff_t>(square * sizeof(double));
  check("write_pointers", write_pointers(stream, {{A}, {apart}, {2 * apart}}, 1, matrices, my_worker().lane.pointers));
  constexpr int block = diagonal_block;
  check("invert_triangles", invert_triangles<double>(stream, true, true, block, A, n, B, block));
  check("gemm",
        gemm_batched<double>(handle, block, block, block, 1, pointers, n, pointers + 1, n, 0, pointers + 2, n, 1));
  {
    const ResultsInMemory mode(handle);
    auto* const results = static_cast<double*>(local_results());
    check("amax", largest<double>(handle, n * n, A, reinterpret_cast<int*>(results)));
    check("asum", sum_of_magnitudes<double>(handle, n * n, A, results + 1));
    check("asum", sum_of_magnitudes<double>(handle, 1, A, results + 1));
  }
  check("cudaStreamSynchronize", cudaStreamSynchronize(stream));  // StarPU expects the work to be complete on return
}

void create(void* /*unused*/) {
  auto& lane = my_worker().lane;
  int device = 0;
  lane.stream = starpu_cuda_get_local_stream();
  check("cudaGetDevice", cudaGetDevice(&device));
  check("cudaDeviceGetAttribute",
        cudaDeviceGetAttribute(&lane.multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const auto pin = [](std::size_t bytes) {
    void* pinned = nullptr;
    check("cudaHostAlloc", cudaHostAlloc(&pinned, bytes, cudaHostAllocPortable));
    return pinned;
  };
  check("cudaMalloc", cudaMalloc(&my_worker().ones, bytes_of_ones));
  my_worker().slots = static_cast<double*>(pin(slots * sizeof(double)));
  my_worker().reports = static_cast<Report*>(pin(reports * sizeof(Report)));
  const auto failure = start_lane(lane);
  if (!failure.empty()) common::report_failure(failure + ", on a GPU");
  else if (my_worker().ones != nullptr) write_all_ones(), load_kernels();
}

/// On a core: StarPU pins memory for the tiles that it writes, which creates a context on its thread's current device.
/// The device stays current, because StarPU frees the memory in these threads when it shuts down.
void use_gpu(void* device) { check("cudaSetDevice", cudaSetDevice(*static_cast<const int*>(device))); }

void destroy_worker(void* /*unused*/) {
  stop_lane(my_worker().lane);
  if (my_worker().ones != nullptr) cudaFree(my_worker().ones);
  if (my_worker().slots != nullptr) cudaFreeHost(my_worker().slots);
  if (my_worker().reports != nullptr) cudaFreeHost(my_worker().reports);
  my_worker() = {};
}

/// Offsets in the device memory of a lane.
constexpr std::size_t offset_of_pointers = workspace_bytes,
                      offset_of_values = offset_of_pointers + Lane::most_pointers * sizeof(void*),
                      lane_bytes = offset_of_values + Lane::most_values * sizeof(double);

}  // namespace

void create_handles() {
  const auto before = common::stray_failures();  // failures without a tile
  starpu_execute_on_each_worker(create, nullptr, STARPU_CUDA);
  int first = starpu_worker_get_devid(starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0));
  if (first != 0) starpu_execute_on_each_worker(use_gpu, &first, STARPU_CPU);
  if (common::stray_failures() != before) throw RuntimeError(common::last_stray_failure());
  for (const auto& worker : workers)
    if (worker.slots != nullptr) memory::sum_slots::add({worker.slots, slots});
}

Report& new_report() {
  auto& worker = my_worker();
  return *new (worker.reports + worker.next_report++ % reports) Report;
}

void destroy_handles() {
  memory::sum_slots::clear();
  starpu_execute_on_each_worker(destroy_worker, nullptr, STARPU_CUDA);
}

std::string start_lane(Lane& lane) {
  void *memory = nullptr, *pinned = nullptr;
  auto cublas = cublasCreate(&lane.handle);
  if (cublas == CUBLAS_STATUS_SUCCESS) cublas = cublasSetStream(lane.handle, lane.stream);
  if (cublas != CUBLAS_STATUS_SUCCESS) return std::string("starting cuBLAS: ") + cublasGetStatusString(cublas);
  auto status = cudaMalloc(&memory, lane_bytes);
  lane.workspace = memory;
  if (status == cudaSuccess) {
    auto* const begin = static_cast<std::byte*>(memory);
    lane.pointers = reinterpret_cast<const void**>(begin + offset_of_pointers);
    lane.values = reinterpret_cast<double*>(begin + offset_of_values);
    status = cudaMemsetAsync(lane.values, 0, Lane::most_values * sizeof(double), lane.stream);
  }
  if (status == cudaSuccess) status = cudaHostAlloc(&pinned, results_bytes, cudaHostAllocPortable);
  lane.results = pinned;
  if (status != cudaSuccess) return std::string("memory for cuBLAS: ") + cudaGetErrorString(status);
  return {};
}

void stop_lane(Lane& lane) {
  if (lane.handle != nullptr) cublasDestroy(lane.handle);
  if (lane.workspace != nullptr) cudaFree(lane.workspace);
  if (lane.results != nullptr) cudaFreeHost(lane.results);
  lane = {};
}

Lane& local_lane() { return lane_in_use != nullptr ? *lane_in_use : my_worker().lane; }
UseLane::UseLane(Lane& lane) : before_(std::exchange(lane_in_use, &lane)) {}
UseLane::~UseLane() { lane_in_use = before_; }

template <Scalar T>
void set_unit_diagonal(int n, T* A, int lda) {
  check("cudaMemcpy2D",
        copy_columns(A, (lda + std::size_t{1}) * sizeof(T),  // the stride: from one diagonal element to the next
                     static_cast<const std::byte*>(my_worker().ones) + offset_of_ones<T>, sizeof(T), sizeof(T),
                     static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice, local_stream()));
}
template void set_unit_diagonal(int, float*, int);
template void set_unit_diagonal(int, double*, int);
template void set_unit_diagonal(int, std::complex<float>*, int);
template void set_unit_diagonal(int, std::complex<double>*, int);

template <ComplexScalar T>
void clear_imaginary_diagonal(int n, T* A, int lda) {
  check("cudaMemset2D", clear_columns(reinterpret_cast<Real<T>*>(A) + 1, (lda + std::size_t{1}) * sizeof(T),
                                      sizeof(Real<T>), static_cast<std::size_t>(n), local_stream()));
}
template void clear_imaginary_diagonal(int, std::complex<float>*, int);
template void clear_imaginary_diagonal(int, std::complex<double>*, int);

}  // namespace tessera::device::cuda

// SPDX-License-Identifier: BSD-3-Clause
// cuSOLVERMg, which factorizes a matrix on several GPUs. It is loaded only on request, because it is large and may be
// missing from CUDA's toolkit.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error.hpp>

#include "common/of_type.hpp"
#include "devices/cuda/resources.hpp"
#include "devices/gpu.hpp"
#include "workload/other_libraries.hpp"

#if __has_include(<cusolverMg.h>)
#define DISABLE_CUSOLVERMG_DEPRECATED  // CUDA 13 marks all of its functions
#include <cusolverMg.h>

namespace tessera::bench {

namespace {

void require(cusolverStatus_t status, const char* what) {
  if (status == CUSOLVER_STATUS_INVALID_VALUE)
    throw RefusedBlock(std::string(what) + ": cuSOLVERMg does not take blocks of this size");
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw RuntimeError(std::string(what) + ": cuSOLVERMg's status " + std::to_string(status));
}
void require(cudaError_t status, const char* what) { device::gpu::require(status, what); }

/// A function of the library, which stays loaded as long as the process, as CUDA's libraries must.
template <typename Function>
Function* loaded(const char* name) {
  static void* const library = [] {
    const std::string file = "libcusolverMg.so." + std::to_string(CUSOLVER_VER_MAJOR);
    auto* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) throw RuntimeError("cuSOLVERMg cannot be loaded: " + std::string(dlerror()));
    return opened;
  }();
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw RuntimeError(std::string("cuSOLVERMg has no ") + name);
  return function;
}

struct Functions {
#define FUNCTION(member, name) decltype(&name) member = loaded<decltype(name)>(#name);
  FUNCTION(create, cusolverMgCreate)
  FUNCTION(destroy, cusolverMgDestroy)
  FUNCTION(select, cusolverMgDeviceSelect)
  FUNCTION(create_grid, cusolverMgCreateDeviceGrid)
  FUNCTION(destroy_grid, cusolverMgDestroyGrid)
  FUNCTION(create_matrix, cusolverMgCreateMatrixDesc)
  FUNCTION(destroy_matrix, cusolverMgDestroyMatrixDesc)
  FUNCTION(potrf_workspace, cusolverMgPotrf_bufferSize)
  FUNCTION(potrf, cusolverMgPotrf)
  FUNCTION(getrf_workspace, cusolverMgGetrf_bufferSize)
  FUNCTION(getrf, cusolverMgGetrf)
#undef FUNCTION
};

template <Scalar T>
constexpr cudaDataType data_type = [] {
  switch (type_letter<T>) {
  case 's': return CUDA_R_32F;
  case 'd': return CUDA_R_64F;
  case 'c': return CUDA_C_32F;
  default: return CUDA_C_64F;
  }
}();

struct Device {
  int ordinal;
  device::gpu::Stream stream;
  device::gpu::GrowingMemory A, workspace, pivots;
};

}  // namespace

/// The library distributes blocks of columns cyclically over the GPUs. A GPU stores its blocks side by side, each with
/// its full height.
struct CuSolverMg::State {
  const Functions functions = {};
  Index block;
  std::vector<Device> devices;
  cusolverMgHandle_t handle = nullptr;
  cudaLibMgGrid_t grid = nullptr;
  std::vector<std::pair<int, int>> peers;  ///< access from the second to the first, enabled by this object

  int count() const { return static_cast<int>(devices.size()); }

  void start() {
    std::vector<int> ordinals;
    for (const auto& device : devices) ordinals.push_back(device.ordinal);
    for (const int of : ordinals) {
      require(cudaSetDevice(of), "cudaSetDevice");
      for (const int to : ordinals)
        if (of != to && cudaDeviceEnablePeerAccess(to, 0) == cudaSuccess) peers.emplace_back(of, to);
      cudaGetLastError();  // without direct access, the library copies through the host
    }
    require(functions.create(&handle), "starting cuSOLVERMg");
    require(functions.select(handle, count(), ordinals.data()), "selecting cuSOLVERMg's GPUs");
    require(functions.create_grid(&grid, 1, count(), ordinals.data(), CUDALIBMG_GRID_MAPPING_COL_MAJOR),
            "the grid of cuSOLVERMg");
  }
  ~State() {
    if (grid != nullptr) functions.destroy_grid(grid);
    if (handle != nullptr) functions.destroy(handle);
    for (const auto& [of, to] : peers)
      if (cudaSetDevice(of) == cudaSuccess) cudaDeviceDisablePeerAccess(to);
  }

  /// Calls body(device, its memory, first column of a block, number of columns, first of these columns on the device)
  /// for all blocks.
  template <typename Body>
  void for_each_block(Index n, Body body) {
    for (Index b = 0; b * block < n; b++) {
      auto& device = devices[static_cast<std::size_t>(b % count())];
      require(cudaSetDevice(device.ordinal), "cudaSetDevice");
      body(device, b * block, std::min(block, n - b * block), b / count() * block);
    }
  }
  Index columns_of_each(Index n) const { return ((n + block - 1) / block + count() - 1) / count() * block; }

  /// For each device, `bytes` bytes of the memory that `which` selects.
  std::vector<void*> memory(device::gpu::GrowingMemory Device::*which, std::size_t bytes) {
    std::vector<void*> all;
    for (auto& device : devices) {
      require(cudaSetDevice(device.ordinal), "cudaSetDevice");
      all.push_back((device.*which).at_least(bytes));
    }
    return all;
  }

  void wait() {
    for (const auto& device : devices) require(cudaStreamSynchronize(device.stream.get()), "a copy for cuSOLVERMg");
  }

  /// Copies A to the devices, calls factorize(descriptor, addresses of the blocks), and copies A back. All devices copy
  /// at the same time. The library takes and returns whole matrices, so copies do not overlap with computation.
  /// @param lower  whether only the lower triangle is copied
  template <Scalar T, typename Factorize>
  void run(Index m, Index n, T* A, Index lda, bool lower, Factorize factorize) {
    const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    auto blocks = memory(&Device::A, bytes(m * columns_of_each(n)));
    const auto copy = [&](cudaMemcpyKind kind) {
      for_each_block(n, [&](Device& device, Index first, Index columns, Index own) {
        const Index top = lower ? first : 0;
        T* const host = A + top + first * lda;
        T* const there = static_cast<T*>(device.A.at_least(0)) + top + own * m;
        const bool in = kind == cudaMemcpyHostToDevice;
        require(cudaMemcpy2DAsync(in ? there : host, bytes(in ? m : lda), in ? host : there, bytes(in ? lda : m),
                                  bytes(m - top), static_cast<std::size_t>(columns), kind, device.stream.get()),
                "a copy for cuSOLVERMg");
      });
      wait();
    };
    copy(cudaMemcpyHostToDevice);
    cudaLibMgMatrixDesc_t descriptor = nullptr;
    require(functions.create_matrix(&descriptor, m, n, m, block, data_type<T>, grid), "a matrix of cuSOLVERMg");
    const std::unique_ptr<void, decltype(functions.destroy_matrix)> owner(descriptor, functions.destroy_matrix);
    factorize(descriptor, blocks.data());
    copy(cudaMemcpyDeviceToHost);
  }
};

CuSolverMg::CuSolverMg(const std::vector<int>& devices, Index block) {
  const device::gpu::KeepCurrentDevice keep;
  state_ = std::make_unique<State>();
  state_->block = block;
  for (const int device : devices) state_->devices.push_back({device, device::gpu::create_stream(device), {}, {}, {}});
  state_->start();
}

CuSolverMg::~CuSolverMg() {
  const device::gpu::KeepCurrentDevice keep;
  state_.reset();
}

void CuSolverMg::factorize(char type, Index n, void* A, Index lda) {
  if (n == 0) return;
  const device::gpu::KeepCurrentDevice keep;
  auto& s = *state_;
  common::with_type(type, [&]<Scalar T>(T) {
    s.run(n, n, static_cast<T*>(A), lda, true, [&](cudaLibMgMatrixDesc_t descriptor, void** blocks) {
      std::int64_t elements = 0;
      const int order = static_cast<int>(n);
      const auto lower = CUBLAS_FILL_MODE_LOWER;
      require(s.functions.potrf_workspace(s.handle, lower, order, blocks, 1, 1, descriptor, data_type<T>, &elements),
              "potrf");
      auto workspaces = s.memory(&Device::workspace, static_cast<std::size_t>(elements) * sizeof(T));
      int info = 0;
      require(s.functions.potrf(s.handle, lower, order, blocks, 1, 1, descriptor, data_type<T>, workspaces.data(),
                                elements, &info),
              "potrf");
      if (info != 0) throw RuntimeError("cuSOLVERMg found the matrix not positive definite");
    });
  });
}

void CuSolverMg::factorize_with_pivots(char type, Index m, Index n, void* A, Index lda, int* pivots) {
  if (m == 0 || n == 0) return;
  const device::gpu::KeepCurrentDevice keep;
  auto& s = *state_;
  common::with_type(type, [&]<Scalar T>(T) {
    s.run(m, n, static_cast<T*>(A), lda, false, [&](cudaLibMgMatrixDesc_t descriptor, void** blocks) {
      std::vector<int*> own;
      for (void* memory : s.memory(&Device::pivots, static_cast<std::size_t>(s.columns_of_each(n)) * sizeof(int)))
        own.push_back(static_cast<int*>(memory));
      std::int64_t elements = 0;
      const int rows = static_cast<int>(m), columns = static_cast<int>(n);
      require(s.functions.getrf_workspace(s.handle, rows, columns, blocks, 1, 1, descriptor, own.data(), data_type<T>,
                                          &elements),
              "getrf");
      auto workspaces = s.memory(&Device::workspace, static_cast<std::size_t>(elements) * sizeof(T));
      int info = 0;
      require(s.functions.getrf(s.handle, rows, columns, blocks, 1, 1, descriptor, own.data(), data_type<T>,
                                workspaces.data(), elements, &info),
              "getrf");
      if (info != 0) throw RuntimeError("cuSOLVERMg found the matrix singular");
      const Index count = std::min(m, n);
      s.for_each_block(count, [&](Device& device, Index first, Index width, Index offset) {
        const auto* const from = static_cast<const int*>(device.pivots.at_least(0)) + offset;
        require(cudaMemcpyAsync(pivots + first, from, static_cast<std::size_t>(width) * sizeof(int),
                                cudaMemcpyDeviceToHost, device.stream.get()),
                "the pivots of cuSOLVERMg");
      });
      s.wait();
    });
  });
}

}  // namespace tessera::bench

#else

namespace tessera::bench {

struct CuSolverMg::State {};
CuSolverMg::CuSolverMg(const std::vector<int>& /*devices*/, Index /*block*/) {
  throw RuntimeError("this program was built with a CUDA toolkit that has no cuSOLVERMg");
}
CuSolverMg::~CuSolverMg() = default;
void CuSolverMg::factorize(char /*type*/, Index /*n*/, void* /*A*/, Index /*lda*/) {}
void CuSolverMg::factorize_with_pivots(char /*type*/, Index /*m*/, Index /*n*/, void* /*A*/, Index /*lda*/,
                                       int* /*pivots*/) {}

}  // namespace tessera::bench

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Operands in GPU memory that is mapped in pieces, as by the expandable segments of PyTorch: several allocations lie
// one after another in one reserved range of addresses.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "common/device_memory.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"

namespace tessera::test::mapped_memory_cpp {
namespace {

#if CUDART_VERSION >= 12050

void require(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what);
}

/// A function of CUDA's driver, which tests are not linked with.
template <typename Function>
Function* of_driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  constexpr unsigned version = 12000;
  require(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &result) == cudaSuccess &&
              function != nullptr,
          name);
  return reinterpret_cast<Function*>(function);
}
#define DRIVER(function) of_driver<decltype(function)>(#function)

CUmemAllocationProp on_gpu(int gpu) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {gpu}};
  return properties;
}

/// A reserved range of addresses of which some pieces are mapped. All pieces have the same size.
class Range {
 public:
  /// @param gpus  the GPU whose memory is mapped to each piece; -1: none
  explicit Range(const std::vector<int>& gpus) : gpus_(gpus) {
    require(cudaSetDevice(0) == cudaSuccess && cudaFree(nullptr) == cudaSuccess, "a context");
    const auto properties = on_gpu(0);
    require(
        DRIVER(cuMemGetAllocationGranularity)(&piece_, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS,
        "cuMemGetAllocationGranularity");
    require(DRIVER(cuMemAddressReserve)(&begin_, gpus.size() * piece_, 0, 0, 0) == CUDA_SUCCESS, "cuMemAddressReserve");
    for (std::size_t i = 0; i < gpus.size(); i++)
      if (gpus[i] >= 0) map(begin_ + i * piece_, gpus[i]);
  }
  ~Range() {
    for (std::size_t i = 0; i < gpus_.size(); i++)
      if (gpus_[i] >= 0) DRIVER(cuMemUnmap)(begin_ + i * piece_, piece_);
    DRIVER(cuMemAddressFree)(begin_, gpus_.size() * piece_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  std::size_t piece() const { return piece_; }
  /// The address of a byte.
  std::byte* at(std::size_t offset) const { return reinterpret_cast<std::byte*>(begin_) + offset; }

 private:
  void map(CUdeviceptr place, int gpu) const {
    CUmemGenericAllocationHandle memory{};
    const auto properties = on_gpu(gpu);
    require(DRIVER(cuMemCreate)(&memory, piece_, &properties, 0) == CUDA_SUCCESS, "cuMemCreate");
    require(DRIVER(cuMemMap)(place, piece_, 0, memory, 0) == CUDA_SUCCESS, "cuMemMap");
    require(DRIVER(cuMemRelease)(memory) == CUDA_SUCCESS, "cuMemRelease");  // it lives as long as it is mapped
    CUmemAccessDesc access{};
    access.location = properties.location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    require(DRIVER(cuMemSetAccess)(place, piece_, &access, 1) == CUDA_SUCCESS, "cuMemSetAccess");
  }

  std::vector<int> gpus_;
  std::size_t piece_ = 0;
  CUdeviceptr begin_ = 0;
};

void copy(void* to, const void* from, std::size_t bytes) {
  require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault) == cudaSuccess, "cudaMemcpy");
}

TEST(MappedMemory, IsKnownUpToItsEnd) {
  namespace device_memory = common::device_memory;
  const Range range({0, 0, -1, 0});
  ASSERT_TRUE(device_memory::may_exist());
  const auto piece = range.piece();
  const auto mapped = [&](std::size_t offset) { return device_memory::bytes_from(range.at(offset), 4 * piece); };
  EXPECT_EQ(device_memory::gpu_of(range.at(0)), 0);
  EXPECT_EQ(device_memory::gpu_of(range.at(piece - 1)), 0);
  EXPECT_EQ(device_memory::gpu_of(range.at(piece)), 0);
  EXPECT_GE(mapped(0), 2 * piece);
  EXPECT_EQ(mapped(8), 2 * piece - 8);
  EXPECT_EQ(mapped(2 * piece - 8), 8);
  EXPECT_EQ(mapped(3 * piece + 8), piece - 8);
}

/// A copy of a matrix whose middle is where the first piece of a range ends.
template <Scalar T>
class Across {
 public:
  explicit Across(const HostMatrix<T>& A)
      : bytes_(static_cast<std::size_t>(A.ld() * A.n()) * sizeof(T)),
        data_(range_.at(range_.piece() - bytes_ / 2 / sizeof(T) * sizeof(T))) {
    require(bytes_ < range_.piece(), "a matrix is too large");
    copy(data_, A.data(), bytes_);
  }
  T* data() const { return reinterpret_cast<T*>(data_); }
  void bring_back(HostMatrix<T>& A) const { copy(A.data(), data_, bytes_); }

 private:
  Range range_{{0, 0}};
  std::size_t bytes_;
  std::byte* data_;
};

class MappedOperands : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, MappedOperands, each_routine(), its_name);

TEST_P(MappedOperands, MayCrossBorders) {
  run([]<Scalar T>(const Routine<T>& routine) {
    expect_right_on_copies<Across>(routine, Options{}, {130, 70, 90}, 7);
  });
}

constexpr Index n = 64;
constexpr std::size_t bytes = n * n * sizeof(double);

void expect_too_short(const Range& range, std::size_t offset, const std::string& why) {
  const std::vector<double> A(n * n);
  auto* const C = reinterpret_cast<double*>(range.at(offset));
  expect_refused<ArgumentError>(
      [&] { gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., A.data(), n, A.data(), n, 0., C, n); }, "gemm", 12, "C", why);
  expect_refused<ArgumentError>(
      [&] { gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., C, n, A.data(), n, 0., const_cast<double*>(A.data()), n); },
      "gemm", 7, "A", why);
}

TEST(MappedMemory, OperandsBeyondItsEndAreRefused) {
  const Range range({0, 0, -1});
  const std::string needed = " bytes in memory of GPU 0, must be at least " + std::to_string(bytes);
  expect_too_short(range, 2 * range.piece() - bytes + 8, "points to " + std::to_string(bytes - 8) + needed);
  expect_too_short(range, 2 * range.piece() - 8, "points to 8" + needed);
}

TEST(MappedMemory, OperandsAcrossGapsAreRefused) {
  const Range range({0, -1, 0});
  constexpr Index ld = 1 << 18;  // columns are 2 MiB apart, so that the last one is in the third piece
  const auto columns = static_cast<Index>(2 * range.piece() / (ld * sizeof(double))) + 1;
  const std::vector<double> A(static_cast<std::size_t>(columns * columns), 1);
  expect_refused<ArgumentError>(
      [&] {
        gemm(Op::NoTrans, Op::NoTrans, 1, columns, columns, 1., A.data(), 1, A.data(), columns, 0.,
             reinterpret_cast<double*>(range.at(0)), ld);
      },
      "gemm", 12, "C", "points to " + std::to_string(range.piece()) + " bytes in memory of GPU 0");
}

TEST(MappedMemory, OperandsOnTwoGpusAreRefused) {
  if (std::ranges::count(devices(), Device::Kind::Gpu, &Device::kind) < 2) GTEST_SKIP() << "one GPU";
  const Range range({0, 1});
  expect_too_short(range, range.piece() - 8, "points to 8 bytes in memory of GPU 0");
}

#endif

}  // namespace
}  // namespace tessera::test::mapped_memory_cpp

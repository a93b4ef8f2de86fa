// SPDX-License-Identifier: BSD-3-Clause
#include "workload/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include <tessera/error.hpp>

#include "common/of_type.hpp"
#include "workload/operand.hpp"
#include "workload/parallel.hpp"

namespace tessera::bench {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Touches all pages from all cores. The first touch determines the NUMA node of a page, and pinning makes it
/// permanent.
void touch(char* data, std::size_t bytes) {
  constexpr Index page = 4096;
  parallel_for(static_cast<Index>(bytes) / page, 1024, [=](Index begin, Index end) {
    for (Index i = begin; i < end; i++) data[i * page] = 0;
  });
}

}  // namespace

HostMemory::HostMemory(std::size_t bytes, Memory kind)
    : bytes_((std::max<std::size_t>(bytes, 1) + huge_page - 1) / huge_page * huge_page) {
  if (kind == Memory::Managed) {
    data_ = managed_.emplace(std::nullopt, bytes_).data();
    touch(static_cast<char*>(data_), bytes_);
    return;
  }
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED)
    throw RuntimeError(fmt::format("cannot allocate {:.1f} GiB of host memory for an operand",
                                   static_cast<double>(bytes_) / (1 << 30)));
  madvise(data_, bytes_, MADV_HUGEPAGE);
  touch(static_cast<char*>(data_), bytes_);
  try {
    if (kind == Memory::Pinned) pinned_.emplace(data_, bytes_);
  } catch (...) {
    munmap(data_, bytes_);
    throw;
  }
}

HostMemory::~HostMemory() {
  pinned_.reset();
  if (!managed_) munmap(data_, bytes_);
}

namespace {

template <Scalar T>
void fill_as(void* data, Index elements, std::uint64_t seed, int operand) {
  const Index reals = elements * (is_complex<T> ? 2 : 1);
  parallel_for(reals, 1 << 16, [=](Index begin, Index end) {
    auto* real = static_cast<Real<T>*>(data);
    for (Index i = begin; i < end; i++) real[i] = static_cast<Real<T>>(generated(seed, operand, i));
  });
}

template <Scalar T>
void improve_condition(T* data, const Shape& shape) {
  const auto factor = static_cast<Real<T>>(1 / std::sqrt(static_cast<double>(std::max<Index>(1, shape.rows))));
  parallel_for(shape.columns, 16, [=](Index begin, Index end) {
    for (Index j = begin; j < end; j++)
      for (Index i = 0; i < shape.rows; i++) {
        auto& x = data[i + j * shape.ld];
        x = i == j ? x + T(1.5) : x * factor;
        if (i == j && shape.real_diagonal) x = std::real(x);
      }
  });
}

void fill_operand(const Problem& problem, void* data, const Shape& shape, int operand) {
  common::with_type(problem.type, [&]<Scalar T>(T) {
    fill_as<T>(data, shape.elements(), problem.seed, operand);
    if (shape.well_conditioned) improve_condition(static_cast<T*>(data), shape);
  });
}

}  // namespace

OperandMemory::OperandMemory(const std::array<std::size_t, 3>& bytes, Memory memory, std::optional<int> gpu)
    : bytes_(bytes), host_{HostMemory(bytes[0], memory), HostMemory(bytes[1], memory), HostMemory(bytes[2], memory)} {
  if (memory != Memory::Device) return;
  for (const auto size : bytes)
    on_gpu_.push_back(std::make_unique<device::gpu::Allocation>(*gpu, std::max<std::size_t>(size, 1)));
}

Operands OperandMemory::get() const noexcept {
  if (on_gpu_.empty()) return {host_[0].data(), host_[1].data(), host_[2].data()};
  return {on_gpu_[0]->data(), on_gpu_[1]->data(), on_gpu_[2]->data()};
}

Operands OperandMemory::on_host() const {
  for (std::size_t i = 0; i < on_gpu_.size(); i++)
    device::gpu::copy_columns(host_[i].data(), bytes_[i], on_gpu_[i]->data(), bytes_[i], bytes_[i], 1);
  return {host_[0].data(), host_[1].data(), host_[2].data()};
}

void OperandMemory::move_to_gpu() const {
  for (std::size_t i = 0; i < on_gpu_.size(); i++)
    device::gpu::copy_columns(on_gpu_[i]->data(), bytes_[i], host_[i].data(), bytes_[i], bytes_[i], 1);
}

void OperandMemory::fill(const Problem& problem, const Shapes& shapes) const {
  fill_operand(problem, host_[0].data(), shapes.A, 0);
  fill_operand(problem, host_[1].data(), shapes.B, 1);
  fill_result(problem, shapes);
}

void OperandMemory::fill_result(const Problem& problem, const Shapes& shapes) const {
  if (shapes.A.overwritten || !on_gpu_.empty()) fill_operand(problem, host_[0].data(), shapes.A, 0);
  fill_operand(problem, host_[2].data(), shapes.C, 2);
  move_to_gpu();
}

}  // namespace tessera::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operand_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include <tessera/error.hpp>

#include "shared/types.hpp"
#include "workload/generated.hpp"
#include "workload/parallel.hpp"

namespace tessera::bench {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Touches all pages from all cores. The first touch decides on which NUMA node a page lies, and pinning fixes it.
void touch(char* data, std::size_t bytes) {
  constexpr Index page = 4096;
  parallel_for(static_cast<Index>(bytes) / page, 1024, [=](Index begin, Index end) {
    for (Index i = begin; i < end; i++) data[i * page] = 0;
  });
}

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
      }
  });
}

void fill_operand(const Problem& problem, void* data, const Shape& shape, int operand) {
  tools::with_type(problem.type, [&]<Scalar T>(T) {
    fill_as<T>(data, shape.elements(), problem.seed, operand);
    if (shape.well_conditioned) improve_condition(static_cast<T*>(data), shape);
  });
}

}  // namespace

HostMemory::HostMemory(std::size_t bytes, bool pinned)
    : bytes_((std::max<std::size_t>(bytes, 1) + huge_page - 1) / huge_page * huge_page) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED)
    throw RuntimeError(fmt::format("cannot allocate {:.1f} GiB of host memory for an operand",
                                   static_cast<double>(bytes_) / (1 << 30)));
  madvise(data_, bytes_, MADV_HUGEPAGE);
  touch(static_cast<char*>(data_), bytes_);
  try {
    if (pinned) pinned_.emplace(data_, bytes_);
  } catch (...) {
    munmap(data_, bytes_);
    throw;
  }
}

HostMemory::~HostMemory() {
  pinned_.reset();
  munmap(data_, bytes_);
}

OperandMemory::OperandMemory(std::size_t bytes_a, std::size_t bytes_b, std::size_t bytes_c, bool pinned)
    : A_(bytes_a, pinned), B_(bytes_b, pinned), C_(bytes_c, pinned) {}

void OperandMemory::fill(const Problem& problem, const Shapes& shapes) const {
  fill_operand(problem, A_.data(), shapes.A, 0);
  fill_operand(problem, B_.data(), shapes.B, 1);
  fill_result(problem, shapes);
}

void OperandMemory::fill_result(const Problem& problem, const Shapes& shapes) const {
  if (shapes.A.overwritten) fill_operand(problem, A_.data(), shapes.A, 0);
  fill_operand(problem, C_.data(), shapes.C, 2);
}

}  // namespace tessera::bench

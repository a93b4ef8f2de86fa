// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operand_memory.hpp"

#include <algorithm>
#include <cmath>

#include "shared/types.hpp"
#include "workload/generated.hpp"
#include "workload/parallel.hpp"

namespace tessera::bench {

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

// SPDX-License-Identifier: BSD-3-Clause
#include "workload/routine.hpp"
#include "common/of_type.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "shared/exit_code.hpp"
#include "workload/spread.hpp"

namespace tessera::bench {

namespace {

/// Where operands in this memory are, as the plan of a call is told. Without CUDA, it is told nothing about pageable
/// memory.
int place_of(Memory memory, bool has_cuda) {
  switch (memory) {
  case Memory::Pinned: return machine::in_host_memory;
  case Memory::Device: return 0;
  case Memory::Spread: return machine::on_their_owners;
  default: return has_cuda ? machine::in_pageable_memory : machine::in_host_memory;
  }
}

}  // namespace

const machine::Machine& machine_for(const Problem& problem) {
  const auto session = runtime::session();
  return session->machine_for_plan(place_of(problem.memory, session->machine().has_cuda()));
}

algorithms::Plan Routine::plan_of(const Problem& problem) const { return plan_of(problem, machine_for(problem)); }

std::string Routine::why_not(const Problem& problem) const {
  if (problem.chain > 1) return fmt::format("--chain: only for gemm, not for {}", name());
  if (problem.memory == Memory::Spread && !can_be_spread())
    return fmt::format("--memory: spread is for potrf, getrf and the BLAS, not for {}", name());
  return "";
}

std::unique_ptr<SpreadCall> Routine::spread(const Problem& /*problem*/, const Operands& /*operands*/) const {
  return nullptr;
}

std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem) {
  constexpr double address_space = 0x1p47;
  const auto element = static_cast<double>(common::size_of(problem.type));
  const auto shapes = routine.shapes(problem);
  std::array<std::size_t, 3> bytes{};
  std::size_t i = 0;
  for (const auto* shape : {&shapes.A, &shapes.B, &shapes.C}) {
    const double exact = static_cast<double>(shape->ld) * static_cast<double>(shape->columns) * element;
    if (exact > address_space)
      throw tools::BadArgument(
          fmt::format("--size: a matrix of {} x {} elements needs {:.3g} GB, which exceeds the address space",
                      shape->rows, shape->columns, exact * 1e-9));
    bytes[i++] = static_cast<std::size_t>(exact);
  }
  return bytes;
}

const std::vector<std::unique_ptr<Routine>>& routines() {
  static const auto table = [] {
    std::vector<std::unique_ptr<Routine>> all;
#define ROUTINE(name, types, shape, alpha, beta) all.push_back(blas_routine(blas::Routine::name));
#include "blas/routines.def"
#undef ROUTINE
    for (const bool solves : {false, true}) all.push_back(cholesky(solves));
    for (const bool solves : {false, true}) all.push_back(lu(solves));
    for (const bool solves : {false, true}) all.push_back(qr(solves));
    all.push_back(triangular_system());
    all.push_back(lu_nopiv());
    for (const auto which : {Inversion::Trtri, Inversion::Lauum, Inversion::Potri, Inversion::Getri})
      all.push_back(inverse(which));
    return all;
  }();
  return table;
}

}  // namespace tessera::bench

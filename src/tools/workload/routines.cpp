// SPDX-License-Identifier: BSD-3-Clause
#include "workload/routines.hpp"

#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "shared/bad_argument.hpp"
#include "shared/types.hpp"
#include "workload/spread.hpp"

namespace tessera::bench {

namespace {

/// Where operands in this memory are, as the plan of a call is told.
int place_of(Memory memory) {
  switch (memory) {
  case Memory::Pinned: return detail::in_host_memory;
  case Memory::Device: return 0;
  case Memory::Spread: return detail::on_their_owners;
  default: return detail::in_pageable_memory;
  }
}

bool is_complex_type(char type) { return type == 'c' || type == 'z'; }

/// Calls `function` with the blas::Call for the problem, whose matrices have no memory.
template <typename Function>
auto with_call(blas::Routine routine, const Problem& p, Function function) {
  return tools::with_type(p.type, [&]<Scalar T>(T) {
    const T alpha = tools::scalar_cast<T>(p.alpha), beta = tools::scalar_cast<T>(p.beta);
    return function(blas::Call{.routine = routine,
                               .type = p.type,
                               .side = p.side,
                               .uplo = p.uplo,
                               .op_a = p.op_a,
                               .op_b = p.op_b,
                               .diag = p.diag,
                               .m = p.m,
                               .n = p.n,
                               .k = p.k,
                               .alpha = &alpha,
                               .beta = &beta});
  });
}

}  // namespace

Takes BlasRoutine::takes() const {
  using enum blas::Member;
  const auto has = [&](blas::Member member) { return blas::has(properties().shape, member); };
  return {has(op_a), has(op_b), has(side), has(uplo), has(diag), has(m), has(k), has(beta)};
}

std::string BlasRoutine::why_not(const Problem& p) const {
  const auto& known = properties();
  if (!known.exists(p.type))
    return fmt::format("--type: '{}' does not exist for {} ({})", p.type, name(),
                       known.types == blas::Types::CZ ? "cz" : "sdcz");
  const auto allowed = legal_ops(which_, is_complex_type(p.type));
  if (takes().trans_a && arguments::illegal_op(1, "op", p.op_a, allowed).position != 0)
    return fmt::format("--trans: '{}' does not exist for {}{} (n, {})", p.op_a == Op::Trans ? 't' : 'c', p.type, name(),
                       allowed == arguments::Ops::Hermitian ? 'c' : 't');
  for (const auto& [option, value, kind] :
       {std::tuple{"--alpha", p.alpha, known.alpha}, {"--beta", p.beta, known.beta}})
    if (value.imag() != 0 && kind != blas::FactorKind::None &&
        (kind == blas::FactorKind::Real || !is_complex_type(p.type)))
      return fmt::format("{}: '{},{}' is complex, but {}{} takes a real number", option, value.real(), value.imag(),
                         p.type, name());
  if (p.chain > 1 && which_ != blas::Routine::gemm) return fmt::format("--chain: only for gemm, not for {}", name());
  return "";
}

double BlasRoutine::flops(const Problem& p) const {
  if (p.alpha == 0.0) return 0;
  return static_cast<double>(p.chain) * with_call(which_, p, [](const blas::Call& call) { return blas::flops(call); });
}

blas::Traffic BlasRoutine::traffic(const Problem& p) const {
  return with_call(which_, p, [](const blas::Call& call) { return blas::traffic(call); });
}

Shapes BlasRoutine::shapes(const Problem& p) const {
  return with_call(which_, p, [&](const blas::Call& call) {
    const auto shape = [&](const arguments::StoredMatrix& X) -> Shape {
      if (X.position == 0) return {};
      return {X.m, X.n, std::max<Index>(1, X.m) + p.ld_pad};
    };
    const auto [A, B, C] = matrices(call);
    Shapes all{shape(A), shape(B), shape(C)};
    all.A.well_conditioned = call.shape() == blas::Shape::triangular;
    return all;
  });
}

const detail::Machine& machine_for(const Problem& problem) {
  return detail::session()->machine_for_plan(place_of(problem.memory));
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

void Routine::run_cublasxt(cublasXtContext* /*handle*/, const Problem& /*problem*/,
                           const Operands& /*operands*/) const {}
void Routine::run_cublas(CuBlas& /*blas*/, const Problem& /*problem*/, const Operands& /*operands*/) const {}
void Routine::run_cusolver_mg(CuSolverMg& /*solver*/, const Problem& /*problem*/, const Operands& /*operands*/) const {}
void Routine::run_cusolver(CuSolver& /*solver*/, const Problem& /*problem*/, const Operands& /*operands*/) const {}

std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem) {
  constexpr double address_space = 0x1p47;
  const auto element = tools::with_type(problem.type, []<Scalar T>(T) { return static_cast<double>(sizeof(T)); });
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
#define ROUTINE(name, types, shape, alpha, beta) all.push_back(shapes::shape(blas::Routine::name));
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

// SPDX-License-Identifier: BSD-3-Clause
// The public forms of every routine: on matrices, on pointers, and on pointers with a layout. This file checks options
// and pointers, and turns row-major calls into column-major ones.
#include <algorithm>
#include <optional>
#include <string>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>

#include "algorithms/plan.hpp"
#include "common/float_mode.hpp"
#include "common/of_type.hpp"
#include "compute.hpp"
#include "devices/gpu.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "runtime/counters.hpp"
#include "runtime/process_session.hpp"
#include "runtime/progress/progress.hpp"
#include "runtime/running_calls.hpp"
#include "runtime/session.hpp"
#include "sinks/dump.hpp"
#include "tile/home.hpp"
#include "tile/kept.hpp"

namespace tessera {

namespace routines {

using blas::Routine, blas::Shape;

algorithms::Plan plan_call(const machine::Machine& machine, const blas::Call& c) {
  const bool far =
      std::ranges::any_of(matrices(c), [&](const auto& x) { return x.used && plan::are_far_apart(c.type, x.m, x.ld); });
  const auto of_triangle = [&](Op op_b, plan::SumOf what) {
    return plan::plan_triangle(machine, c.type, what, c.op_a, op_b, c.n, c.k, reads_result(c), far);
  };
  const Op other = common::other_factor(false, c.op_a);
  switch (c.shape()) {
  case Shape::product: break;
  case Shape::triangle_product: return of_triangle(c.op_b, plan::SumOf::Triangle);
  case Shape::symmetric: return plan::plan_symmetric(machine, c.type, c.side, c.m, c.n, reads_result(c), far);
  case Shape::rank_k: return of_triangle(other, plan::SumOf::RankK);
  case Shape::rank_2k: return of_triangle(other, plan::SumOf::Rank2k);
  case Shape::triangular:
    return plan::plan_triangular(machine, c.type, c.side, c.op_a, c.routine == Routine::trsm, c.m, c.n, far);
  }
  return plan::plan_product(machine, c.type, c.op_a, c.op_b, c.m, c.n, c.k, reads_result(c), far);
}

namespace {

/// @param layout  set if the caller passed a layout; it is then argument 1, and all other positions increase by one
/// @throws ArgumentError, ShapeError
void require_legal(const blas::Call& call, std::optional<Layout> layout, blas::Rules rules) {
  if (layout) blas::arguments::require_legal(call.name(), blas::arguments::illegal_layout(*layout));
  const int shift = layout ? 1 : 0;
  const Layout order = layout.value_or(Layout::ColMajor);
  auto illegal = first_illegal(call, order, rules);
  if (illegal.position != 0) illegal.position += shift;
  blas::arguments::require_legal(call.name(), illegal);
  auto all = matrices(call, order);
  for (auto& matrix : all) matrix.position += shift;
  tile::require_reachable(call.name(), all);
  const auto& output = all.back();
  if (output.m == 0 || output.n == 0) return;
  for (const auto& input : all)
    if (&input != &output && input.used && input.m > 0 && input.n > 0 &&
        tile::overlap(memory_of(output), memory_of(input)))
      throw ShapeError(call.name(), output.position, output.name,
                       std::string("shares memory with the input ") + input.name);
}

/// The plan of a product with operands that the program keeps: its tiles are those in which they are on the GPUs,
/// unless these are much larger or smaller than they should be, or do not fit together. Empty if no operand is kept.
template <Scalar T>
std::optional<algorithms::Plan> plan_kept(const machine::Machine& machine, const blas::Call& c) {
  if (c.shape() != Shape::product || machine.tile > 0 || tile::kept::matrices == 0) return {};
  const auto stored = [&](Op op, const void* data, Index m, Index n, Index ld) {
    auto known = op == Op::NoTrans ? tile::kept::known(data, m, n, ld, sizeof(T), data == c.C)
                                   : tile::kept::known(data, n, m, ld, sizeof(T), false);
    if (op != Op::NoTrans) std::swap(known.tile.rows, known.tile.columns);
    return known;
  };
  const auto A = stored(c.op_a, c.A, c.m, c.k, c.lda), B = stored(c.op_b, c.B, c.k, c.n, c.ldb),
             C = stored(Op::NoTrans, c.C, c.m, c.n, c.ldc);
  if (!A.is_kept && !B.is_kept && !C.is_kept) return {};
  auto tile = plan::tiles_to_keep(machine, type_letter<T>, c.m, c.n, c.k);
  const auto choose = [](Index& extent, std::initializer_list<Index> known) {
    const Index wanted = extent;
    const auto fits = [&](Index x) { return x > 0 && x <= 2 * wanted && wanted <= 2 * x; };
    if (const auto* const first = std::ranges::find_if(known, fits); first != known.end()) extent = *first;
  };
  choose(tile.m, {A.tile.rows, C.tile.rows});  // prefers the tiles of inputs: C is not copied to the GPUs if beta is 0
  choose(tile.n, {B.tile.columns, C.tile.columns});
  choose(tile.k, {A.tile.columns, B.tile.rows});
  auto plan = plan::plan_product(machine, type_letter<T>, tile, c.m, c.n, c.k);
  plan.for_cores = 0;  // each part is computed where it stays
  plan.reason = "operands are kept on the GPUs in these tiles";
  return plan;
}

/// Computes a product on the GPU that has all operands, without tasks, unless somebody watches tasks or has chosen
/// tiles.
/// @return  false if tasks must compute the call
bool compute_without_tasks(detail::Session& session, const machine::Machine& machine, const blas::Call& call) {
  if (!machine.has_owners() || machine.tile > 0 || runtime::progress_is_watched() || session.recording() != nullptr ||
      sinks::Dump::active() != nullptr || common::float_mode::current() != common::float_mode::usual)
    return false;
  const auto running = runtime::begin_unless_exiting(session.calls());
  const runtime::OneWithoutTasks beside_tasks;
  if (!device::gpu::compute_product(call, machine.gpus[static_cast<std::size_t>(machine.operands)])) return false;
  runtime::count_submitted();
  return true;
}

/// @param reads  whether the call reads its inputs
template <Scalar T>
void compute_in_session(const std::shared_ptr<detail::Session>& session, const blas::Call& call, bool reads) {
  const auto [A, B, C] = memories_of(call);
  const auto& machine = machine_for(*session, {C, reads ? A : no_operand, reads ? B : no_operand});
  const bool on_gpu = reads && machine.operands >= 0;
  if (on_gpu && machine.gpu_count() == 1 && compute_without_tasks(*session, machine, call)) return;
  auto kept_plan = reads ? plan_kept<T>(machine, call) : std::nullopt;
  const auto plan = kept_plan ? *std::move(kept_plan) : plan_call(machine, call);
  if (on_gpu && machine.gpu_count() > 1 && plan.gpus == 1 && compute_without_tasks(*session, machine, call)) return;
  switch (call.shape()) {
  case Shape::product:
  case Shape::triangle_product: return compute_product<T>(session, plan, call);
  case Shape::symmetric: return compute_symmetric<T>(session, plan, call);
  case Shape::rank_k:
  case Shape::rank_2k: return compute_update<T>(session, plan, call);
  case Shape::triangular: return compute_triangular<T>(session, plan, call);
  }
}

template <Scalar T>
void compute_of_type(const blas::Call& call) {
  const bool reads = blas::reads_inputs(call) && (call.k > 0 || !blas::has(call.shape(), blas::Member::k));
  if (call.rows() == 0 || call.n == 0 || (!reads && Factors<T>(call).beta == T(1))) return;
  const auto session = runtime::session_to_wait(call.name());
  for (bool right = false; !right;) {
    tile::kept::InCall looks_for_kept_tiles(session, blas::matrices(call), blas::reads_result(call));
    compute_in_session<T>(session, call, reads);
    right = looks_for_kept_tiles.used_right_values();
  }
}

/// @pre  the call obeys the rules of the BLAS
void dispatch(const blas::Call& call) {
  if (!call.properties().exists(call.type))
    throw ArgumentError(call.name(), 0, "type", std::string("is ") + call.type + ", which this routine does not have");
  common::with_type(call.type, [&]<Scalar T>(T) { compute_of_type<T>(call); });
}

void compute(const blas::Call& call, std::optional<Layout> layout) {
  require_legal(call, layout, blas::Rules::All);
  dispatch(blas::ByColumns(call, layout.value_or(Layout::ColMajor)).call());
}

/// Checks a call on matrices, and submits its tasks.
template <Scalar T>
void submit(const TileCall<T>& c) {
  const blas::Call options{.routine = c.routine,
                           .type = type_letter<T>,
                           .side = c.side,
                           .uplo = c.uplo,
                           .op_a = c.op_a,
                           .op_b = c.op_b,
                           .diag = c.diag};
  blas::arguments::require_legal(options.name(), first_illegal_option(options));
  switch (options.shape()) {
  case Shape::product:
  case Shape::triangle_product: return submit_product(c);
  case Shape::symmetric: return submit_symmetric(c);
  case Shape::rank_k:
  case Shape::rank_2k: return submit_update(c);
  case Shape::triangular: return submit_triangular(c);
  }
}

}  // namespace

void compute_legal(const blas::Call& call) {
  require_legal(call, {}, blas::Rules::Ours);
  dispatch(call);
}

}  // namespace routines

using namespace blas;

// The arguments as members of a TileCall, and of a Call.
#define TILE_MEMBER_OPTION(Type, member, name, ...) .member = name,
#define TILE_MEMBER_SIZE(name, ...)
#define TILE_MEMBER_FACTOR(Kind, name, ...) .name = name,
#define TILE_MEMBER_INPUT(name, ld, ...) .name = &name,
#define TILE_MEMBER_OUTPUT(name, ld, ...) .C = &name
#define MEMBER_OPTION(Type, member, name, ...) .member = name,
#define MEMBER_SIZE(name, ...) .name = name,
#define MEMBER_FACTOR(Kind, name, ...) .name = &name,
#define MEMBER_INPUT(name, ld, ...) .name = name, .ld = ld,
#define MEMBER_OUTPUT(name, leading, ...) .C = name, .ldc = leading

#define ROUTINE(name, types, shape, Alpha, Beta)                                                          \
  template <CONCEPT_##types T>                                                                            \
  void name(SHAPE_##shape(MATRICES, Matrix, T, Alpha<T>, Beta<T>)) {                                      \
    routines::submit<T>({.routine = Routine::name, SHAPE_##shape(TILE_MEMBER)});                          \
  }                                                                                                       \
  template <CONCEPT_##types T>                                                                            \
  void name(SHAPE_##shape(POINTERS, Index, T, Alpha<T>, Beta<T>)) {                                       \
    routines::compute({.routine = Routine::name, .type = type_letter<T>, SHAPE_##shape(MEMBER)}, {});     \
  }                                                                                                       \
  template <CONCEPT_##types T>                                                                            \
  void name(Layout layout, SHAPE_##shape(POINTERS, Index, T, Alpha<T>, Beta<T>)) {                        \
    routines::compute({.routine = Routine::name, .type = type_letter<T>, SHAPE_##shape(MEMBER)}, layout); \
  }                                                                                                       \
  FOR_##types(INSTANTIATE_FORMS, name, shape, Alpha, Beta)
#define INSTANTIATE_FORMS(letter, T, name, shape, Alpha, Beta)                  \
  template void name<T>(SHAPE_##shape(MATRICES, Matrix, T, Alpha<T>, Beta<T>)); \
  template void name<T>(SHAPE_##shape(POINTERS, Index, T, Alpha<T>, Beta<T>));  \
  template void name<T>(Layout layout, SHAPE_##shape(POINTERS, Index, T, Alpha<T>, Beta<T>));
#include "blas/routines.def"
#undef ROUTINE

}  // namespace tessera

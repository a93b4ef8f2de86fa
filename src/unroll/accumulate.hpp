// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "core_tiles.hpp"
#include "loader.hpp"
#include "order.hpp"
#include "panel_order.hpp"
#include "shared_loader.hpp"
#include "submit.hpp"
#include "tile/owners.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tile that the task of one term writes: target ← term + β target.
template <Scalar T>
struct Target {
  starpu_data_handle_t handle;
  starpu_data_access_mode mode;
  T beta;
  bool on_diagonal;  ///< only a part of the tile is computed: a triangle and the rows below (Lower) or above it (Upper)
  int owner;         ///< index of the GPU that runs the task, or -1
  starpu_data_handle_t wanted_next;  ///< see Submitter::submit

  /// The target of a second task of the same term.
  Target again() const { return {handle, STARPU_RW, T(1), on_diagonal, owner, wanted_next}; }
};

/// Requests the tiles that `accumulate` reads, in the order in which they are needed.
/// @param loader  a Loader or a SharedLoader
/// @param delay   how many further sums are completed before a deferred result is needed
template <typename AnyLoader, Scalar T, typename Deferred, typename Submit>
void load_in_order(AnyLoader& loader, Index delay, const Matrix<T>& C, Region region, T beta, const Owners& owners,
                   const std::vector<Step>& order, Index terms, Deferred is_deferred, Submit submit) {
  const auto load_inputs = [&](const Step& step) {
    const auto c = is_deferred(step) ? nullptr : C.handle(step.i, step.j);
    submit(loader, step,
           Target<T>{c, beta == T{} ? STARPU_W : STARPU_RW, beta, region.on_diagonal(step.i, step.j),
                     owners.of(step.i, step.j), nullptr});
  };
  const auto load_result = [&](const Step& step) { loader.load(C.handle(step.i, step.j), owners.of(step.i, step.j)); };
  for_each_load(order, terms, delay, is_deferred, load_inputs, load_result);
}

/// Whether all tiles of a call on pointers are requested at its start, although it is not in panels. In simulations of
/// four H200, this makes gemm and symm of n = 1500 (54 MB) 2 and 3 % faster, and of n = 2048 (100 MB) 10 % slower.
template <Scalar T>
bool is_small(const detail::Session& session, const detail::Plan& plan, const Matrix<T>& C) {
  constexpr double most_bytes = 1 << 26;
  const auto m = static_cast<double>(C.m()), n = static_cast<double>(C.n()), k = static_cast<double>(plan.k);
  const double bytes = sizeof(T) * (m * n + (m + n) * k), memory = session.machine().gpu_memory;
  return detail::MatrixAccess::grid(C).is_private() && bytes <= most_bytes && (memory <= 0 || bytes <= memory / 2);
}

/// C ← Σ terms + β C, on a region of C as stored. Submits the tasks of every routine whose output is not also an input.
///
/// The sum of a tile is one chain of tasks on the tile of C itself, with two exceptions:
/// - If the first task would wait for C to arrive, the sum starts in a temporary tile and β C is added at the end.
/// - If there are fewer tiles than workers, the sum is split into several chains. Their results are added in a fixed
///   order, so the same call gives the same bits.
///
/// @param plan    for the tiles of C
/// @param real_diagonal  of C, whatever the imaginary parts of its diagonal are; only for a triangle
/// @param submit  (Submitter&, const Step&, const Target<T>&): submits the task, or tasks, of one term. It may also be
///                called with a Loader, which requests what they read
template <Scalar T, typename Submit>
void accumulate(const detail::Session& session, const detail::Plan& plan, const Matrix<T>& C, Region region, T beta,
                bool real_diagonal, Submit submit) {
  const auto owners = tile::owners(session, plan.grid, C, region);
  if (beta == T{}) beta = T{};  // −0 becomes +0: cuBLAS treats −0 as a nonzero factor and reads C
  const Index terms = plan.terms, sums = plan.sums;
  const auto first_term = [&](Index sum) { return (sum * terms + sums - 1) / sums; };
  std::vector<TemporaryTile> temporaries(static_cast<std::size_t>(C.mt() * C.nt() * sums));
  const bool panels = plan.panels.exist();
  const auto& share = detail::MatrixAccess::grid(C).share();
  auto block = plan.block;  // of one process
  block.rows *= share.p, block.columns *= share.q;
  const bool distributed = share.is_distributed();
  const bool small = !panels && owners.exist() && sums == 1 && plan.for_cores == 0 && is_small(session, plan, C);
  auto order = panels ? panel_order(C.mt(), C.nt(), terms, plan.panels, owners) : std::vector<Step>{};
  const auto for_each_step = [&](auto visit) {
    if (!order.empty()) std::ranges::for_each(order, visit);
    else for_each_product(C.mt(), C.nt(), region, terms, block, owners, plan.task(), visit);
  };
  const bool has_cores = plan.for_cores > 0 && !distributed;
  if (small || has_cores) {
    std::vector<Step> all;
    for_each_step([&](const Step& step) { all.push_back(step); });
    order = std::move(all);
  }
  CoreTiles cores;
  if (has_cores) cores = CoreTiles(order, C.mt(), plan.for_cores, session.machine());  // the last tiles
  const auto is_deferred = [&](const Step& step) {
    return step.deferred && beta != T{} && terms > 1 && sums == 1 && cores.of(step) < 0 &&
           (panels || !region.on_diagonal(step.i, step.j));
  };
  // The part of a diagonal tile that is not computed must survive. If copies leave it alone, it does.
  const bool keeps_rest = !detail::MatrixAccess::grid(C).copies_only_a_triangle();
  const Index gpus = owners.grid().size();
  if (panels && owners.exist()) {
    Loader loader(session);
    load_in_order(loader, plan.panels.ahead * gpus, C, region, beta, owners, order, terms, is_deferred, submit);
  } else if (small) {
    SharedLoader loader;
    load_in_order(loader, 2 * gpus, C, region, beta, owners, order, terms, is_deferred, submit);
    loader.request(session);
  }
  Submitter submitter(session, C);
  const auto submit_term = [&](const Step& step) {
    const auto c = C.handle(step.i, step.j);
    const bool on_diagonal = region.on_diagonal(step.i, step.j);
    const Index sum = step.term * sums / terms;
    const bool first = step.term == first_term(sum), last = step.term + 1 == first_term(sum + 1);
    const bool deferred = is_deferred(step);
    const int owner = cores.of(step) >= 0 ? cores.of(step)
                      : owners.exist()    ? static_cast<int>((owners.of(step.i, step.j) + sum) % owners.grid().size())
                                          : -1;
    auto& temporary = temporaries[static_cast<std::size_t>((step.i + step.j * C.mt()) * sums + sum)];
    const bool mine = !distributed || submitter.runs(c);
    if (mine && first && (deferred || sum > 0)) {
      temporary = TemporaryTile(C.tile_m(step.i), C.tile_n(step.j), sizeof(T));
      temporary.stand_for(detail::MatrixAccess::grid(C), step.i, step.j);
      submitter.keep(temporary);
    }

    const bool in_place = temporary.handle() == nullptr;
    Target<T> target{in_place ? c : temporary.handle(), STARPU_RW, T(1), on_diagonal, owner, nullptr};
    if (first) target.beta = in_place ? beta : T{};
    if (target.beta == T{} && !(keeps_rest && on_diagonal && in_place)) target.mode = STARPU_W;
    if (deferred && first && !panels) target.wanted_next = c;
    submitter.step(step.k);
    submit(submitter, step, target);
    if (in_place || !last) return;
    const double elements = static_cast<double>(C.tile_m(step.i)) * static_cast<double>(C.tile_n(step.j));
    const codelets::AddArgs<T> addition{{elements, type_letter<T>},
                                        on_diagonal ? region.part : Part::All,
                                        region.first_row(step.j, C.nb()),
                                        on_diagonal && real_diagonal,
                                        deferred ? beta : T(1)};
    submitter.submit(codelets::add<T>(), {{temporary.handle(), STARPU_R}, {c, STARPU_RW}}, addition,
                     owners.of(step.i, step.j));
    temporary.release();
  };
  for_each_step(submit_term);
}

}  // namespace tessera::unroll

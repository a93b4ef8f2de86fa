// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include <tessera/error.hpp>

#include "blas/lapack_call.hpp"
#include "machine/machine.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "tile/home.hpp"
#include "tile/kept.hpp"
#include "tile/split.hpp"

/// Shared parts of the LAPACK routines on pointers.
namespace tessera::routines {

constexpr Layout layout_of(const Layout* given) { return given != nullptr ? *given : Layout::ColMajor; }

/// The call of a routine on pointers with the argument list `list` of lapack_arguments.hpp, made of the variables T,
/// `given` (the layout, null if the caller passed none) and those that the list names.
#define LAPACK_CALL(name, list)                                                                                       \
  blas::LapackCall {                                                                                                  \
    .routine = blas::LapackRoutine::name, .type = type_letter<T>, .layout = layout_of(given), LAPACK_##list(MEMBER, ) \
  }
#define MEMBER_OPTION(Type, name, ...) .name = name,
#define MEMBER_SIZE(name, ...) .name = name,
#define MEMBER_MATRIX(name, ld, ...) .name = writable(name), .ld = ld,
#define MEMBER_PIVOTS(...) .ipiv = writable(ipiv),
#define MEMBER_TAU(...) .tau = writable(tau),
#define MEMBER_WORK(...) .lwork = blas::LapackCall::enough_work,
inline void* writable(const void* data) { return const_cast<void*>(data); }  // a call has one type for all pointers

/// Checks the memory of a matrix.
inline void require_memory(const char* routine, const blas::arguments::StoredMatrix& x) {
  blas::arguments::require_legal(routine, illegal_memory(x));
  tile::require_reachable(routine, {&x, 1});
  if (x.used) tile::kept::written(memory_of(x));  // solvers do not use kept tiles, and write from several places
}

/// Checks the memory of an argument that is no matrix.
inline void require_elements(const char* routine, int position, const char* name, const void* data) {
  if (data == nullptr) throw ArgumentError(routine, position, name, "is null, but has elements");
  blas::arguments::require_legal(routine, blas::arguments::illegal_for_host(position, name, data));
}

/// Checks the layout, if the caller passed one.
/// @return  the number of arguments before those of LAPACK
inline int require_legal(const char* routine, const Layout* given) {
  if (given == nullptr) return 0;
  blas::arguments::require_legal(routine, blas::arguments::illegal_layout(*given));
  return 1;
}

/// Checks the arguments of a routine on pointers.
/// @return  A and B as stored
inline std::array<blas::arguments::StoredMatrix, 2> require_legal(const char* routine, const blas::LapackCall& call,
                                                                  const Layout* given) {
  const int before = require_legal(routine, given);
  auto illegal = first_illegal(call, blas::Rules::Ours);
  if (illegal.position != 0) illegal.position += before;
  blas::arguments::require_legal(routine, illegal);
  auto all = matrices(call);
  for (auto& x : all) x.position += before, x.ld_position += before, require_memory(routine, x);
  const auto &A = all[0], &B = all[1];
  const auto vector = [&](const char* name, const void* data, Index count) {
    const int position = position_of(call, name);
    if (position > 0 && count > 0 && A.used) require_elements(routine, before + position, name, data);
  };
  if (call.pivoted) vector("ipiv", call.ipiv, call.pivot_count());
  vector("tau", call.tau, call.properties().reads_factors() ? call.k : call.pivot_count());
  if (A.m > 0 && A.n > 0 && B.m > 0 && B.n > 0 && tile::overlap(memory_of(A), memory_of(B)))
    throw ShapeError(routine, B.position, B.name, std::string("shares memory with ") + A.name);
  return all;
}

/// Checks the options of a routine on matrices, which precede all other arguments there.
inline void require_legal_options(blas::LapackCall options) {
  options.lwork = blas::LapackCall::enough_work;
  blas::arguments::require_legal(options.name(), first_illegal(options, blas::Rules::Ours));
}

/// @throws ArgumentError if a pivot is not a valid row
template <typename Int>
void require_rows(const char* routine, int position, const Int* ipiv, Index n) {
  for (Index i = 0; i < n; i++)
    if (ipiv[i] <= i || ipiv[i] > n)
      throw ArgumentError(routine, position, "ipiv",
                          "has " + std::to_string(ipiv[i]) + " at " + std::to_string(i + 1) + ", must be from " +
                              std::to_string(i + 1) + " to " + std::to_string(n));
}

/// The width of the tiles of right-hand sides, narrow enough to give every worker some tiles.
/// @param widest  the width of the factor's tiles. On GPUs, no tile is wider, because there may be no room for it
inline Index width_of_right_sides(const machine::Machine& machine, Index nrhs, Index widest) {
  constexpr Index for_each_worker = 2;
  const Index narrowest = machine.gpu_count() > 0 ? std::min<Index>(64, widest) : 64;
  const Index workers = std::max(1, machine.gpu_count() > 0 ? machine.gpu_count() : machine.cpu_workers);
  return std::clamp(tile::divide_up(nrhs, workers * for_each_worker), std::min(narrowest, nrhs),
                    std::max(widest, narrowest));
}

/// The plan for right-hand sides. Their tiles are at most as wide as the square tiles of the factor.
/// @param side  the side of the right-hand sides on which the factor stands
inline algorithms::Plan plan_right_sides(const machine::Machine& machine, const algorithms::Plan& factor, Side side,
                                         Index nrhs) {
  const Index tile = factor.tile.n, width = width_of_right_sides(machine, nrhs, tile);
  return plan::plan_columns(
      machine, side == Side::Left ? tile::TileExtents{tile, width, tile} : tile::TileExtents{width, tile, tile},
      tile::divide_up(nrhs, width), factor.gpus);
}

}  // namespace tessera::routines

/// Defines the two public forms of a routine on pointers, of which the second has a layout as argument 1. Both call
/// `function` with the address of the layout, or null, and `arguments`. Lists are given in parentheses.
#define DEFINE_ON_POINTERS(Result, name, types, parameters, function, arguments) \
  template <LISTED types>                                                        \
  Result name(LISTED parameters) {                                               \
    return static_cast<Result>(routines::function(nullptr, LISTED arguments));   \
  }                                                                              \
  template <LISTED types>                                                        \
  Result name(Layout layout, LISTED parameters) {                                \
    return static_cast<Result>(routines::function(&layout, LISTED arguments));   \
  }
#define LISTED(...) __VA_ARGS__
/// Instantiates both forms of `function`, such as potrf<T>, for the types of its parameters.
#define INSTANTIATE_ON_POINTERS(Result, function, ...) \
  template Result function(__VA_ARGS__);               \
  template Result function(Layout, __VA_ARGS__);

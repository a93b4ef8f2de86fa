// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <tessera/error.hpp>
#include <tessera/matrix.hpp>

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"
#include "common/symmetry.hpp"
#include "conformable.hpp"
#include "devices/gpu.hpp"
#include "plan/plans.hpp"
#include "runtime/session.hpp"
#include "sinks/dump.hpp"
#include "tile/edges.hpp"
#include "tile/kept.hpp"
#include "tile/region.hpp"
#include "tile/tile_grid.hpp"

/// Combines views with options: of which stored tiles an operand consists, and how a tile operation uses them.
namespace tessera::routines {

/// The memory of a matrix argument on pointers.
inline detail::TileGrid::Memory memory_of(const blas::arguments::StoredMatrix& matrix) {
  return {static_cast<const std::byte*>(matrix.data), static_cast<std::size_t>(matrix.m * matrix.element_size),
          static_cast<std::size_t>(matrix.ld * matrix.element_size), matrix.n};
}

/// The memory of the operands of a call.
inline std::array<detail::TileGrid::Memory, 3> memories_of(const blas::Call& call) {
  const auto [A, B, C] = blas::matrices(call);
  return {memory_of(A), memory_of(B), memory_of(C)};
}
inline std::array<detail::TileGrid::Memory, 2> memories_of(const blas::LapackCall& call) {
  const auto [A, B] = blas::matrices(call);
  return {memory_of(A), memory_of(B)};
}

/// The memory of a column-major m×n operand.
template <Scalar T>
detail::TileGrid::Memory memory_of(const T* data, Index m, Index n, Index ld) {
  return {reinterpret_cast<const std::byte*>(data), static_cast<std::size_t>(m) * sizeof(T),
          static_cast<std::size_t>(ld) * sizeof(T), n};
}

/// An operand that a call does not have or does not access.
inline constexpr detail::TileGrid::Memory no_operand{};

/// Where an operand is, as for Machine::operands. Memory that is pinned in parts counts as pageable, because it is
/// copied like pageable memory.
inline int place_of(const machine::Machine& machine, const detail::TileGrid::Memory& operand) {
  const auto begin = machine.gpus.begin(), end = begin + machine.cuda_gpus,
             found = std::find(begin, end, device::gpu::device_of(operand.first));
  if (found != end) return static_cast<int>(found - begin);
  return device::gpu::is_pinned(operand.first, static_cast<std::size_t>(operand.end() - operand.first))
             ? machine::in_host_memory
             : machine::in_pageable_memory;
}

/// The machine for planning a call. If operands are in several places, it plans as if they were in pinned memory.
/// Operands that are null or empty do not count.
inline const machine::Machine& machine_for(const detail::Session& session,
                                           std::span<const detail::TileGrid::Memory> operands) {
  const auto& machine = session.machine();
  if (!machine.has_cuda()) return machine;
  std::optional<int> all;
  for (const auto& operand : operands) {
    if (operand.first == nullptr || operand.bytes() == 0) continue;
    const int here = place_of(machine, operand);
    if (all.value_or(here) != here) return machine;
    all = here;
  }
  return session.machine_for_plan(all.value_or(machine::in_host_memory));
}
inline const machine::Machine& machine_for(const detail::Session& session,
                                           std::initializer_list<detail::TileGrid::Memory> operands) {
  return machine_for(session, std::span(operands.begin(), operands.size()));
}

/// The triangle of the transposed matrix if `transposed`, otherwise of the matrix itself.
constexpr Uplo opposite_if(bool transposed, Uplo uplo) { return transposed ? blas::opposite(uplo) : uplo; }
constexpr Side opposite_if(bool transposed, Side side) { return transposed ? blas::opposite(side) : side; }

using common::conjugated_if;

template <Scalar T>
bool is_transposed(const Matrix<T>& A) {
  return A.op() != Op::NoTrans;
}
/// Whether the view is a conjugate transpose. False for real types, where it is a plain transpose.
template <Scalar T>
bool is_conjugated(const Matrix<T>& A) {
  return is_complex<T> && A.op() == Op::ConjTrans;
}

/// Whether a view of a symmetric or Hermitian matrix equals its conjugate: Aᴴ if symmetric, Aᵀ if Hermitian.
template <Scalar T>
bool conjugates(bool hermitian, const Matrix<T>& A) {
  return is_complex<T> && A.op() == (hermitian ? Op::Trans : Op::ConjTrans);
}

/// A factor of a product: the stored tiles, and the combined operation of view and option.
template <Scalar T>
struct Factor {
  Matrix<T> tiles;
  bool transpose, conjugate;

  Factor(const Matrix<T>& A, Op op)
      : tiles(A.stored()), transpose((A.op() != Op::NoTrans) != (op != Op::NoTrans)),
        conjugate(is_complex<T> && (A.op() == Op::ConjTrans) != (op == Op::ConjTrans)) {}

  Op op() const { return !transpose ? Op::NoTrans : conjugate ? Op::ConjTrans : Op::Trans; }
  Matrix<T> view() const { return transpose ? tiles.transposed() : tiles; }  ///< op(A) as a view, not conjugated

  /// The transpose, or the conjugate transpose, of this factor.
  Factor transposed(bool conjugated) const {
    Factor result = *this;
    result.transpose = !transpose;
    result.conjugate = is_complex<T> && conjugate != conjugated;
    return result;
  }
};

/// Always throws ArgumentError.
[[noreturn]] inline void refuse_conjugate(const MatrixArgument& which) {
  throw ArgumentError(which.routine, which.position, which.name,
                      "would have to be conjugated without being transposed, which the BLAS does not support");
}

/// @throws ArgumentError if the factor is conjugated but not transposed, since no tile operation supports that
template <Scalar T>
void require_operation(const MatrixArgument& which, const Factor<T>& factor) {
  if (factor.conjugate && !factor.transpose) refuse_conjugate(which);
}

/// The tiles of C, or of one triangle of C, to compute.
/// @param uplo  the triangle of C as stored; if empty, all of C
/// @throws ShapeError for a triangle if the rows of a tile are not a multiple of its columns
template <Scalar T>
tile::Region computed_tiles(const MatrixArgument& which, std::optional<Uplo> uplo, const Matrix<T>& C) {
  if (!uplo) return tile::Part::All;
  if (C.mt() > 1 && C.mb() % C.nb() != 0)
    throw ShapeError(which.routine, which.position, which.name,
                     "is cut, as it is stored, into tiles of " + std::to_string(C.mb()) + "x" + std::to_string(C.nb()) +
                         ", whose rows must be a multiple of their columns");
  return tile::Region::triangle(*uplo, C.mt(), C.nt(), C.mb(), C.nb());
}

/// Whether C ← terms + β C reads C.
/// @param adds_nothing  whether there are no terms
template <Scalar T>
bool is_read(T beta, bool adds_nothing) {
  return beta != T{} && !(adds_nothing && beta == T(1));
}

/// The plan of a sum whose tiles are given: a region of C as stored, and the factor whose columns the sum runs over.
template <Scalar T>
algorithms::Plan plan_of(const machine::Machine& machine, const Matrix<T>& C, tile::Region region,
                         const Matrix<T>& factor) {
  const auto& share = detail::MatrixAccess::grid(C).share();
  const Index tiles = tile::divide_up(region.tiles(C.mt(), C.nt()), static_cast<Index>(share.p) * share.q);
  return plan::plan_sums(machine, type_letter<T>, {C.mb(), C.nb(), factor.nb()}, tiles, factor.n());
}

/// Sets the letter that names this matrix's tiles in traces.
template <Scalar T>
void name_operand(const Matrix<T>& A, char letter) {
  auto& grid = detail::MatrixAccess::grid(A);
  grid.set_letter(letter);
  if (auto* const dump = sinks::Dump::active()) dump->name(grid);
}

/// The tiles of an operand of a pointer routine that the program keeps; empty if there are none.
template <Scalar T>
std::optional<Matrix<T>> kept_operand(const T* data, Index ld, const tile::Edges& rows, const tile::Edges& columns,
                                      std::optional<Uplo> triangle, bool is_output) {
  // The const_cast is safe: tasks write only outputs.
  const auto kept = tile::kept::tiles_for({const_cast<T*>(data), ld, sizeof(T), rows, columns, triangle, is_output});
  if (!kept) return {};
  return detail::MatrixAccess::matrix<T>(kept->grid)
      .view(kept->i0, kept->i0 + rows.count(), kept->j0, kept->j0 + columns.count());
}

/// Registers an input of a pointer routine, unless its tiles are kept.
template <Scalar T>
Matrix<T> private_input(const std::shared_ptr<detail::Session>& session, const T* data, Index ld,
                        const tile::Edges& rows, const tile::Edges& columns) {
  if (auto kept = kept_operand(data, ld, rows, columns, {}, false)) return *kept;
  // The const_cast is safe: tasks write only outputs.
  return detail::MatrixAccess::matrix<T>(
      std::make_shared<detail::TileGrid>(session, const_cast<T*>(data), ld, sizeof(T), rows, columns, true));
}

/// Registers the output of a pointer routine, in tiles of `plan`.
/// @param uplo  the triangle that is used; if empty, the whole matrix
template <Scalar T>
Matrix<T> private_output(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan, T* data,
                         Index m, Index n, Index ld, std::optional<Uplo> uplo = {}) {
  const auto rows = plan.rows(m), columns = plan.columns(n);
  if (auto kept = kept_operand<T>(data, ld, rows, columns, uplo, true)) return *kept;
  auto C = detail::MatrixAccess::matrix<T>(
      std::make_shared<detail::TileGrid>(session, data, ld, sizeof(T), rows, columns, false));
  detail::MatrixAccess::grid(C).make_private();
  if (uplo) detail::MatrixAccess::grid(C).use_only(*uplo);
  return C;
}

/// Registers a symmetric, Hermitian or triangular input of a pointer routine. Keep the matrix until the caller has
/// waited for the result.
template <Scalar T>
Matrix<T> stored_triangle(const std::shared_ptr<detail::Session>& session, Uplo uplo, const T* data, Index order,
                          Index ld, TileSize tile) {
  if (auto kept = kept_operand(data, ld, {order, tile.rows}, {order, tile.columns}, uplo, false)) return *kept;
  auto A = detail::MatrixAccess::matrix(session, data, order, order, ld, tile);
  detail::MatrixAccess::grid(A).use_only(uplo);
  return A;
}

/// Registers an input A of a pointer routine, with the rows and columns of op(A). Keep the matrix until the caller has
/// waited for the result: its destructor waits for the tasks, which would delay the write-back.
template <Scalar T>
Matrix<T> stored_operand(const std::shared_ptr<detail::Session>& session, Op op, const T* data, Index ld,
                         const tile::Edges& rows, const tile::Edges& columns) {
  return op == Op::NoTrans ? private_input(session, data, ld, rows, columns)
                           : private_input(session, data, ld, columns, rows);
}

}  // namespace tessera::routines

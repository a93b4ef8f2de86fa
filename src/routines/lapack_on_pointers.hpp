// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <tessera/error.hpp>

#include "machine/machine.hpp"
#include "operands.hpp"
#include "plan/plans.hpp"
#include "tile/home.hpp"
#include "tile/kept.hpp"
#include "tile/split.hpp"

/// Shared parts of the LAPACK routines on pointers.
namespace tessera::detail {

constexpr Layout layout_of(const Layout* given) { return given != nullptr ? *given : Layout::ColMajor; }

/// Checks the arguments of a LAPACK routine on pointers. Call its functions in the order of the arguments.
class LapackArguments {
 public:
  /// @param layout  argument 1 if the caller passed a layout; otherwise null
  LapackArguments(const char* routine, const Layout* layout) : routine_(routine) {
    if (layout == nullptr) return;
    arguments::require_legal(routine, arguments::illegal_layout(*layout));
    by_rows_ = *layout == Layout::RowMajor, position_ = 1;
  }

  void option(Uplo uplo) { arguments::require_legal(routine_, arguments::illegal_uplo(++position_, uplo)); }
  void option(Diag diag) { arguments::require_legal(routine_, arguments::illegal_diag(++position_, diag)); }
  void option(Op op) { arguments::require_legal(routine_, arguments::illegal_op(++position_, "op", op)); }
  void option(Side side) { arguments::require_legal(routine_, arguments::illegal_side(++position_, side)); }
  /// The op of a unitary matrix of type T. A plain transpose is allowed only for real types, where it is the adjoint.
  template <Scalar T>
  void unitary_op(Op op) {
    const auto allowed = is_complex<T> ? arguments::Ops::Hermitian : arguments::Ops::All;
    arguments::require_legal(routine_, arguments::illegal_op(++position_, "op", op, allowed));
  }
  /// @param most  the largest legal value, if there is one
  void size(const char* name, Index value, std::optional<Index> most = {}) {
    arguments::require_legal(routine_, arguments::illegal_size(++position_, name, value));
    if (most && value > *most)
      arguments::require_legal(routine_, {position_, name, arguments::Problem::TooLarge, value, *most});
  }
  /// Checks the leading dimension and, if the routine uses the matrix, its memory.
  template <Scalar T>
  arguments::StoredMatrix matrix(const char* name, const char* ld_name, Index m, Index n, Index ld, const T* data,
                                 bool used) {
    const int at = position_ + 1;
    position_ += 2;
    const arguments::StoredMatrix x{name, ld_name, at,   at + 1,   by_rows_ ? n : m, by_rows_ ? m : n,
                                    ld,   data,    used, sizeof(T)};
    arguments::require_legal(routine_, illegal_leading_dimension(x));
    arguments::require_legal(routine_, illegal_memory(x));
    require_reachable(routine_, {&x, 1});
    if (used) kept::written(memory_of(x));  // solvers do not use kept tiles, and write from several places
    return x;
  }
  void pivots(const void* ipiv, Index count) {
    position_++;
    if (ipiv == nullptr && count > 0) throw ArgumentError(routine_, position_, "ipiv", "is null, but there are pivots");
    if (count > 0) require_on_host(position_, "ipiv", ipiv);
  }
  void reflectors(const void* tau, Index count) {
    position_++;
    if (tau == nullptr && count > 0) throw ArgumentError(routine_, position_, "tau", "is null, but has elements");
    if (count > 0) require_on_host(position_, "tau", tau);
  }
  /// Checks the optional output after all other arguments.
  void growth(const double* value) { require_on_host(++position_, "growth", value); }
  /// @param data  null if the routine does not access it
  void require_on_host(int position, const char* name, const void* data) const {
    arguments::require_legal(routine_, arguments::illegal_for_host(position, name, data));
  }
  void require_disjoint(const arguments::StoredMatrix& a, const arguments::StoredMatrix& b) const {
    if (a.m > 0 && a.n > 0 && b.m > 0 && b.n > 0 && overlap(memory_of(a), memory_of(b)))
      throw ShapeError(routine_, b.position, b.name, std::string("shares memory with ") + a.name);
  }
  /// @throws ArgumentError if a pivot is not a valid row
  template <typename Int>
  void require_rows(const Int* ipiv, Index n, int position) const {
    for (Index i = 0; i < n; i++)
      if (ipiv[i] <= i || ipiv[i] > n)
        throw ArgumentError(routine_, position, "ipiv",
                            "has " + std::to_string(ipiv[i]) + " at " + std::to_string(i + 1) + ", must be from " +
                                std::to_string(i + 1) + " to " + std::to_string(n));
  }
  int position() const { return position_; }

 private:
  const char* routine_;
  bool by_rows_ = false;
  int position_ = 0;
};

/// The width of the tiles of right-hand sides, narrow enough to give every worker some tiles.
/// @param widest  the width of the factor's tiles. On GPUs, no tile is wider, because there may be no room for it
inline Index width_of_right_sides(const Machine& machine, Index nrhs, Index widest) {
  constexpr Index for_each_worker = 2;
  const Index narrowest = machine.gpu_count() > 0 ? std::min<Index>(64, widest) : 64;
  const Index workers = std::max(1, machine.gpu_count() > 0 ? machine.gpu_count() : machine.cpu_workers);
  return std::clamp(tile::divide_up(nrhs, workers * for_each_worker), std::min(narrowest, nrhs),
                    std::max(widest, narrowest));
}

/// The plan for right-hand sides. Their tiles are at most as wide as the square tiles of the factor.
/// @param side  the side of the right-hand sides on which the factor stands
inline algorithms::Plan plan_right_sides(const Machine& machine, const algorithms::Plan& factor, Side side,
                                         Index nrhs) {
  const Index tile = factor.tile.n, width = width_of_right_sides(machine, nrhs, tile);
  return plan::plan_columns(
      machine, side == Side::Left ? tile::TileExtents{tile, width, tile} : tile::TileExtents{width, tile, tile},
      tile::divide_up(nrhs, width), factor.gpus);
}

}  // namespace tessera::detail

/// Defines the two public forms of a routine on pointers, of which the second has a layout as argument 1. Both call
/// `function` with the address of the layout, or null, and `arguments`. Lists are given in parentheses.
#define DEFINE_ON_POINTERS(Result, name, types, parameters, function, arguments) \
  template <LISTED types>                                                        \
  Result name(LISTED parameters) {                                               \
    return static_cast<Result>(detail::function(nullptr, LISTED arguments));     \
  }                                                                              \
  template <LISTED types>                                                        \
  Result name(Layout layout, LISTED parameters) {                                \
    return static_cast<Result>(detail::function(&layout, LISTED arguments));     \
  }
#define LISTED(...) __VA_ARGS__
/// Instantiates both forms of `function`, such as potrf<T>, for the types of its parameters.
#define INSTANTIATE_ON_POINTERS(Result, function, ...) \
  template Result function(__VA_ARGS__);               \
  template Result function(Layout, __VA_ARGS__);

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <iterator>
#include <limits>
#include <optional>

#include <tessera/types.hpp>

#include "call.hpp"
#include "lapack_arguments.hpp"

/// A call of a LAPACK routine on pointers, as a value: its meaning, its legality and its cost. The counterpart of
/// call.hpp for factorizations, solves and inverses.
namespace tessera::blas {

enum class LapackRoutine : int {
#define LAPACK(name, arguments, matrix, pivots, info, types) name,
#include "lapack.def"
#undef LAPACK
};

/// How a routine uses an operand.
enum class Use { None, Read, Overwritten };

#define LIST(name) name,
enum class LapackArguments { LAPACK_LISTS(LIST) };
#undef LIST

/// The types in which a routine exists.
enum class LapackTypes { SDCZ, SD, CZ };

/// A line of lapack.def.
struct LapackProperties {
  const char* name;  ///< without the letter of the type: "potrf"
  LapackArguments arguments;
  Use matrix, pivots;
  LapackTypes types;

  constexpr bool exists(char type) const {
    const bool complex = type == 'c' || type == 'z';
    return types == LapackTypes::SDCZ || complex == (types == LapackTypes::CZ);
  }

  /// Whether A is a triangle, and the other triangle is neither read nor written.
  constexpr bool has_triangle() const {
    return arguments == LapackArguments::factor || arguments == LapackArguments::triangle ||
           arguments == LapackArguments::triangular_system || arguments == LapackArguments::definite_system;
  }
  constexpr bool has_right_sides() const {
    return arguments == LapackArguments::triangular_system || arguments == LapackArguments::definite_system ||
           arguments == LapackArguments::factored_system || arguments == LapackArguments::system ||
           arguments == LapackArguments::unitary_product || arguments == LapackArguments::least_squares;
  }
  /// Whether tau is an input.
  constexpr bool reads_factors() const {
    return arguments == LapackArguments::unitary_product || arguments == LapackArguments::unitary_factor;
  }
  constexpr bool has_work() const {
    return arguments == LapackArguments::inverse || arguments == LapackArguments::reflectors || reads_factors() ||
           arguments == LapackArguments::least_squares;
  }
};
inline constexpr LapackProperties lapack_routines[] = {
#define LAPACK(name, arguments, matrix, pivots, info, types) \
  {#name, LapackArguments::arguments, Use::matrix, Use::pivots, LapackTypes::types},
#include "lapack.def"
#undef LAPACK
};
inline constexpr int lapack_routine_count = static_cast<int>(std::size(lapack_routines));

struct LapackCall {
  LapackRoutine routine;
  char type;          ///< s, d, c, z
  bool wide = false;  ///< whether pivots and other integers of the program have 64 bits
  Layout layout = Layout::ColMajor;
  bool pivoted = true;  ///< false: a routine that has no `ipiv`, but else the argument list of `routine`
  Uplo uplo = Uplo::Lower;
  Side side = Side::Left;
  Op op = Op::NoTrans;
  Diag diag = Diag::NonUnit;
  Index m = 0, n = 0, k = 0, nrhs = 0;  ///< 0 if the routine does not have this size
  void* A = nullptr;                    ///< const if the routine only reads it
  Index lda = 1;
  void* ipiv = nullptr;  ///< const if the routine only reads it
  void* tau = nullptr;   ///< const if the routine only reads it
  void* B = nullptr;
  Index ldb = 1;
  void* work = nullptr;  ///< null: not provided
  Index lwork = 0;

  static constexpr Index enough_work = std::numeric_limits<Index>::max();  ///< `lwork` of a call without a work

  const LapackProperties& properties() const { return lapack_routines[static_cast<int>(routine)]; }
  const char* name() const { return properties().name; }
  bool is_complex() const { return type == 'c' || type == 'z'; }
  bool by_rows() const { return layout == Layout::RowMajor; }
  Index element_size() const { return type == 's' ? 4 : type == 'z' ? 16 : 8; }
  Index rows() const;     ///< number of rows of A
  Index columns() const;  ///< number of columns of A
  Index pivot_count() const { return rows() < n ? rows() : n; }
  Index right_rows() const;     ///< number of rows of B
  Index right_columns() const;  ///< number of columns of B
};

/// A stored matrix, described as column-major.
struct StoredOperand {
  void* data = nullptr;
  Index m = 0, n = 0, ld = 1;
  std::optional<Uplo> triangle = {};  ///< empty: the whole matrix
  Use use = Use::None;                ///< None if the routine does not have this operand
  const char *name = "", *ld_name = "";

  /// The number of elements that the routine uses.
  double elements() const;
};
/// How a routine uses A and B.
std::array<StoredOperand, 2> operands(const LapackCall& call);

/// A and B as stored, and whether the routine accesses them. Position 0 means that the routine does not have B.
std::array<arguments::StoredMatrix, 2> matrices(const LapackCall& call);

/// The first illegal argument, ignoring pointers. The position counts as for `info`, without a layout.
/// @param rules  Blas: the rules of LAPACK; otherwise those of Tessera, which has a limit for leading dimensions, and
///               accepts ConjTrans for a real unitary factor
/// @pre  the layout is legal
arguments::Argument first_illegal(const LapackCall& call, Rules rules = Rules::Blas);

/// Whether LAPACK accepts the call, and the call is not a query of the workspace size.
/// @pre  the layout is legal
bool is_legal(const LapackCall& call);

/// The position of the argument A, B or ipiv, without a layout.
int position_of(const LapackCall& call, const char* argument);

/// Whether all sizes and leading dimensions fit into 32-bit integers.
bool fits(const LapackCall& call);

/// The number of real floating-point operations, to leading order as usual for LAPACK. 0 if there is nothing to
/// compute.
double flops(const LapackCall& call);

/// Compulsory bytes: each input operand is read once, and each result is written once.
Traffic traffic(const LapackCall& call);

}  // namespace tessera::blas

// SPDX-License-Identifier: BSD-3-Clause
// The public forms of every routine: on matrices, on pointers, and on pointers with a layout. Options and pointers are
// checked here, and row-major calls become column-major ones.
#include <optional>
#include <span>
#include <string>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>

#include "common/of_type.hpp"
#include "compute.hpp"
#include "operands.hpp"

namespace tessera {

namespace detail {

namespace {

using blas::Call;

/// @throws ArgumentError if a matrix is in the memory of a GPU
void require_on_host(const Call& call, std::span<const arguments::StoredMatrix> all, int shift) {
  for (const auto& matrix : all)
    if (auto on_gpu = arguments::on_device(matrix); on_gpu.position != 0) {
      on_gpu.position += shift;
      arguments::require_legal(call.name(), on_gpu);
    }
}

/// @param layout  the layout, if the caller gave one: it is then argument 1, and all other positions increase by one
/// @throws ArgumentError, ShapeError
void require_legal(const Call& call, std::optional<Layout> layout, blas::Rules rules) {
  if (layout) arguments::require_legal(call.name(), arguments::illegal_layout(*layout));
  const int shift = layout ? 1 : 0;
  const Layout order = layout.value_or(Layout::ColMajor);
  auto illegal = first_illegal(call, order, rules);
  if (illegal.position != 0) illegal.position += shift;
  arguments::require_legal(call.name(), illegal);
  const auto all = matrices(call, order);
  if (rules == blas::Rules::All) require_on_host(call, all, shift);  // else the drop-in has looked them up
  const auto& output = all.back();
  if (output.m == 0 || output.n == 0) return;
  for (const auto& input : all)
    if (&input != &output && input.used && input.m > 0 && input.n > 0 && overlap(memory_of(output), memory_of(input)))
      throw ShapeError(call.name(), output.position + shift, output.name,
                       std::string("shares memory with the input ") + input.name);
}

void dispatch(const Call& call) {
  with_type(call.type, [&]<Scalar T>(T) {
    switch (call.routine) {
#define ROUTINE(name, types, shape, alpha, beta)                                       \
  case blas::Routine::name:                                                            \
    if constexpr (blas::exists<T>(blas::Types::types)) return compute_##name<T>(call); \
    break;
#include "blas/routines.def"
#undef ROUTINE
    }
    throw ArgumentError(call.name(), 0, "type", std::string("is ") + call.type + ", which this routine does not have");
  });
}

void compute(const Call& call, std::optional<Layout> layout) {
  require_legal(call, layout, blas::Rules::All);
  dispatch(blas::ByColumns(call, layout.value_or(Layout::ColMajor)).call());
}

template <Scalar T>
void require_legal_options(const TileCall<T>& c) {
  const Call options{.routine = c.routine,
                     .type = type_letter<T>,
                     .side = c.side,
                     .uplo = c.uplo,
                     .op_a = c.op_a,
                     .op_b = c.op_b,
                     .diag = c.diag};
  arguments::require_legal(options.name(), first_illegal_option(options));
}

}  // namespace

void compute_legal(const Call& call) {
  require_legal(call, {}, blas::Rules::Ours);
  dispatch(call);
}

}  // namespace detail

using namespace blas;

// The parameters on matrices of T, for alpha and beta of types Alpha and Beta.
#define TILES_OPTION(Type, member, name, T, Alpha, Beta) Type name,
#define TILES_SIZE(name, T, Alpha, Beta)
#define TILES_FACTOR(Kind, name, T, Alpha, Beta) FACTOR_##Kind(Alpha, Beta) name,
#define TILES_INPUT(name, ld, T, Alpha, Beta) const Matrix<T>&name,
#define TILES_OUTPUT(name, ld, T, Alpha, Beta) const Matrix<T>& name

// The parameters on pointers.
#define POINTERS_OPTION(Type, member, name, T, Alpha, Beta) Type name,
#define POINTERS_SIZE(name, T, Alpha, Beta) Index name,
#define POINTERS_FACTOR(Kind, name, T, Alpha, Beta) FACTOR_##Kind(Alpha, Beta) name,
#define POINTERS_INPUT(name, ld, T, Alpha, Beta) const T *name, Index ld,
#define POINTERS_OUTPUT(name, ld, T, Alpha, Beta) T *name, Index ld
#define FACTOR_Alpha(Alpha, Beta) Alpha
#define FACTOR_Beta(Alpha, Beta) Beta

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

#define CONCEPT_SDCZ Scalar
#define CONCEPT_CZ ComplexScalar

#define ROUTINE(name, types, shape, Alpha, Beta)                                                        \
  template <CONCEPT_##types T>                                                                          \
  void name(SHAPE_##shape(TILES, T, Alpha<T>, Beta<T>)) {                                               \
    const detail::TileCall<T> call{.routine = Routine::name, SHAPE_##shape(TILE_MEMBER)};               \
    detail::require_legal_options(call);                                                                \
    detail::submit_##name(call);                                                                        \
  }                                                                                                     \
  template <CONCEPT_##types T>                                                                          \
  void name(SHAPE_##shape(POINTERS, T, Alpha<T>, Beta<T>)) {                                            \
    detail::compute({.routine = Routine::name, .type = type_letter<T>, SHAPE_##shape(MEMBER)}, {});     \
  }                                                                                                     \
  template <CONCEPT_##types T>                                                                          \
  void name(Layout layout, SHAPE_##shape(POINTERS, T, Alpha<T>, Beta<T>)) {                             \
    detail::compute({.routine = Routine::name, .type = type_letter<T>, SHAPE_##shape(MEMBER)}, layout); \
  }                                                                                                     \
  FOR_##types(INSTANTIATE_FORMS, name, shape, Alpha, Beta)
#define INSTANTIATE_FORMS(letter, T, name, shape, Alpha, Beta)          \
  template void name<T>(SHAPE_##shape(TILES, T, Alpha<T>, Beta<T>));    \
  template void name<T>(SHAPE_##shape(POINTERS, T, Alpha<T>, Beta<T>)); \
  template void name<T>(Layout layout, SHAPE_##shape(POINTERS, T, Alpha<T>, Beta<T>));
#include "blas/routines.def"
#undef ROUTINE

}  // namespace tessera

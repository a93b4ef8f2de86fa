// SPDX-License-Identifier: BSD-3-Clause
// Runs every routine in every library.
#include <algorithm>
#include <array>

#include <tessera/blas3.hpp>
#include <tessera/matrix.hpp>

#include "workload/libraries.hpp"
#include "workload/other_libraries.hpp"
#include "workload/spread.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

using namespace blas;

/// A factor in the form that a routine takes: real for herk and her2k.
template <typename To, Scalar T>
To factor(T x) {
  if constexpr (std::same_as<To, T>) return x;
  else return std::real(x);
}

#define GIVE_OPTION(Type, member, name, ...) c.member,
#define GIVE_SIZE(name, ...) c.name,
#define GIVE_FACTOR(Kind, name, Alpha, Beta) factor<FACTOR_##Kind(Alpha, Beta)>(c.name),
#define GIVE_INPUT(name, ld, ...) c.name, c.ld,
#define GIVE_OUTPUT(name, ld, ...) c.C, c.ldc
#define FACTOR_Alpha(Alpha, Beta) Alpha
#define FACTOR_Beta(Alpha, Beta) Beta

template <Scalar T, typename Size>
void call(const auto& library, blas::Routine routine, const bench::Call<T, Size>& c) {
  switch (routine) {
#define ROUTINE(name, types, shape, Alpha, Beta)                                                        \
  case blas::Routine::name:                                                                             \
    if constexpr (exists<T>(Types::types)) return library.name(SHAPE_##shape(GIVE, Alpha<T>, Beta<T>)); \
    break;
#include "blas/routines.def"
#undef ROUTINE
  }
}

#define TILES_OPTION(Type, member, name, ...) c.member,
#define TILES_SIZE(name, ...)
#define TILES_FACTOR(Kind, name, Alpha, Beta) factor<FACTOR_##Kind(Alpha, Beta)>(c.name),
#define TILES_INPUT(name, ...) name,
#define TILES_OUTPUT(name, ...) C

/// Submits a chain of calls on matrices.
template <Scalar T>
void submit(blas::Routine routine, const bench::Call<T>& c, const Matrix<T>& A, [[maybe_unused]] const Matrix<T>& B,
            const Matrix<T>& C) {
  for (Index i = 0; i < c.chain; i++) switch (routine) {
#define ROUTINE(name, types, shape, Alpha, Beta)                                                   \
  case blas::Routine::name:                                                                        \
    if constexpr (exists<T>(Types::types)) tessera::name(SHAPE_##shape(TILES, Alpha<T>, Beta<T>)); \
    break;
#include "blas/routines.def"
#undef ROUTINE
    }
}

}  // namespace

template <typename Library>
void BlasRoutine::run(const Library& library, const Problem& p, const Operands& o) const {
  with_typed<typename Library::Size>(p, shapes(p), o, [&](const auto& c) {
    for (Index i = 0; i < p.chain; i++) call(library, which_, c);
  });
}

std::array<TileSize, 3> BlasRoutine::tiles(const Problem& p) const {
  const auto plan = plan_of(p);
  auto [m, n, k] = plan.tile;
  // Square tiles always fit together. 0 leaves the choice to the library; also used if a matrix is so narrow that a
  // tile has its full width or height.
  const auto [least, most] = std::minmax({m, n, k});
  if (which_ != blas::Routine::gemm) m = n = k = plan.panels.exist() || least < most / 8 ? 0 : least;
  const auto stored = [](Op op, TileSize tile) { return op == Op::NoTrans ? tile : TileSize{tile.columns, tile.rows}; };
  return {stored(p.op_a, {m, k}), stored(p.op_b, {k, n}), TileSize{m, n}};
}

void BlasRoutine::run_tessera(const Problem& p, const Operands& o) const {
  if (p.chain == 1) return run(Ours{}, p, o);
  const auto s = shapes(p);
  const auto cut = tiles(p);
  with_typed<Index>(p, s, o, [&]<Scalar T>(const bench::Call<T, Index>& c) {
    const Matrix<T> A(c.A, s.A.rows, s.A.columns, c.lda, cut[0]), B(c.B, s.B.rows, s.B.columns, c.ldb, cut[1]),
        C(c.C, s.C.rows, s.C.columns, c.ldc, cut[2]);
    submit(which_, c, A, B, C);
    C.wait();
  });
}
std::unique_ptr<SpreadCall> BlasRoutine::spread(const Problem& p, const Operands& o) const {
  const auto s = shapes(p);
  return with_typed<Index>(p, s, o, [&]<Scalar T>(const bench::Call<T, Index>& c) {
    return spread_call<T>(s, o, tiles(p),
                          [routine = which_, c](const Matrix<T>& A, const Matrix<T>& B, const Matrix<T>& C) {
                            submit(routine, c, A, B, C);
                          });
  });
}
void BlasRoutine::run_openblas(const Problem& p, const Operands& o) const { run(HostBlas{}, p, o); }
void BlasRoutine::run_cublasxt([[maybe_unused]] cublasXtContext* handle, [[maybe_unused]] const Problem& p,
                               [[maybe_unused]] const Operands& o) const {
#ifdef TESSERA_WITH_CUDA
  run(Xt{handle}, p, o);
#endif
}
void BlasRoutine::run_cublas([[maybe_unused]] CuBlas& blas, [[maybe_unused]] const Problem& p,
                             [[maybe_unused]] const Operands& o) const {
#ifdef TESSERA_WITH_CUDA
  run(DeviceBlas{blas.handle()}, p, o);
  blas.wait();
#endif
}

}  // namespace tessera::bench

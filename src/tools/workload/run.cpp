// SPDX-License-Identifier: BSD-3-Clause
// Calls of every routine in every library.
#include <tessera/blas3.hpp>
#include <tessera/matrix.hpp>

#include "workload/libraries.hpp"
#include "workload/other_libraries.hpp"
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

}  // namespace

template <typename Library>
void BlasRoutine::run(const Library& library, const Problem& p, const Operands& o) const {
  with_typed<typename Library::Size>(p, shapes(p), o, [&](const auto& c) {
    for (Index i = 0; i < p.chain; i++) call(library, which_, c);
  });
}

void BlasRoutine::run_tessera(const Problem& p, const Operands& o) const {
  if (p.chain == 1) return run(Ours{}, p, o);
  const auto tile = plan_of(p).tile;
  with_typed<Index>(p, shapes(p), o, [&]<Scalar T>(const bench::Call<T, Index>& c) {
    const auto factor = [](const T* data, Op op, Index rows, Index columns, Index ld, TileSize cut) {
      if (op == Op::NoTrans) return Matrix<T>(data, rows, columns, ld, cut);
      return Matrix<T>(data, columns, rows, ld, {cut.columns, cut.rows});
    };
    const auto A = factor(c.A, c.op_a, c.m, c.k, c.lda, {tile.m, tile.k}),
               B = factor(c.B, c.op_b, c.k, c.n, c.ldb, {tile.k, tile.n});
    const Matrix<T> C(c.C, c.m, c.n, c.ldc, {tile.m, tile.n});
    for (Index i = 0; i < c.chain; i++) gemm<T>(c.op_a, c.op_b, c.alpha, A, B, c.beta, C);
    C.wait();
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

// SPDX-License-Identifier: BSD-3-Clause
// The routines of the BLAS, and trtrs, in every library.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/matrix.hpp>

#include "routines/compute.hpp"
#include "workload/blas_equations.hpp"
#include "workload/libraries.hpp"
#include "workload/other_libraries.hpp"
#include "workload/routine.hpp"
#include "workload/spread.hpp"

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

/// Calls `function` with the blas::Call for the problem, whose matrices have no memory.
template <typename Function>
auto with_call(blas::Routine routine, const Problem& p, Function function) {
  return common::with_type(p.type, [&]<Scalar T>(T) {
    const T alpha = scalar_cast<T>(p.alpha), beta = scalar_cast<T>(p.beta);
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

/// A routine of routines.def.
class BlasRoutine : public bench::Routine {
 public:
  explicit BlasRoutine(blas::Routine which) : bench::Routine(blas::properties(which).name), which_(which) {}

  Takes takes() const override {
    using enum Member;
    const auto has = [&](Member member) { return blas::has(properties().shape, member); };
    return {has(op_a), has(op_b), has(side), has(uplo), has(diag), has(m), has(k), has(beta)};
  }
  Peers peers() const override {
    const bool exists = which_ != blas::Routine::gemmt;
    return {.openblas = exists, .cublas = exists};
  }
  bool can_be_spread() const override { return true; }
  std::string why_not(const Problem& p) const override;
  double flops(const Problem& p) const override {
    if (p.alpha == 0.0) return 0;
    return static_cast<double>(p.chain) *
           with_call(which_, p, [](const blas::Call& call) { return blas::flops(call); });
  }
  blas::Traffic traffic(const Problem& p) const override {
    return with_call(which_, p, [](const blas::Call& call) { return blas::traffic(call); });
  }
  Shapes shapes(const Problem& p) const override;
  /// A triangular matrix, like its inverse, changes the length of a vector by a factor below 3, see `generated`.
  double growth(const Problem& p) const override {
    if (is_triangular()) return 3 * std::max(std::abs(p.alpha), 1 / std::abs(p.alpha));
    return std::pow(std::abs(p.beta), static_cast<double>(p.chain));
  }
  using bench::Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return with_call(which_, p, [&](const blas::Call& call) { return routines::plan_call(machine, call); });
  }

  void run_tessera(const Problem& p, const Operands& o) const override;
  std::unique_ptr<SpreadCall> spread(const Problem& p, const Operands& o) const override;
  void run_openblas(const Problem& p, const Operands& o) const override { run(HostBlas{}, p, o); }
#ifdef TESSERA_WITH_CUDA
  void run_cublasxt(cublasXtContext* handle, const Problem& p, const Operands& o) const override {
    run(Xt{handle}, p, o);
  }
  void run_cublas(CuBlas& blas, const Problem& p, const Operands& o) const override {
    run(DeviceBlas{blas.handle()}, p, o);
    blas.wait();
  }
#endif

  Verdict check(const Problem& p, const Operands& o) const override {
    return with_typed<Index>(p, shapes(p), o, [&](const auto& c) { return check_equation(equation(which_, c)); });
  }

 private:
  const Properties& properties() const { return blas::properties(which_); }
  bool is_triangular() const { return properties().shape == blas::Shape::triangular; }

  template <typename Library>
  void run(const Library& library, const Problem& p, const Operands& o) const {
    with_typed<typename Library::Size>(p, shapes(p), o, [&](const auto& c) {
      for (Index i = 0; i < p.chain; i++) call(library, which_, c);
    });
  }
  /// The tile sizes of A, B and C according to the plan. @pre  a Runtime exists
  std::array<TileSize, 3> tiles(const Problem& p) const;

  blas::Routine which_;
};

std::string BlasRoutine::why_not(const Problem& p) const {
  const auto& known = properties();
  if (!known.exists(p.type))
    return fmt::format("--type: '{}' does not exist for {} ({})", p.type, name(),
                       known.types == blas::Types::CZ ? "cz" : "sdcz");
  const bool complex = common::is_complex_type(p.type);
  const auto allowed = legal_ops(which_, complex);
  if (takes().trans_a && blas::arguments::illegal_op(1, "op", p.op_a, allowed).position != 0)
    return fmt::format("--trans: '{}' does not exist for {}{} (n, {})", p.op_a == Op::Trans ? 't' : 'c', p.type, name(),
                       allowed == blas::arguments::Ops::Hermitian ? 'c' : 't');
  for (const auto& [option, value, kind] :
       {std::tuple{"--alpha", p.alpha, known.alpha}, {"--beta", p.beta, known.beta}})
    if (value.imag() != 0 && kind != FactorKind::None && (kind == FactorKind::Real || !complex))
      return fmt::format("{}: '{},{}' is complex, but {}{} takes a real number", option, value.real(), value.imag(),
                         p.type, name());
  if (p.chain > 1 && which_ != blas::Routine::gemm) return fmt::format("--chain: only for gemm, not for {}", name());
  return "";
}

Shapes BlasRoutine::shapes(const Problem& p) const {
  return with_call(which_, p, [&](const blas::Call& call) {
    const auto shape = [&](const blas::arguments::StoredMatrix& X) -> bench::Shape {
      if (X.position == 0) return {};
      return {X.m, X.n, std::max<Index>(1, X.m) + p.ld_pad};
    };
    const auto [A, B, C] = matrices(call);
    Shapes all{shape(A), shape(B), shape(C)};
    all.A.well_conditioned = is_triangular();
    return all;
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

/// trtrs overwrites C (n×k) with op(A)⁻¹ C. Otherwise it is like trsm.
class Trtrs final : public bench::Routine {
 public:
  Trtrs() : bench::Routine("trtrs") {}

  Takes takes() const override { return {.trans_a = true, .uplo = true, .diag = true, .k = true, .beta = false}; }
  std::string why_not(const Problem& p) const override {
    const auto reason = bench::Routine::why_not(p);
    return reason.empty() ? trsm_.why_not(of_trsm(p)) : reason;
  }
  double flops(const Problem& p) const override { return trsm_.flops(of_trsm(p)); }
  blas::Traffic traffic(const Problem& p) const override { return trsm_.traffic(of_trsm(p)); }
  Shapes shapes(const Problem& p) const override { return trsm_.shapes(of_trsm(p)); }
  double growth(const Problem& p) const override { return trsm_.growth(of_trsm(p)); }
  using bench::Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return trsm_.plan_of(of_trsm(p), machine);
  }
  void run_tessera(const Problem& p, const Operands& o) const override {
    const auto s = shapes(p);
    const Index info = common::with_type(p.type, [&]<Scalar T>(T) {
      return trtrs(p.uplo, p.op_a, p.diag, p.n, p.k, static_cast<const T*>(o.A), s.A.ld, static_cast<T*>(o.C), s.C.ld);
    });
    if (info != 0) throw RuntimeError("trtrs: the matrix is singular, info = " + std::to_string(info));
  }
  void run_openblas(const Problem& p, const Operands& o) const override { trsm_.run_openblas(of_trsm(p), o); }
  void run_cublasxt(cublasXtContext* handle, const Problem& p, const Operands& o) const override {
    trsm_.run_cublasxt(handle, of_trsm(p), o);
  }
  void run_cublas(CuBlas& blas, const Problem& p, const Operands& o) const override {
    trsm_.run_cublas(blas, of_trsm(p), o);
  }
  Verdict check(const Problem& p, const Operands& o) const override { return trsm_.check(of_trsm(p), o); }

 private:
  static Problem of_trsm(Problem p) {
    p.side = Side::Left, p.m = p.n, p.n = p.k, p.alpha = 1;
    return p;
  }

  BlasRoutine trsm_{blas::Routine::trsm};
};

}  // namespace

std::unique_ptr<bench::Routine> blas_routine(blas::Routine which) { return std::make_unique<BlasRoutine>(which); }
std::unique_ptr<bench::Routine> triangular_system() { return std::make_unique<Trtrs>(); }

}  // namespace tessera::bench

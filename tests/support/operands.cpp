// SPDX-License-Identifier: BSD-3-Clause
#include "support/operands.hpp"

#include "blas/shapes.hpp"

namespace tessera::test {

template <Scalar T>
void hide_unread(Structure structure, const Options& options, HostMatrix<T>& A) {
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) {
      const auto nan = marked_nan<T>(1 + i + j * A.m());
      if (!is_meant(structure, options, i, j)) A(i, j) = nan;
      else if constexpr (is_complex<T>)
        if (structure == Structure::Hermitian && i == j) A(i, j).imag(nan.imag());
    }
}

template <Scalar T>
void hide(HostMatrix<T>& A) {
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) A(i, j) = marked_nan<T>(1 + i + j * A.m());
}

template <Scalar T>
void set_factors(Call<T>& call, T alpha, T beta) {
  call.alpha = alpha;
  call.beta = beta;
  if (alpha == T{}) hide(call.A), hide(call.B);
  const bool reads_output = call.routine->has("beta") ? beta != T{} : alpha != T{};
  if (!reads_output) hide(call.C);
}

template <Scalar T>
Call<T> unfilled_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed) {
  const auto padding = [&](std::uint64_t period) { return static_cast<Index>(seed % period); };
  return {&routine,
          options,
          size,
          T(1),
          T(0),
          matrix_of<T>(routine.size_a(options, size), padding(4)),
          matrix_of<T>(routine.size_b(options, size), padding(3)),
          matrix_of<T>(routine.size_c(options, size), padding(5))};
}

template <Scalar T>
Call<T> random_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed,
                    std::type_identity_t<T> alpha, std::type_identity_t<T> beta) {
  auto call = unfilled_call(routine, options, size, seed);
  Random random(seed);
  for (auto* A : {&call.A, &call.B, &call.C}) random.fill(*A);
  if (routine.a == Structure::Triangular)
    for (Index j = 0; j < call.A.n(); j++)
      for (Index i = 0; i < call.A.m(); i++) {
        auto& a = call.A(i, j);
        a = i == j ? a + std::copysign(Real<T>(1), std::real(a)) : a / static_cast<Real<T>>(call.A.n());
      }
  hide_unread(routine.a, options, call.A);
  hide_unread(routine.c, options, call.C);
  set_factors(call, alpha, routine.has("beta") ? beta : T(0));
  return call;
}

template <Scalar T>
Call<T> random_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,
                                 std::uint64_t seed) {
  const auto alpha = alphas(routine), beta = betas(routine);
  return random_call(routine, options, size, seed, alpha[seed % alpha.size()], beta[seed / 7 % beta.size()]);
}

template <Scalar T>
Call<T> integer_call(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed,
                     std::type_identity_t<T> alpha, std::type_identity_t<T> beta, Index largest) {
  auto call = unfilled_call(routine, options, size, seed);
  Random random(seed);
  for (auto* A : {&call.A, &call.B, &call.C}) random.fill_integers(*A, largest);
  if (routine.solves()) fill_exactly_invertible(call.A, random);
  hide_unread(routine.a, options, call.A);
  hide_unread(routine.c, options, call.C);
  set_factors(call, alpha, routine.has("beta") ? beta : T(0));
  return call;
}

template <Scalar T>
Call<T> integer_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,
                                  std::uint64_t seed) {
  const auto factor = [](bool real, Real<T> re, Real<T> im) {
    if constexpr (is_complex<T>) return real ? T(re) : T(re, im);
    else return T(re);
  };
  return integer_call(routine, options, size, seed, factor(routine.real_alpha, -2, 1),
                      factor(routine.real_beta, 3, -1));
}

#define INSTANTIATE(letter, T, ...)                                                                                 \
  template void hide_unread(Structure structure, const Options& options, HostMatrix<T>& A);                         \
  template void hide(HostMatrix<T>& A);                                                                             \
  template void set_factors(Call<T>& call, T alpha, T beta);                                                        \
  template Call<T> unfilled_call(const Routine<T>& routine, const Options& options, const Extent& size,             \
                                 std::uint64_t seed);                                                               \
  template Call<T> random_call(const Routine<T>& routine, const Options& options, const Extent& size,               \
                               std::uint64_t seed, std::type_identity_t<T> alpha, std::type_identity_t<T> beta);    \
  template Call<T> random_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size,  \
                                            std::uint64_t seed);                                                    \
  template Call<T> integer_call(const Routine<T>& routine, const Options& options, const Extent& size,              \
                                std::uint64_t seed, std::type_identity_t<T> alpha, std::type_identity_t<T> beta,    \
                                Index largest);                                                                     \
  template Call<T> integer_call_with_factors(const Routine<T>& routine, const Options& options, const Extent& size, \
                                             std::uint64_t seed);
FOR_SDCZ(INSTANTIATE, )
#undef INSTANTIATE

}  // namespace tessera::test

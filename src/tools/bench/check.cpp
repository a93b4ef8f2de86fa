// SPDX-License-Identifier: BSD-3-Clause
#include "bench/check.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "bench/operands.hpp"
#include "bench/peers.hpp"
#include "bench/wide.hpp"
#include "codelets/host_blas.hpp"

namespace tessera::bench {

namespace {

constexpr double small_product = 2e9;  // multiplications: the host BLAS needs a second or less
constexpr double small_result = 5e7;   // elements: the oracle's copies are no burden
constexpr Index smallest_block = 64;   // of C, out of which one element is compared: half a tile or less
constexpr Index gathered = 4'000'000;  // elements of op(A), and of op(B), that this takes at most

/// How far C may be from the exact result, relative to |α| |op(A)| |op(B)| + |β| |C₀|, in whatever order the terms are
/// added (Higham, Accuracy and Stability, 2nd ed., section 3.1 and 3.6).
///
/// Real: a product a·b is rounded once, the sum of k of them and of βC at most k times, and multiplying by α, before or
/// after the sum, once: (1 + δ)^(k+2), that is (k+2) u to first order; FMA only saves roundings.
/// Complex: real and imaginary part are sums of 2k products, whose magnitudes |a_r b_r| + |a_i b_i| ≤ |a| |b|; together
/// they are off by √2 · 2k u, and the multiplication by α adds √2 · 2 u: less than 2√2 (k+2) u in all.
template <Scalar T>
double error_bound(Index k) {
  const double unit = std::numeric_limits<Real<T>>::epsilon() / 2;
  return (is_complex<T> ? 2 * std::sqrt(2.0) : 1.0) * static_cast<double>(k + 2) * unit;
}

/// difference / scale. Not a number counts as infinitely wrong, as does a difference where there should be none.
double relative(double difference, double scale) {
  if (difference == 0) return 0;
  const double error = difference / scale;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

/// C₀ as it was generated.
template <Scalar T>
struct Before {
  Index ld;
  std::uint64_t seed;
  static bool columns_are_contiguous() { return true; }
  Wide<T> operator()(Index i, Index j) const { return widen(generated_element<T>(seed, 2, i + j * ld)); }
};

/// Every element against the host BLAS, which computes in the same precision and may be off as far itself.
template <Scalar T>
Verdict check_every_element(const CheckedProduct<T>& p) {
  using R = Real<T>;
  const auto to_int = [](Index i) { return static_cast<int>(i); };
  const OpenBlas all_cores(static_cast<int>(std::thread::hardware_concurrency()));
  const auto size = static_cast<std::size_t>(p.ldc * p.n);
  std::vector<T> expected(size);
  std::vector<R> scale(size);
  for (std::size_t i = 0; i < size; i++) {
    expected[i] = generated_element<T>(p.seed, 2, static_cast<Index>(i));
    scale[i] = std::abs(expected[i]);
  }
  const auto magnitudes = [](Op op, const T* data, Index ld, Index rows, Index columns) {
    std::vector<R> result(static_cast<std::size_t>(ld * (op == Op::NoTrans ? columns : rows)));
    std::transform(data, data + result.size(), result.begin(), [](T x) { return std::abs(x); });
    return result;
  };
  const auto abs_a = magnitudes(p.op_a, p.A, p.lda, p.m, p.k), abs_b = magnitudes(p.op_b, p.B, p.ldb, p.k, p.n);
  const int m = to_int(p.m), n = to_int(p.n), k = to_int(p.k), lda = to_int(p.lda), ldb = to_int(p.ldb),
            ldc = to_int(p.ldc);
  host::gemm<T>(p.op_a, p.op_b, m, n, k, p.alpha, p.A, lda, p.B, ldb, p.beta, expected.data(), ldc);
  host::gemm<R>(p.op_a, p.op_b, m, n, k, std::abs(p.alpha), abs_a.data(), lda, abs_b.data(), ldb, std::abs(p.beta),
                scale.data(), ldc);
  Verdict verdict{0, 2 * error_bound<T>(p.k)};
  for (Index j = 0; j < p.n; j++)
    for (Index i = 0; i < p.m; i++) {
      const auto at = static_cast<std::size_t>(i + j * p.ldc);
      verdict.error = std::max(verdict.error, relative(std::abs(p.C[at] - expected[at]), scale[at]));
    }
  return verdict;
}

/// One random index out of each block of [0, size).
std::vector<Index> one_per_block(Index size, Index k, std::uint64_t seed) {
  const Index most = std::clamp<Index>(gathered / std::max<Index>(1, k), 8, 128);
  const Index block = std::max(smallest_block, (size + most - 1) / most);
  std::mt19937_64 engine(seed);
  std::vector<Index> indices;
  for (Index begin = 0; begin < size; begin += block)
    indices.push_back(std::uniform_int_distribution<Index>(begin, std::min(begin + block, size) - 1)(engine));
  return indices;
}

/// Rows of op(A), or columns of op(B), one after another: vector v has the entries element(v, 0), ..., element(v, k -
/// 1).
template <Scalar T, typename Element>
std::vector<Wide<T>> gather(Index vectors, Index k, Element element) {
  std::vector<Wide<T>> all(static_cast<std::size_t>(vectors * k));
  parallel_for(vectors, 1, [&](Index begin, Index end) {
    for (Index v = begin; v < end; v++)
      for (Index l = 0; l < k; l++) all[static_cast<std::size_t>(v * k + l)] = element(v, l);
  });
  return all;
}

/// Error of the elements at which some rows and some columns of C cross.
template <Scalar T>
double error_of_elements(const CheckedProduct<T>& p) {
  const Operand<T> A{p.op_a, p.A, p.lda}, B{p.op_b, p.B, p.ldb}, C{Op::NoTrans, p.C, p.ldc};
  const Before<T> before{p.ldc, p.seed};
  const Wide<T> alpha = widen(p.alpha), beta = widen(p.beta);
  const Index k = p.alpha == T{} ? 0 : p.k;
  const auto rows = one_per_block(p.m, k, p.seed), columns = one_per_block(p.n, k, p.seed + 1);
  const auto at = [](const std::vector<Index>& indices, Index v) { return indices[static_cast<std::size_t>(v)]; };
  const auto a = gather<T>(std::ssize(rows), k, [&](Index v, Index l) { return A(at(rows, v), l); });
  const auto b = gather<T>(std::ssize(columns), k, [&](Index v, Index l) { return B(l, at(columns, v)); });
  std::vector<double> worst(rows.size());
  parallel_for(std::ssize(rows), 1, [&](Index begin, Index end) {
    for (Index r = begin; r < end; r++)
      for (Index c = 0; c < std::ssize(columns); c++) {
        const Index i = at(rows, r), j = at(columns, c);
        const auto *x = a.data() + r * k, *y = b.data() + c * k;
        Wide<T> sum{};
        WideReal<T> scale{};
        for (Index l = 0; l < k; l++) {
          const auto term = multiply(x[l], y[l]);
          sum += term;
          scale += magnitude(term);
        }
        sum = multiply(alpha, sum), scale *= magnitude(alpha);
        if (p.beta != T{}) {
          sum += multiply(beta, before(i, j));
          scale += magnitude(beta) * magnitude(before(i, j));
        }
        auto& error = worst[static_cast<std::size_t>(r)];
        error = std::max(error, relative(static_cast<double>(magnitude(C(i, j) - sum)), static_cast<double>(scale)));
      }
  });
  return std::ranges::max(worst);
}

/// Entries of magnitude between 1/2 and 1: no column of C counts for little.
template <Scalar T>
BoundedVector<T> random_vector(Index size, std::uint64_t seed) {
  BoundedVector<T> t(size);
  for (std::size_t i = 0; i < t.x.size(); i++) {
    const double x = generated(seed, 3, static_cast<Index>(i));
    t.x[i] = Wide<T>(static_cast<WideReal<T>>(x < 0 ? x - 0.5 : x + 0.5));
    t.s[i] = magnitude(t.x[i]);
  }
  return t;
}

template <Scalar T>
double error_of_vector(const CheckedProduct<T>& p) {
  const auto t = random_vector<T>(p.n, p.seed);
  const auto result = apply<T>(Operand<T>{Op::NoTrans, p.C, p.ldc}, p.m, t);
  BoundedVector<T> product(p.m), before(p.m);
  if (p.alpha != T{})
    product = apply<T>(Operand<T>{p.op_a, p.A, p.lda}, p.m, apply<T>(Operand<T>{p.op_b, p.B, p.ldb}, p.k, t));
  if (p.beta != T{}) before = apply<T>(Before<T>{p.ldc, p.seed}, p.m, t);
  double worst = 0;
  for (std::size_t i = 0; i < result.x.size(); i++) {
    const auto expected = multiply(widen(p.alpha), product.x[i]) + multiply(widen(p.beta), before.x[i]);
    const auto scale = magnitude(widen(p.alpha)) * product.s[i] + magnitude(widen(p.beta)) * before.s[i];
    worst =
        std::max(worst, relative(static_cast<double>(magnitude(result.x[i] - expected)), static_cast<double>(scale)));
  }
  return worst;
}

}  // namespace

template <Scalar T>
Verdict check_product(const CheckedProduct<T>& p) {
  if (p.m == 0 || p.n == 0) return {0, error_bound<T>(p.k)};
  const double elements = static_cast<double>(p.ldc) * static_cast<double>(p.n);
  if (elements * static_cast<double>(p.k) <= small_product && elements <= small_result) return check_every_element(p);
  const PauseWorkers pause;
  return {std::max(error_of_elements(p), error_of_vector(p)), error_bound<T>(p.k)};
}

#define INSTANTIATE(T) template Verdict check_product<T>(const CheckedProduct<T>&);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "workload/check.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>

#include "devices/cpu/host_blas.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::bench {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double small_product = 2e9;  // multiplications; the host BLAS takes a second or less
constexpr double small_matrix = 5e7;   // elements; the oracle's copies fit easily
constexpr Index smallest_block = 64;   // distance of compared elements of C; at most half a tile
constexpr Index gathered = 4'000'000;  // limit of the elements gathered from each side

/// Checks that C is unchanged where the routine must not write, and that the diagonal of a Hermitian C is real.
template <Scalar T>
bool rest_is_intact(const Equation<T>& e) {
  const Index ld = e.before.ld;
  std::atomic<bool> intact = true;
  parallel_for(e.n, 16, [&](Index begin, Index end) {
    for (Index j = begin; j < end && intact; j++) {
      const auto [first, last] = e.rows(j);
      const auto changed = [&](Index i) { return e.C[i + j * ld] != e.before.stored(i, j); };
      for (Index i = 0; i < first; i++)
        if (changed(i)) intact = false;
      for (Index i = last; i < ld; i++)
        if (changed(i)) intact = false;
      if (e.before.diagonal == Diagonal::Real && std::imag(e.C[j + j * ld]) != 0) intact = false;
    }
  });
  return intact;
}

/// All elements of op(A), column by column.
template <Scalar T>
std::vector<T> written_out(const Operand<T>& A, Index m, Index n) {
  std::vector<T> elements(static_cast<std::size_t>(m * n));
  parallel_for(n, 16, [&](Index begin, Index end) {
    for (Index j = begin; j < end; j++)
      for (Index i = 0; i < m; i++) elements[static_cast<std::size_t>(i + j * m)] = A.element(i, j);
  });
  return elements;
}

template <Scalar T>
std::vector<Real<T>> magnitudes(const std::vector<T>& elements) {
  std::vector<Real<T>> result(elements.size());
  std::transform(elements.begin(), elements.end(), result.begin(), [](T x) { return std::abs(x); });
  return result;
}

/// Compares every element with the host BLAS, which has the same precision and the same error bound.
template <Scalar T>
Verdict check_every_element(const Equation<T>& e) {
  using R = Real<T>;
  const OpenBlas all_cores(static_cast<int>(std::thread::hardware_concurrency()));
  const int m = static_cast<int>(e.m), n = static_cast<int>(e.n), k = static_cast<int>(e.k);
  auto expected = written_out(e.before, e.m, e.n);
  auto scale = magnitudes(expected);
  T beta = e.beta;
  for (const auto& term : e.terms) {
    const auto left = written_out(term.left, e.m, e.k), right = written_out(term.right, e.k, e.n);
    const auto product = [&]<Scalar S>(S alpha, const std::vector<S>& A, const std::vector<S>& B, S factor,
                                       std::vector<S>& C) {
      device::cpu::gemm(Op::NoTrans, Op::NoTrans, m, n, k, alpha, A.data(), m, B.data(), std::max(1, k), factor,
                        C.data(), m);
    };
    product(term.factor, left, right, beta, expected);
    product(R(std::abs(term.factor)), magnitudes(left), magnitudes(right), R(std::abs(beta)), scale);
    beta = T(1);
  }
  Verdict verdict{0, 2 * error_bound<T>(e.k * std::ssize(e.terms))};
  for (Index j = 0; j < e.n; j++)
    for (auto [i, end] = e.rows(j); i < end; i++) {
      const auto at = static_cast<std::size_t>(i + j * e.m);
      verdict.error = std::max(verdict.error, relative(std::abs(e.result.element(i, j) - expected[at]), scale[at]));
    }
  return verdict;
}

/// One random index from each block of [0, size).
std::vector<Index> one_per_block(Index size, Index k, std::uint64_t seed) {
  const Index most = std::clamp<Index>(gathered / std::max<Index>(1, k), 8, 128);
  const Index block = std::max(smallest_block, (size + most - 1) / most);
  std::mt19937_64 engine(seed);
  std::vector<Index> indices;
  for (Index begin = 0; begin < size; begin += block)
    indices.push_back(std::uniform_int_distribution<Index>(begin, std::min(begin + block, size) - 1)(engine));
  return indices;
}

/// Rows of the left factors, or columns of the right ones, one after another. Each entry concatenates the terms.
/// element(t, i, l) is element l of row or column i in term t.
template <Scalar T, typename Element>
std::vector<Wide<T>> gather(const Equation<T>& e, const std::vector<Index>& indices, Element element) {
  const Index terms = std::ssize(e.terms);
  std::vector<Wide<T>> all(indices.size() * static_cast<std::size_t>(terms * e.k));
  parallel_for(std::ssize(indices), 1, [&](Index begin, Index end) {
    for (Index v = begin; v < end; v++)
      for (Index t = 0; t < terms; t++)
        for (Index l = 0; l < e.k; l++)
          all[static_cast<std::size_t>((v * terms + t) * e.k + l)] =
              element(e.terms[static_cast<std::size_t>(t)], indices[static_cast<std::size_t>(v)], l);
  });
  return all;
}

/// The error of the elements at which selected rows and columns of C cross.
template <Scalar T>
double error_of_elements(const Equation<T>& e) {
  const Index k = e.k * std::ssize(e.terms);
  const auto rows = one_per_block(e.m, k, e.before.seed), columns = one_per_block(e.n, k, e.before.seed + 1);
  const auto a = gather(
      e, rows, [](const Term<T>& term, Index i, Index l) { return multiply(widen(term.factor), term.left(i, l)); });
  const auto b = gather(e, columns, [](const Term<T>& term, Index j, Index l) { return term.right(l, j); });
  std::vector<double> worst(rows.size());
  parallel_for(std::ssize(rows), 1, [&](Index begin, Index end) {
    for (Index r = begin; r < end; r++)
      for (Index c = 0; c < std::ssize(columns); c++) {
        const Index i = rows[static_cast<std::size_t>(r)], j = columns[static_cast<std::size_t>(c)];
        if (const auto [first, last] = e.rows(j); i < first || i >= last) continue;
        const auto *x = a.data() + r * k, *y = b.data() + c * k;
        auto sum = multiply(widen(e.beta), e.before(i, j));
        auto scale = magnitude(sum);
        for (Index l = 0; l < k; l++) {
          const auto term = multiply(x[l], y[l]);
          sum += term;
          scale += magnitude(term);
        }
        auto& error = worst[static_cast<std::size_t>(r)];
        error =
            std::max(error, relative(static_cast<double>(magnitude(e.result(i, j) - sum)), static_cast<double>(scale)));
      }
  });
  return std::ranges::max(worst);
}

/// The error of both sides times a random vector.
/// @pre `before` and `result` are triangular if only a triangle is computed
template <Scalar T>
double error_of_vector(const Equation<T>& e) {
  const auto t = random_vector<T>(e.n, e.before.seed);
  const auto result = apply<T>(e.result, e.m, t);
  auto expected = apply<T>(e.before, e.m, t);
  const auto scale = [](BoundedVector<T>& v, std::size_t i, Wide<T> factor) {
    v.x[i] = multiply(factor, v.x[i]), v.s[i] *= magnitude(factor);
  };
  for (std::size_t i = 0; i < expected.x.size(); i++) scale(expected, i, widen(e.beta));
  for (const auto& [factor, left, right] : e.terms) {
    auto product =
        e.triangle ? apply_triangle<T>(*e.triangle, left, right, e.k, t) : apply<T>(left, e.m, apply<T>(right, e.k, t));
    for (std::size_t i = 0; i < expected.x.size(); i++) {
      scale(product, i, widen(factor));
      expected.x[i] += product.x[i], expected.s[i] += product.s[i];
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < result.x.size(); i++)
    worst = std::max(worst, relative(static_cast<double>(magnitude(result.x[i] - expected.x[i])),
                                     static_cast<double>(expected.s[i])));
  return worst;
}

}  // namespace

template <Scalar T>
Verdict check_equation(Equation<T> e) {
  const Index k = e.k * std::ssize(e.terms);
  if (e.m == 0 || e.n == 0) return {0, error_bound<T>(k)};
  const auto small = [](Index rows, Index columns) {
    return static_cast<double>(rows) * static_cast<double>(columns) <= small_matrix;
  };
  Verdict verdict;
  if (small(e.m, e.n) && small(e.m, e.k) && small(e.k, e.n) &&
      static_cast<double>(e.m) * static_cast<double>(e.n) * static_cast<double>(k) <= small_product) {
    verdict = check_every_element(e);
  } else {
    const PauseWorkers pause;
    if (e.triangle)
      for (auto* C : {&e.before, &e.result})
        if (C->form != Form::Zero) C->form = Form::Triangular, C->uplo = *e.triangle;
    verdict = {std::max(error_of_elements(e), error_of_vector(e)), error_bound<T>(k)};
  }
  if (!rest_is_intact(e)) verdict.error = infinite;
  return verdict;
}

#define INSTANTIATE(T) template Verdict check_equation<T>(Equation<T>);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera::bench

// SPDX-License-Identifier: BSD-3-Clause
// An infinity in an operand of trmm or trsm reaches exactly the elements that depend on it. It is not multiplied by the
// zeros of the triangle that is not stored.
#include <cmath>
#include <limits>
#include <optional>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "devices/cpu/host_blas.hpp"
#include "support/operands.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 512;  // gives several diagonal blocks on GPUs
const auto* const runtime = share_runtime(with_tile(tile));

constexpr Index order = tile + 100, others = 8;
constexpr Index special = 200;  ///< row (Left) or column (Right) of B with the infinity

template <Scalar T>
struct Triangular {
  bool solve;
  Side side;
  Uplo uplo;
  Op op;

  bool left() const { return side == Side::Left; }
  /// Whether row i of the result depends on rows k < i of B, or on rows k > i. With side Right, columns instead of
  /// rows.
  bool forward() const { return ((uplo == Uplo::Lower) != (op != Op::NoTrans)) == left(); }

  void on_host(const HostMatrix<T>& A, HostMatrix<T>& B) const {
    const auto routine = solve ? device::cpu::trsm<T> : device::cpu::trmm<T>;
    routine(side, uplo, op, Diag::NonUnit, static_cast<int>(B.m()), static_cast<int>(B.n()), T(1), A.data(),
            static_cast<int>(A.ld()), B.data(), static_cast<int>(B.ld()));
  }
  void call(const HostMatrix<T>& A, HostMatrix<T>& B) const {
    if (solve) trsm<T>(side, uplo, op, Diag::NonUnit, B.m(), B.n(), T(1), A.data(), A.ld(), B.data(), B.ld());
    else trmm<T>(side, uplo, op, Diag::NonUnit, B.m(), B.n(), T(1), A.data(), A.ld(), B.data(), B.ld());
  }
};

template <Scalar T>
std::ostream& operator<<(std::ostream& out, const Triangular<T>& t) {
  return out << (t.solve ? "trsm " : "trmm ") << static_cast<char>(t.side) << static_cast<char>(t.uplo)
             << static_cast<char>(t.op);
}

template <Scalar T, typename Body>
void for_all_variants(Body body) {
  for (const bool solve : {false, true})
    for (const Side side : {Side::Left, Side::Right})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
        for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
          const Triangular<T> variant{solve, side, uplo, op};
          SCOPED_TRACE(::testing::Message() << variant);
          body(variant);
          if (::testing::Test::HasFatalFailure()) return;
        }
}

template <Scalar T>
HostMatrix<T> well_conditioned_triangle() {
  auto A = random_matrix<T>(1, order, order);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) A(i, j) = i == j ? T(2) : A(i, j) / static_cast<Real<T>>(order);
  return A;
}

template <Scalar T>
bool is_finite(const T& x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

/// The number of rows next to the diagonal that may differ on the host. OpenBLAS also multiplies by zeros there, in
/// blocks as large as its kernels.
Index host_excuse(bool solve) { return solve || gpu_count() > 0 ? 0 : 64; }

/// Expects row `first` of the result not to be finite, and all rows that do not depend on it to be the same as without
/// the infinity. With side Right, columns instead of rows.
/// @param element  the only column (Left) or row (Right) that the infinity reaches; empty: it reaches all of them
template <Scalar T>
void expect_spread(const Triangular<T>& variant, const HostMatrix<T>& after, const HostMatrix<T>& clean, Index first,
                   std::optional<Index> element) {
  const auto close = [](const T& a, const T& b) { return std::abs(a - b) < Real<T>(1e-4); };
  const Index excuse = host_excuse(variant.solve);
  for (Index r = 0; r < order; r++)
    for (Index x = 0; x < others; x++) {
      const auto& value = variant.left() ? after(r, x) : after(x, r);
      const auto& expected = variant.left() ? clean(r, x) : clean(x, r);
      const bool reached = !element || *element == x, depends = variant.forward() ? r >= first : r <= first;
      if (reached && r == first) {
        ASSERT_FALSE(is_finite(value)) << r << ' ' << x;
      } else if (!reached || (!depends && std::abs(r - first) >= excuse)) {
        ASSERT_TRUE(close(value, expected)) << r << ' ' << x << ": " << value << ", not " << expected;
      }
    }
}

template <Scalar T>
class NotFinite : public ::testing::Test {};
TYPED_TEST_SUITE(NotFinite, ScalarTypes);

TYPED_TEST(NotFinite, ElementOfBReachesOnlyWhatDependsOnIt) {
  using T = TypeParam;
  const auto A = well_conditioned_triangle<T>();
  for_all_variants<T>([&](const Triangular<T>& variant) {
    constexpr Index element = 7;
    auto after = random_matrix<T>(2, variant.left() ? order : others, variant.left() ? others : order), clean = after;
    (variant.left() ? after(special, element) : after(element, special)) = T(std::numeric_limits<Real<T>>::infinity());
    variant.on_host(A, clean);
    variant.call(A, after);
    expect_spread<T>(variant, after, clean, special, element);
  });
}

TYPED_TEST(NotFinite, ElementOfAReachesOnlyWhatDependsOnIt) {
  using T = TypeParam;
  const auto regular = well_conditioned_triangle<T>();
  // The value lies in a diagonal block of a GPU, in a tile on the diagonal but outside these blocks, or in a tile off
  // the diagonal.
  for (const Index distance : {40, 200, 400})
    for (const auto value : {std::numeric_limits<Real<T>>::infinity(), std::numeric_limits<Real<T>>::quiet_NaN()})
      for_all_variants<T>([&](const Triangular<T>& variant) {
        auto A = regular;
        const Index low = special, high = special + distance;
        const Index i = variant.uplo == Uplo::Lower ? high : low, j = low + high - i;
        A(i, j) = T(value);
        auto after = random_matrix<T>(2, variant.left() ? order : others, variant.left() ? others : order);
        auto clean = after;
        variant.on_host(regular, clean);
        variant.call(A, after);
        const bool by_row = variant.left() == (variant.op == Op::NoTrans);
        expect_spread<T>(variant, after, clean, by_row ? i : j, {});
      });
}

}  // namespace
}  // namespace tessera::test

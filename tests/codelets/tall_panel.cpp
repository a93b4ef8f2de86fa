// SPDX-License-Identifier: BSD-3-Clause
// Which tall panels are factorized by products, that the others do not change, and the factors of panels in halves.
#include "codelets/halved_panel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/residuals.hpp"
#include "support/tall_panels.hpp"
#include "support/tested_types.hpp"

namespace tessera::test::tall_panel_cpp {
namespace {

/// A core whose workspace does not hold zeros by chance.
template <Scalar T>
class OnPoisonedHost : public codelets::PanelOnHost<T> {
 public:
  OnPoisonedHost() : codelets::PanelOnHost<T>(device::OnHost{}) {}
  T* workspace(Index elements) {
    T* const memory = codelets::PanelOnHost<T>::workspace(elements);
    std::fill_n(memory, elements, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    return memory;
  }
};

template <typename T>
class TallPanels : public ::testing::Test {};
TYPED_TEST_SUITE(TallPanels, ScalarTypes);

TYPED_TEST(TallPanels, AreFactorizedByProductsIfTheirConditionIsSmall) {
  using T = TypeParam;
  constexpr int m = 1500, n = 40;
  for (const auto& [name, before] : tall_panels<T>(m, n)) {
    auto A = before;
    std::vector<T> tau(n), block(2 * n * n);
    OnPoisonedHost<T> on;
    const device::Tile<T> panel{A.data.data(), m, n, m};
    EXPECT_TRUE(codelets::is_tall(on, panel));
    const bool done = codelets::factorize_tall(on, panel, tau.data(), {block.data(), n, 2 * n, n});
    const bool safe = name.starts_with("graded") || name == "condition 0" || name == "condition 2" ||
                      (name == "condition 4" && sizeof(Real<T>) == sizeof(double));
    EXPECT_EQ(done, safe) << name;
    if (done) {
      EXPECT_TRUE(std::isfinite(largest(A))) << name << ": the workspace was read";
    } else {
      EXPECT_EQ(std::memcmp(A.data.data(), before.data.data(), A.data.size() * sizeof(T)), 0) << name;
    }
  }
}

TYPED_TEST(TallPanels, AreMuchTallerThanWide) {
  using T = TypeParam;
  const codelets::PanelOnHost<T> on(device::OnHost{});
  const auto is_tall = [&](int m, int n) { return codelets::is_tall(on, device::Tile<T>{nullptr, m, n, m}); };
  EXPECT_TRUE(is_tall(100000, 64));
  EXPECT_FALSE(is_tall(1000, 64));
  EXPECT_FALSE(is_tall(100000, 2)) << "too few columns for products";
}

TYPED_TEST(TallPanels, AreCutIntoPartsThatAreTall) {
  using T = TypeParam;
  const codelets::PanelOnHost<T> on(device::OnHost{});
  const auto left = [&](int m, int n) { return codelets::columns_of_left_half(on, device::Tile<T>{nullptr, m, n, m}); };
  EXPECT_EQ(left(1100, 128), 64);
  EXPECT_EQ(left(1100, 256), 128);
  EXPECT_EQ(left(1100, 65), 64);
  EXPECT_EQ(left(1100, 64), 0) << "a single part";
  EXPECT_EQ(left(600, 128), 64) << "four parts of 32 columns";
  EXPECT_EQ(left(400, 128), 0) << "parts of 16 columns do not pay";
  EXPECT_EQ(left(600, 700), 0) << "wider than tall";
}

/// A = Q R, with Q from the block of the reflectors.
TYPED_TEST(TallPanels, AreFactorizedInHalves) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{1100, 100}, {700, 129}})
    for (const auto& [name, before] : tall_panels<T>(m, n)) {
      if (!std::isfinite(largest(before))) continue;
      SCOPED_TRACE(name + ", " + std::to_string(m) + "x" + std::to_string(n));
      auto A = before;
      std::vector<T> tau(static_cast<std::size_t>(n)), block(static_cast<std::size_t>(2 * n * n), T(-77));
      OnPoisonedHost<T> on;
      const device::Tile<T> panel{A.data.data(), m, n, m}, reflectors{block.data(), n, 2 * n, n};
      ASSERT_GT(codelets::columns_of_left_half(on, panel), 0);
      codelets::factorize_panel(on, panel, tau.data(), reflectors);
      Dense<T> product(m, n);
      for (Index j = 0; j < n; j++)
        for (Index i = 0; i < m; i++) product(i, j) = i > j ? T{} : A(i, j);
      const codelets::Reflectors<T> V(codelets::constant(panel), codelets::constant(reflectors));
      const auto apply = [&](bool adjoint, Dense<T>& C) {
        codelets::apply(on, V, Side::Left, adjoint, device::Tile<T>{C.data.data(), m, static_cast<int>(C.n), m});
      };
      apply(false, product);
      for (Index j = 0; j < n; j++) {  // each column by itself
        double error = 0, size = 0;
        for (Index i = 0; i < m; i++) {
          error = std::hypot(error, std::abs(product(i, j) - before(i, j)));
          size = std::hypot(size, std::abs(before(i, j)));
        }
        ASSERT_LE(error, 50 * n * unit<T> * size) << "column " << j;
        ASSERT_EQ(tau[static_cast<std::size_t>(j)], block[static_cast<std::size_t>(j * (n + 1))]) << "column " << j;
      }
      const auto C = random_matrix<T>(m, 3, 4);
      auto there_and_back = C;
      apply(true, there_and_back), apply(false, there_and_back);
      for (std::size_t i = 0; i < C.data.size(); i++)
        ASSERT_LE(std::abs(there_and_back.data[i] - C.data[i]), 50 * n * unit<T>) << "Q is not unitary";
    }
}

}  // namespace
}  // namespace tessera::test::tall_panel_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Which tall panels are factorized by products, and that the others do not change.
#include "codelets/tall_panel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/tall_panels.hpp"
#include "support/tested_types.hpp"

namespace tessera::test::tall_panel_cpp {
namespace {

/// A core whose workspace does not hold zeros by chance.
template <Scalar T>
class OnPoisonedHost : public codelets::PanelOnHost<T> {
 public:
  OnPoisonedHost() : codelets::PanelOnHost<T>(codelets::OnHost{}) {}
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
    const codelets::Tile<T> panel{A.data.data(), m, n, m};
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
  const codelets::PanelOnHost<T> on(codelets::OnHost{});
  const auto is_tall = [&](int m, int n) { return codelets::is_tall(on, codelets::Tile<T>{nullptr, m, n, m}); };
  EXPECT_TRUE(is_tall(100000, 64));
  EXPECT_FALSE(is_tall(1000, 64));
  EXPECT_FALSE(is_tall(100000, 2)) << "too few columns for products";
}

}  // namespace
}  // namespace tessera::test::tall_panel_cpp

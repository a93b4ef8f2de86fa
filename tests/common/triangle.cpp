// SPDX-License-Identifier: BSD-3-Clause
// Cutting a triangular tile into rectangles and small triangles.
#include "common/triangle.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::test::triangle_cpp {
namespace {

using common::cut_trapezoid;
using common::Rectangle;

TEST(Trapezoid, IsCutIntoPartsThatCoverEachElementOnce) {
  for (const int leaf : {1, 2, 5})
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      for (const int n : {1, 2, 7, 16})
        for (const int m : {n, n + 1, 3 * n})
          for (int first_row = 0; first_row + n <= m; first_row++) {
            std::vector<int> covered(static_cast<std::size_t>(m) * n);
            const auto cover = [&](int i, int j) {
              covered.at(static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * m)++;
            };
            cut_trapezoid(
                uplo, m, n, first_row, leaf,
                [&](const Rectangle& r) {
                  for (int j = r.j; j < r.j + r.n; j++)
                    for (int i = r.i; i < r.i + r.m; i++) cover(i, j);
                },
                [&](int row, int column, int order) {
                  EXPECT_LE(order, leaf);
                  for (int j = 0; j < order; j++)
                    for (int i = 0; i < order; i++)
                      if (uplo == Uplo::Lower ? i >= j : i <= j) cover(row + i, column + j);
                });
            for (int j = 0; j < n; j++)
              for (int i = 0; i < m; i++) {
                const bool meant = uplo == Uplo::Lower ? i >= first_row + j : i <= first_row + j;
                EXPECT_EQ(covered[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * m], meant ? 1 : 0)
                    << "element " << i << ',' << j << " of " << m << 'x' << n << ", row " << first_row;
              }
          }
}

}  // namespace
}  // namespace tessera::test::triangle_cpp

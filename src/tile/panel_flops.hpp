// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "common/of_type.hpp"

namespace tessera::tile {

/// The flops of the operations on panels of full height; ops.hpp has those of the operations on tiles. `rows` are the
/// rows of a panel from its diagonal down, `columns` its columns.
class PanelFlops {
 public:
  explicit PanelFlops(char type) : per_multiply_add_(common::flops_of_multiply_add(type)) {}

  double getrf(double rows, double columns) const {
    return per_multiply_add_ / 2 * columns * columns * std::max(rows - columns / 3, 0.0);
  }
  /// @param others  columns of the panel that is updated
  double update(double rows, double columns, double others) const {
    return per_multiply_add_ * columns * others * std::max(rows - columns / 2, 0.0);
  }
  /// @param rows  average number of rows of the factor in a column of the panel
  double solve(double rows, double columns, double right_sides) const {
    return per_multiply_add_ * rows * columns * right_sides;
  }
  /// @param above  rows above the diagonal
  double multiply(double above, double columns, double others) const {
    return per_multiply_add_ * (above + columns / 2) * columns * others;
  }
  double invert(double above, double columns) const {
    return per_multiply_add_ / 2 * columns * columns * (above + columns / 3);
  }
  /// @param reflectors  number of reflectors of the panel
  double geqrf(double rows, double columns, double reflectors) const {
    const double order = std::min(rows, columns);
    const double reflections =
        rows * columns * order - (rows + columns) * order * order / 2 + order * order * order / 3;
    return per_multiply_add_ * reflections + larft(rows, reflectors);
  }
  double larft(double rows, double reflectors) const { return per_multiply_add_ * rows * reflectors * reflectors; }
  double larfb(double rows, double reflectors, double others) const {
    return per_multiply_add_ * (2 * rows + reflectors) * reflectors * others;
  }
  double ungqr(double rows, double columns) const { return per_multiply_add_ * rows * columns * columns; }

 private:
  double per_multiply_add_;
};

}  // namespace tessera::tile

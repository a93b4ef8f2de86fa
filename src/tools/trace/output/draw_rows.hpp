// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "outputs.hpp"

namespace tessera::trace {

/// Of a transfer. Okabe and Ito's palette, which the colour-blind can tell apart.
std::uint32_t operand_colour(char operand);

/// A worker, or a link, or several that share a row.
struct Row {
  std::string name;
  double top = 0, height = 0;
  double share = never;                          ///< of the time: computing; never: not shown
  std::string amount;                            ///< instead of it
  std::vector<std::pair<double, double>> times;  ///< seconds
  std::vector<std::uint32_t> colours;            ///< as many
  std::vector<int> workers;
};

/// A row a worker; those that did nothing share one if they are many, as the cores beside GPUs are.
std::vector<Row> worker_rows(const Explained& explained);

/// A row a link that carried anything: from the host, to the host, then between GPUs; if these are many, a row for each
/// GPU that they lead to.
std::vector<Row> link_rows(const Explained& explained);

}  // namespace tessera::trace

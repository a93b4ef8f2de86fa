// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/output/outputs.hpp"

namespace tessera::trace {

/// The colour of an operand's transfers, from Okabe and Ito's palette for colour-blind readers.
std::uint32_t operand_colour(char operand);

/// A row of the chart: a worker, a link, or several of them.
struct Row {
  std::string name;
  double top = 0, height = 0;
  double share = never;                          ///< fraction of the time spent computing; never: not shown
  std::string amount;                            ///< shown instead of the share
  std::vector<std::pair<double, double>> times;  ///< seconds
  std::vector<std::uint32_t> colours;            ///< one per time
  std::vector<int> workers;
};

/// One row per worker. Many workers without tasks share one row, such as the cores of a machine with GPUs.
std::vector<Row> worker_rows(const Explained& explained);

/// One row per link that carried data: from the host, to the host, then between GPUs. If there are many links between
/// GPUs, those to the same GPU share a row.
std::vector<Row> link_rows(const Explained& explained);

}  // namespace tessera::trace

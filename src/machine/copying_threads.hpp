// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <thread>

#include "cost_curve.hpp"

/// How many threads should copy within host memory, for example between pageable memory and staging buffers.
namespace tessera::detail {

/// The rates of such copies by the number of threads: the amount is that number, and the seconds are those in which
/// each of the threads copies 1 GB. So rates are in GB/s.
struct HostCopyRates {
  CostCurve by_threads;
  bool busy = false;  ///< other work had the cores for some of the time: what was measured must not be kept
};

/// Measures 1, 2, 3, 4, 6, 8, 12, … threads, and `most`. Takes about a tenth of a second.
HostCopyRates measure_host_copies(std::size_t most);

/// The least number of threads that nearly reaches a rate, or the best one if that is lower; 1 if there is no curve.
/// @param wanted  [GB/s]
std::size_t fewest_copying_threads(const CostCurve& by_threads,
                                   double wanted = std::numeric_limits<double>::infinity());

/// How many threads may copy: all that this process may run at a time, less the caller's and those that drive devices,
/// and less a quarter in any case. Copies on all cores hold up the threads that feed them.
std::size_t most_copying_threads(std::size_t drivers, std::size_t cores = std::thread::hardware_concurrency());

/// How many threads should copy: the least number that nearly feeds the links, or reaches the rate of the host's
/// memory, if there are cores for them. More would only hold up those that feed them. The rates of the host are
/// measured unless they are known from an earlier session of this process or from Tessera's cache.
/// @param drivers  threads that drive devices
/// @param links    the rate of their links in one direction, together [GB/s]
std::size_t copying_threads(std::size_t drivers, double links = std::numeric_limits<double>::infinity());

}  // namespace tessera::detail

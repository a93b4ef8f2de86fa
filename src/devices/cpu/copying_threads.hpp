// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <thread>

#include "devices/cost_curve.hpp"

/// Decides how many threads copy within host memory, for example between pageable memory and staging buffers.
namespace tessera::device {

/// The rates of copies within host memory by number of threads. A point's amount is the number of threads, and its
/// seconds are the time in which each thread copies 1 GB, so the curve's rates are in GB/s.
struct HostCopyRates {
  CostCurve by_threads;
  bool busy = false;  ///< other work occupied the cores part of the time, so these rates must not be cached
};

/// Measures 1, 2, 3, 4, 6, 8, 12, … threads, and `most`. Takes about a tenth of a second.
/// @param through_buffers  whether the copies are to and from staging buffers, which caches may hold, instead of from
///                         memory to memory
HostCopyRates measure_host_copies(std::size_t most, bool through_buffers = false);

/// The smallest number of threads that nearly reaches the wanted rate, or nearly reaches the best rate if that is
/// lower; 1 if there is no curve.
/// @param wanted  [GB/s]
std::size_t fewest_copying_threads(const CostCurve& by_threads,
                                   double wanted = std::numeric_limits<double>::infinity());

/// The maximum number of threads for copies. One core for the caller and one for each thread that drives a device stay
/// free, because copies on all cores would delay the threads that feed the copies. At least a quarter of all cores may
/// copy.
std::size_t most_copying_threads(std::size_t drivers, std::size_t cores = std::thread::hardware_concurrency());

struct CopyingThreads {
  std::size_t count = 1;
  /// The rate of all threads together through staging buffers that links use at the same time [GB/s]; 0: unknown.
  /// The mean of the rates through buffers, which then stay in the caches, and from memory to memory. On two H200s,
  /// whose threads copy 116 and 59 GB/s, calls copy 80.
  double rate = 0;
  double rate_of_one = 0;  ///< the measured rate of one thread through buffers [GB/s]; 0: unknown
  /// If no more than this is on its way to a device, the buffers are filled past the caches [bytes]. On the host of an
  /// H200, a link reads what is in the second-level cache of a core at half its rate, and what has left it for the
  /// third at its full rate.
  std::size_t streamed = 0;
  /// The measured rate of all threads from memory to memory [GB/s], for copies past the caches; 0: unknown.
  double rate_streamed = 0;
};
/// @param caches         second-level caches of all threads that copy [bytes]
/// @param rate_streamed  from memory to memory [GB/s]
/// @return  CopyingThreads::streamed; 0 if the memory is slower than the links are with the caches
std::size_t streamed_bytes(std::size_t caches, std::size_t devices, double rate_streamed, double links);
/// The threads that should copy: the smallest number that nearly saturates the links or the host's memory, if enough
/// cores are available. Additional threads would delay those that feed the copies. The host's rates from memory to
/// memory count for this. They are measured unless an earlier session of this process or Tessera's cache knows them.
/// @param drivers  number of threads that drive devices; 0: nothing is measured
/// @param links    total rate of the devices' links in one direction [GB/s]
CopyingThreads copying_threads(std::size_t drivers, double links = std::numeric_limits<double>::infinity());

}  // namespace tessera::device

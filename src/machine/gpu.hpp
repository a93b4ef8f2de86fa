// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// What Tessera asks of CUDA outside the codelets. gpu_cuda.cpp answers with CUDA, gpu_none.cpp without,
/// simulation/gpu_simulated.cpp for a described machine.
/// Every function leaves the calling thread's current device as it was.
namespace tessera::gpu {

struct Info {
  int ordinal = 0;
  std::string name;
  std::size_t memory = 0;  ///< bytes
  std::size_t free = 0;    ///< of them, when it was looked at
};

/// Devices that answer, and for the others (or for all of them) why not.
struct Probe {
  std::vector<Info> usable;
  std::vector<std::string> unusable;
};
/// Asks the devices in order until `wanted` have answered; -1: all. Cost: a CUDA context on each.
Probe probe(int wanted);

/// Names of all the devices that the driver shows, whether they answer or not. Creates no context.
std::vector<std::string> visible_devices();

/// What rates that are measured of a device depend on.
struct State {
  /// Driver, CUDA, and limits of clock and power, as far as they are known: "driver 580.65.06, CUDA 13.0, 1980 MHz, 700
  /// W"
  std::string conditions;
  bool busy = false;  ///< somebody has computed on it within the last second: not the time to measure
};
State state(int device);

/// Gives the calling thread its current device back.
class KeepCurrentDevice {
 public:
  KeepCurrentDevice();
  ~KeepCurrentDevice();
  KeepCurrentDevice(const KeepCurrentDevice&) = delete;
  KeepCurrentDevice& operator=(const KeepCurrentDevice&) = delete;

 private:
  int device_ = -1;
};

/// Bytes per second between the host (pinned memory) and the devices, and between devices.
struct LinkRates {
  std::vector<double> h2d, d2h;               ///< each device alone
  std::vector<double> latency;                ///< seconds, host to device
  std::vector<std::vector<double>> peer;      ///< [from][to]
  double h2d_together = 0, d2h_together = 0;  ///< all devices at once, the sum
};

/// Measures the links with copies of `bytes` (a few dozen MiB are enough for a first idea). Resets nothing.
/// @throws RuntimeError if a device has no room for it
LinkRates measure_links(const std::vector<int>& devices, std::size_t bytes);

/// Whether the devices reach this memory of the host at full speed, because somebody has pinned it.
bool is_pinned(const void* data);

/// Seconds of one n×n×n product on data in the device's memory, on each of `devices` at once, averaged over
/// about `seconds` (at least one product) after one that is not counted.
/// @param type  s, d, c or z
/// @throws RuntimeError if a device has no room for it
double product_seconds(char type, const std::vector<int>& devices, int n, double seconds);

/// Seconds that the kernel of one n×n×n product takes on a device that has nothing else to do: the best of a few, by
/// the device's own clock, so that a busy host does not matter.
/// @throws RuntimeError if the device has no room for it
double kernel_seconds(char type, int device, int n);

/// Seconds that a device takes to copy one column of a tile out of a larger matrix in pinned memory, while it computes:
/// pieces of less than 64 KiB then arrive at as little as 0.6 of the link's rate (H200).
/// @param bytes  of columns, at most 64 KiB each
/// @returns for each of them
/// @throws RuntimeError if the device has no room for it
std::vector<double> column_seconds(int device, const std::vector<std::size_t>& bytes);

/// Host memory that the devices reach at full speed: the caller's, pinned for as long as this object lives.
class PinnedMemory {
 public:
  PinnedMemory(void* data, std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

 private:
  void* data_;
};

}  // namespace tessera::gpu

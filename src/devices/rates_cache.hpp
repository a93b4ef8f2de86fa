// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "cost_curve.hpp"

namespace tessera::device {

/// Measured curves of one kind of device, in a file of Tessera's cache. Each curve is valid only for the conditions
/// under which it was measured: driver, CUDA version, and clock and power limits.
class RatesCache {
 public:
  /// @param folder      empty: no cache; nothing is found or kept
  /// @param device      name of the device, e.g. "NVIDIA H200"
  /// @param conditions  the current conditions
  RatesCache(const std::filesystem::path& folder, const std::string& device, std::string conditions);

  /// The curve with this name; empty if the file is missing or damaged, or has no such curve for the current
  /// conditions.
  CostCurve find(const std::string& name) const;

  /// Adds the curve to the file, replacing a damaged file. Failure to write is ignored: the next process measures
  /// again.
  void keep(const std::string& name, const CostCurve& curve) const;

 private:
  std::filesystem::path file_;
  std::string conditions_;
};

}  // namespace tessera::device

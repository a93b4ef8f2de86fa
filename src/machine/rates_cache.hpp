// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "cost_curve.hpp"

namespace tessera::detail {

/// Measured curves of one kind of device, in a file of Tessera's cache. Each curve belongs to the conditions under
/// which it was measured: driver, CUDA, and the limits of clock and power.
class RatesCache {
 public:
  /// @param folder      empty: there is no cache, and nothing is kept
  /// @param device      name of the device, e.g. "NVIDIA H200"
  /// @param conditions  current conditions
  RatesCache(const std::filesystem::path& folder, const std::string& device, std::string conditions);

  /// The curve with that name; empty if the file is missing or damaged, or has no such curve for the current
  /// conditions.
  CostCurve find(const std::string& name) const;

  /// Adds the curve to the file, and replaces a damaged file. Does nothing if the file cannot be written; the next
  /// process then measures again.
  void keep(const std::string& name, const CostCurve& curve) const;

 private:
  std::filesystem::path file_;
  std::string conditions_;
};

}  // namespace tessera::detail

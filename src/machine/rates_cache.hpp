// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "cost_curve.hpp"

namespace tessera::detail {

/// Curves that were measured of one kind of device, in a file of our cache. Each belongs to the conditions that it was
/// measured under: driver, CUDA, limits of clock and power.
class RatesCache {
 public:
  /// @param folder      empty: there is no cache, and nothing is kept
  /// @param device      its name, e.g. "NVIDIA H200"
  /// @param conditions  those of now
  RatesCache(const std::filesystem::path& folder, const std::string& device, std::string conditions);

  /// The curve of that name; empty if none was kept under these conditions. A damaged file counts as none.
  CostCurve find(const std::string& name) const;

  /// Replaces a damaged file. Does nothing where the file cannot be written: it is measured again then.
  void keep(const std::string& name, const CostCurve& curve) const;

 private:
  std::filesystem::path file_;
  std::string conditions_;
};

}  // namespace tessera::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <optional>

#include "call.hpp"
#include "engine.hpp"
#include "settings.hpp"

/// Whether a call goes to the devices: if they are expected to be done sooner than the host. What is expected is
/// learned from the calls themselves, of either place, by type and size.
namespace tessera::dropin {

enum class Place { Host, Devices };

/// What a prediction has to be multiplied with, by type and by powers of four of the flops: a moving average. Threads
/// may lose an observation to each other, not more.
class Learned {
 public:
  /// Of the nearest size that is known; nothing if none is.
  std::optional<double> operator()(char type, double flops) const;
  void observe(char type, double flops, double value);
  /// What was seen once may have been chance: if nothing is seen for long, it becomes `usual` again.
  void forget(char type, double flops, double usual);

 private:
  static constexpr int sizes = 32;
  std::atomic<float> values_[4][sizes] = {};  ///< 0: not known
};

class Decision {
 public:
  explicit Decision(const Settings& settings);

  /// What can be said without knowing the devices, in a few nanoseconds: whether the call certainly stays on the host.
  bool stays(double flops) const noexcept { return flops < smallest_; }

  /// Whether it would pay to have the devices started by now: the time that earlier calls and this one lose without
  /// them exceeds what starting takes. Whoever rents until he has paid the price of buying pays at most twice the
  /// least.
  bool starting_pays(const Call& call, double flops);

  /// @pre  the devices have started
  Place choose(const Call& call, double flops, const Engine& engine);

  void observe_host(const Call& call, double flops, double seconds);
  void observe_devices(const Call& call, double flops, const Engine& engine, double seconds);

  /// Seconds that the host would take; nothing if no such call has been seen there.
  std::optional<double> host_seconds(const Call& call, double flops) const;

 private:
  double expected_on_host(const Call& call, double flops) const;

  bool forced_;            ///< the user has said from how many flops on
  double smallest_;        ///< flops
  Learned host_slowness_;  ///< seconds by those of a host as we assume it
  Learned slowness_[2];    ///< of the devices, with memory that is not pinned and that is: seconds by seconds predicted
  std::atomic<double> lost_ = 0;  ///< seconds that starting earlier would have saved
};

/// CUDA devices that the driver of this machine has, found without starting CUDA; 0 also if the environment hides them.
int devices_in_sight();

}  // namespace tessera::dropin

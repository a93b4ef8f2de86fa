// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "common/not_copyable.hpp"
#include "engine.hpp"
#include "job.hpp"
#include "settings.hpp"

/// Decides whether a call runs on the devices or on the host, whichever is expected to be faster. The
/// expectations are learned from earlier calls on the devices and on the host, by type and size. If several threads
/// call at the same time, each call counts only its share of the time. Otherwise the devices would look slow, and the
/// threads would move to the host, where they would slow down the copies.
namespace tessera::dropin {

enum class Place { Host, Devices };

/// What a call does if the devices have not started.
enum class Start {
  Later,   ///< nothing: the call runs on the host
  Beside,  ///< starts them in a separate thread, and runs on the host in the meantime
  Inside,  ///< waits until they have started, and runs there
};

/// Correction factors for predicted times: moving averages, by kind of routine, type, and powers of four of the flops.
/// Thread-safe, but concurrent observations may overwrite each other.
class Learned {
 public:
  /// The factor for the nearest known size; empty if none is known.
  std::optional<double> operator()(const Job& job) const;
  void observe(const Job& job, double value);
  /// Moves the factor slightly towards `usual`. A single observation may be an outlier; if no other follows, repeated
  /// calls of this function bring the factor back to `usual`.
  void forget(const Job& job, double usual);

 private:
  static constexpr int sizes = 32;
  std::atomic<float> values_[kind_count][4][sizes] = {};  ///< 0: unknown
};

/// One of the concurrent calls in one place, host or devices.
class ConcurrentCall : common::NotCopyable {
 public:
  /// @param is_part  whether another call of this thread contains this call, which then is not counted again
  ConcurrentCall(std::atomic<int>& calls, bool is_part)
      : calls_(calls), counted_(is_part ? 0 : 1), at_first_(calls.fetch_add(counted_) + counted_) {}
  ~ConcurrentCall() { calls_ -= counted_; }

  /// The share of the elapsed time that counts for this call.
  /// @param seconds  since the start of the call
  double share_of(double seconds) const { return 2 * seconds / std::max(2, at_first_ + calls_.load()); }

 private:
  std::atomic<int>& calls_;
  int counted_;   ///< 1, or 0 for a part
  int at_first_;  ///< number of calls at the start, including this one
};

class Decision {
 public:
  explicit Decision(const Settings& settings);

  /// Whether a call certainly stays on the host. Takes a few nanoseconds, and needs no devices.
  bool stays(double flops) const noexcept { return flops < smallest_; }

  /// Whether to start the devices now. This is the ski-rental rule, with a quarter of the start-up time as the price.
  /// Short calls stay on the host while the devices start, until they have lost the same amount again. A long call
  /// waits.
  Start start_for(const Job& job);

  /// @pre  the devices have started
  Place choose(const Job& job, const Engine& engine);

  /// A call starts on the host, or on the devices. Observations count only its share of the time.
  ConcurrentCall on_host(bool is_part) { return {on_host_, is_part}; }
  ConcurrentCall on_devices() { return {on_devices_, false}; }
  /// Some calls on the host have been left: they do not end.
  void left_on_host(int calls) { on_host_ -= calls; }
  void observe_host(const Job& job, double seconds);
  void observe_devices(const Job& job, const Engine& engine, double seconds);

  /// The predicted seconds of a call on the host; empty if no call of its kind and type has been timed there.
  std::optional<double> host_seconds(const Job& job) const;

 private:
  double expected_on_host(const Job& job) const;

  bool forced_;                                    ///< whether the user has set the minimum number of flops
  double smallest_;                                ///< calls with fewer flops stay on the host
  Learned host_slowness_;                          ///< ratio of measured to assumed seconds
  Learned slowness_;                               ///< ratio of measured to predicted seconds on the devices
  std::atomic<double> lost_ = 0;                   ///< seconds that an earlier start would have saved
  std::atomic<int> on_host_ = 0, on_devices_ = 0;  ///< current number of calls; on the host, only timed calls
};

/// The number of NVIDIA GPUs of this machine, found without starting CUDA, plus the OpenCL devices that the user asks
/// for.
int devices_in_sight(const common::DeviceChoice& choice);

/// Why all calls stay on the host from the start; "" if they need not.
std::string why_no_devices(const Settings& settings);

}  // namespace tessera::dropin

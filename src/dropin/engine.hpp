// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call.hpp"

/// What libtessera_blas.so, which programs load, asks of libtessera.so, which it opens when a call pays for the first
/// time. No exception goes from one to the other.
namespace tessera::dropin {

/// How fast the devices are together, at best.
struct DeviceRates {
  double flops;  ///< per second
  double link;   ///< bytes per second from the host, or to it
};

enum class Outcome {
  Done,
  Declined,  ///< nothing has been touched: the devices do not take such a call, e.g. with operands that overlap
  Failed,    ///< what the call overwrites is undefined, and the devices are not to be used again
};

struct Engine {
  static constexpr int current_version = 1;
  int version;
  /// Starts the devices, and pauses them. Returns why they cannot be used, or null. Once.
  /// @param gpus       how many; -1: all
  /// @param cpu_only   none of them
  /// @param need_gpus  CPU workers alone are not what was wanted
  const char* (*start)(int gpus, bool cpu_only, bool need_gpus);
  /// "4 NVIDIA H200, 1 CPU worker"
  const char* (*devices)();
  DeviceRates (*rates)(char type);
  /// Whether GPUs reach this memory at full speed.
  bool (*is_pinned)(const void* data);
  /// Whether the calling thread is inside a StarPU task: waiting for tasks would block the worker that is waited for.
  bool (*in_a_task)();
  /// Computes a legal call, column-major, and returns when its result is in the caller's memory. Any thread.
  Outcome (*run)(const Call* call);
  /// Why the first call that failed did.
  const char* (*failure)();
  /// Stops what `start` has started. No call may run.
  void (*stop)();
  /// Waits until the workers have nothing more to do, although the call that the calling thread is in cannot end.
  void (*settle)();
};

}  // namespace tessera::dropin

/// The only function that is looked up.
extern "C" const tessera::dropin::Engine* tessera_dropin_engine();

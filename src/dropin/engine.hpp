// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/device_choice.hpp"
#include "common/overwrites.hpp"
#include "job.hpp"

/// The interface between libtessera_blas.so, which programs load, and libtessera.so, which the former opens when a call
/// first pays off on the devices. No exception crosses this interface.
namespace tessera::dropin {

using common::overwrites::Listener;

enum class Outcome {
  Done,
  Declined,  ///< the devices do not take this call: operands overlap, or there is no memory for their tiles or copies.
             ///< The overwritten operands are undefined
  Failed,    ///< the overwritten operands are undefined, and the devices must not be used again
};

struct Engine {
  static constexpr int current_version = 10;
  int version;
  /// Starts the devices, and pauses them. Returns null, or the reason why they cannot be used. Call this only once.
  /// @param devices    what the drop-in has read from the environment, which the program may have changed since
  /// @param need_gpus  whether it is an error if no GPU can be used
  const char* (*start)(const common::DeviceChoice& devices, bool need_gpus);
  /// The devices in words: "4 NVIDIA H200, 1 CPU worker".
  const char* (*devices)();
  /// The seconds that a legal call is predicted to take, according to a plan for about its sizes; 0: there is no plan;
  /// infinity: the devices would decline the call.
  double (*seconds)(const Job& job);
  /// Whether the calling thread runs a StarPU task. It must then not wait for tasks, since that would block its worker.
  bool (*in_a_task)();
  /// Whether `run` and `solve` leave the operands alone until they announce what they overwrite.
  bool (*announces)();
  /// Computes a legal, column-major call, and returns when the result is in the caller's memory. Thread-safe.
  /// @param listener  notified before memory is overwritten; may be null
  Outcome (*run)(const Call* call, const Listener* listener);
  /// Computes a legal call of LAPACK, and returns when the result is in the caller's memory.
  /// @param info      receives the routine's info
  /// @param listener  only for calls in column-major layout, and not for getrs, where the calling thread overwrites
  ///                  memory
  Outcome (*solve)(const LapackCall* call, Index* info, const Listener* listener);
  /// Bytes of operands that this thread's last call did not copy, because earlier calls had left them on the devices.
  double (*reused_bytes)();
  /// The reason for the first failure of a call.
  const char* (*failure)();
  /// Why this thread's last failed or declined call was not done.
  const char* (*objection)();
  /// Stops the devices.
  /// @pre  no call is running
  void (*stop)();
  /// Waits until the devices are idle. For a thread that is itself inside a call, so the call cannot end.
  void (*settle)();
};

}  // namespace tessera::dropin

/// The only symbol that libtessera_blas.so looks up in libtessera.so.
extern "C" const tessera::dropin::Engine* tessera_dropin_engine();

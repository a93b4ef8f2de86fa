// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "common/device_choice.hpp"

/// The user's settings of the drop-in, all of which are environment variables.
namespace tessera::dropin {

struct Settings {
  std::optional<double> min_flops;  ///< TESSERA_BLAS_MIN_FLOPS: smaller calls stay on the host, all others do not
  common::DeviceChoice devices;     ///< TESSERA_DEVICES
  std::string host_blas;            ///< TESSERA_HOST_BLAS: file name or path; "": the default
  std::string log;                  ///< TESSERA_BLAS_LOG: a file; "": no log
  std::string trace;                ///< TESSERA_TRACE: a folder; "": no trace
  bool quiet = false;               ///< TESSERA_QUIET=1
  std::string mistake;              ///< the error in a setting, in one sentence; then no device is used. "": no error
};

/// Reads the environment.
Settings settings_from_environment();

/// Writes "tessera: " and the sentence to standard error, as one line, with a single write.
void say_now(const std::string& sentence);

enum class Subject { Settings, Variables, Devices, Log, Trace };

/// Calls say_now, unless TESSERA_QUIET is set. Only the first sentence of each subject is written.
void say_once(const Settings& settings, Subject subject, const std::string& sentence);

}  // namespace tessera::dropin

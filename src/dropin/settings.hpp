// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

/// What the user of the drop-in can say, all of it by environment variables.
namespace tessera::dropin {

struct Settings {
  std::optional<double> min_flops;  ///< TESSERA_BLAS_MIN_FLOPS: calls of at least so many go to the devices, no others
  int gpus = -1;                    ///< TESSERA_BLAS_DEVICES: how many; -1: all
  bool cpu_only = false;            ///< TESSERA_BLAS_DEVICES=cpu: the devices are CPU workers
  std::string host_blas;            ///< TESSERA_HOST_BLAS: file name or path; "": found
  std::string log;                  ///< TESSERA_BLAS_LOG: a file; "": none
  bool quiet = false;               ///< TESSERA_QUIET=1
  std::string mistake;              ///< why a value cannot be understood, in one sentence: then no device is used
};

/// Reads the environment.
Settings settings_from_environment();

/// Writes "tessera: …" to standard error, as one line in one piece.
void say_now(const std::string& sentence);

enum class Subject { Settings, Devices, Log };

/// The same, unless the user wants quiet. Only the first of each subject is written.
void say_once(const Settings& settings, Subject subject, const std::string& sentence);

}  // namespace tessera::dropin

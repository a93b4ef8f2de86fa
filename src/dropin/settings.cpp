// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <unistd.h>

#include <atomic>
#include <string_view>

#include "common/environment.hpp"
#include "quiet_write.hpp"

namespace tessera::dropin {

namespace {

using detail::as_number, detail::environment;

std::string wrong(const char* variable, std::string_view text, const char* wanted) {
  return std::string(variable) + " is '" + std::string(text) + "', must be " + wanted +
         "; all calls stay on the host BLAS";
}

}  // namespace

Settings settings_from_environment() {
  Settings settings;
  if (const auto text = environment("TESSERA_BLAS_MIN_FLOPS"); !text.empty()) {
    settings.min_flops = as_number<double>(text);
    if (!settings.min_flops || !(*settings.min_flops >= 0))
      settings.mistake = wrong("TESSERA_BLAS_MIN_FLOPS", text, "a number of at least 0");
  }
  if (const auto text = environment("TESSERA_BLAS_DEVICES"); !text.empty()) {
    const auto gpus = as_number<int>(text);
    settings.cpu_only = text == "cpu";
    if (gpus && *gpus >= 0) settings.gpus = *gpus;
    else if (text != "all" && !settings.cpu_only)
      settings.mistake = wrong("TESSERA_BLAS_DEVICES", text, "all, a number of GPUs, or cpu");
  }
  const auto quiet = environment("TESSERA_QUIET");
  settings.quiet = quiet == "1";
  if (!quiet.empty() && quiet != "0" && quiet != "1") settings.mistake = wrong("TESSERA_QUIET", quiet, "0 or 1");
  settings.host_blas = environment("TESSERA_HOST_BLAS");
  settings.log = environment("TESSERA_BLAS_LOG");
  return settings;
}

void say_now(const std::string& sentence) {
  write_quietly(STDERR_FILENO, "tessera: " + sentence + "\n");  // there is no place to report an error
}

void say_once(const Settings& settings, Subject subject, const std::string& sentence) {
  static std::atomic<bool> said[4] = {};
  if (!settings.quiet && !said[static_cast<int>(subject)].exchange(true)) say_now(sentence);
}

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <unistd.h>

#include <atomic>

#include "quiet_write.hpp"

namespace tessera::dropin {

Settings settings_from_environment() {
  using namespace common;
  Settings settings;
  // A mistake in one setting must not prevent reading the others, above all whether to print anything.
  const auto read = [&](auto setting) {
    try {
      setting();
    } catch (const ArgumentError& error) {
      settings.mistake = error.argument() + " " + error.problem() + "; all calls stay on the host BLAS";
    }
  };
  read(refuse_old_variables);
  read([&] {
    const auto text = text_of(common::variables::blas_min_flops);
    if (text.empty()) return;
    settings.min_flops = as_number<double>(text);
    if (!settings.min_flops || !(*settings.min_flops >= 0)) refuse(common::variables::blas_min_flops);
  });
  read([&] { settings.devices = device_choice(); });
  read([&] { settings.quiet = flag_in(common::variables::quiet).value_or(false); });
  settings.host_blas = text_of(common::variables::host_blas);
  settings.log = text_of(common::variables::blas_log);
  settings.trace = environment("TESSERA_TRACE");
  return settings;
}

void say_now(const std::string& sentence) {
  write_quietly(STDERR_FILENO, "tessera: " + sentence + "\n");  // errors cannot be reported anywhere
}

void say_once(const Settings& settings, Subject subject, const std::string& sentence) {
  static std::atomic<bool> said[5] = {};
  if (!settings.quiet && !said[static_cast<int>(subject)].exchange(true)) say_now(sentence);
}

}  // namespace tessera::dropin

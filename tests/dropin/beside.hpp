// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "scenario.hpp"

namespace tessera::test {

/// A folder with a copy of libtessera_blas.so, and with another file instead of libtessera.so.
class Beside {
 public:
  /// @param engine  the file to use as libtessera.so; empty: a new file with the content `text`
  explicit Beside(const std::filesystem::path& engine, const std::string& text = "") {
    namespace fs = std::filesystem;
    fs::copy_file(fs::canonical(place_of("TESSERA_TEST_DROPIN")), folder_ / "libtessera_blas.so");
    const auto place = folder_ / "libtessera.so.0";
    if (engine.empty()) std::ofstream(place) << text;
    else fs::copy_file(engine, place);
  }

  Ended run(const Scenario& scenario, Variables variables = {}) const {
    variables["TESSERA_TEST_DROPIN"] = folder_ / "libtessera_blas.so";
    variables.try_emplace("LD_PRELOAD", folder_ / "libtessera_blas.so");
    return scenario.run(variables);
  }

 private:
  Folder folder_;
};

/// Runs a scenario with fake_engine.cpp as libtessera.so.
/// @param fake  the value of FAKE_ENGINE: what the fake does
inline Ended run_with_fake(const std::string& fake, const Scenario& scenario, Variables variables = {}) {
  variables["FAKE_ENGINE"] = fake;
  variables["FAKE_FORWARDS"] =
      std::filesystem::canonical(place_of("TESSERA_TEST_DROPIN")).parent_path() / "libtessera.so.0";
  return Beside(place_of("TESSERA_TEST_FAKE_ENGINE")).run(scenario, std::move(variables));
}

}  // namespace tessera::test

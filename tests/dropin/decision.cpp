// SPDX-License-Identifier: BSD-3-Clause
// Where a call is expected to be faster, according to invented times.
#include "dropin/decision.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

namespace tessera::test {
namespace {

using namespace dropin;

/// Devices on which the calls of this test cost only their fixed time.
Engine fast_devices() {
  Engine engine{};
  engine.rates = [](char) { return DeviceRates{1e15, 1e15}; };
  engine.is_pinned = [](const void*) { return false; };
  return engine;
}

Job product() {
  const blas::Call call{.routine = blas::Routine::gemm, .type = 'd', .m = 1000, .n = 1000, .k = 1000};
  return job_of(call, 2e9);
}

Settings with_cpu_workers() {
  Settings settings;
  settings.devices.cpu_only = true;
  return settings;
}

/// After a call that took a tenth of a second on the host, sixteen calls at a time take turns on the devices.
/// @param shared  whether each call is charged only its share of the time
Place after_sixteen_callers(bool shared) {
  const auto engine = fast_devices();
  const auto job = product();
  Decision decision(with_cpu_workers());
  decision.observe_host(job, 0.1);
  std::deque<std::unique_ptr<ConcurrentCall>> calls;
  for (int call = 0; call < 16; call++) calls.emplace_back(new ConcurrentCall(decision.on_devices()));
  for (double seconds = 0.02; !calls.empty(); seconds += 0.02) {
    decision.observe_devices(job, engine, shared ? calls.front()->share_of(seconds) : seconds);
    calls.pop_front();
  }
  return decision.choose(job, engine);
}

TEST(Decision, ManyCallersStayOnTheDevices) { EXPECT_EQ(after_sixteen_callers(true), Place::Devices); }

TEST(Decision, AvoidsDevicesThatAreSoSlow) { EXPECT_EQ(after_sixteen_callers(false), Place::Host); }

TEST(Decision, OfAFasterHostIsForgottenSlowly) {
  const auto engine = fast_devices();
  const auto job = product();
  Decision decision(with_cpu_workers());
  decision.observe_host(job, 0.1);
  decision.observe_devices(job, engine, 0.2);
  EXPECT_EQ(decision.choose(job, engine), Place::Host);
  int calls = 0;
  while (decision.choose(job, engine) == Place::Host) ASSERT_LT(++calls, 1000) << "the devices never get another try";
}

}  // namespace
}  // namespace tessera::test

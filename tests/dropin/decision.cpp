// SPDX-License-Identifier: BSD-3-Clause
// Where a call is expected to be faster, according to invented times.
#include "dropin/decision.hpp"

#include <gtest/gtest.h>

#include <limits>

#include <deque>
#include <memory>
#include <variant>

namespace tessera::test {
namespace {

using namespace dropin;

/// Devices whose plans predict a time for each call.
template <int milliseconds>
Engine devices_with_plans() {
  Engine engine{};
  engine.seconds = [](const Job&) { return 1e-3 * milliseconds; };
  return engine;
}
Engine fast_devices() { return devices_with_plans<1>(); }
Engine devices_without_plans() { return devices_with_plans<0>(); }

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

/// The first choice for a call that took a tenth of a second on the host.
Place first_choice(const Job& job, const Engine& engine) {
  Decision decision(with_cpu_workers());
  decision.observe_host(job, 0.1);
  return decision.choose(job, engine);
}

Job factorization() {
  const blas::LapackCall call{.routine = blas::LapackRoutine::potrf, .type = 'd', .n = 2000};
  return job_of(call, blas::flops(call));
}

TEST(Decision, BelievesThePlanOfTheDevices) {
  for (const auto& job : {product(), factorization()}) {
    EXPECT_EQ(first_choice(job, devices_with_plans<80>()), Place::Devices) << job.name();
    EXPECT_EQ(first_choice(job, devices_with_plans<120>()), Place::Host) << job.name();
  }
}

TEST(Decision, AsksForThePlanOfThisCall) {
  Engine engine{};
  engine.seconds = [](const Job& job) {
    if (const auto* const solver = std::get_if<blas::LapackCall>(&job.call))
      return solver->routine == blas::LapackRoutine::potrf && solver->n == 2000 ? 1e-3 : 1.0;
    return std::get<blas::Call>(job.call).m == 1000 ? 2e-3 : 1.0;
  };
  for (const auto& job : {product(), factorization()}) EXPECT_EQ(first_choice(job, engine), Place::Devices);
}

TEST(Decision, AssumesRatesWithoutAPlan) {
  EXPECT_EQ(first_choice(product(), devices_without_plans()), Place::Devices);
  auto short_call = product();
  Decision decision(with_cpu_workers());
  decision.observe_host(short_call, 0.5e-3);
  EXPECT_EQ(decision.choose(short_call, devices_without_plans()), Place::Host);
}

TEST(Decision, ObservationsCorrectThePlan) {
  const auto job = product();
  Decision decision(with_cpu_workers());
  decision.observe_host(job, 0.1);
  const auto optimist = devices_with_plans<20>(), pessimist = devices_with_plans<150>();
  EXPECT_EQ(decision.choose(job, optimist), Place::Devices);
  decision.observe_devices(job, optimist, 0.2);
  EXPECT_EQ(decision.choose(job, optimist), Place::Host);
  Decision other(with_cpu_workers());
  other.observe_host(job, 0.1);
  EXPECT_EQ(other.choose(job, pessimist), Place::Host);
  other.observe_devices(job, pessimist, 0.05);
  EXPECT_EQ(other.choose(job, pessimist), Place::Devices);
}

// The plan is for sizes close to those of the call, so a call may fit although its plan does not.
TEST(Decision, WithoutRoomIsForTheHostAndTeachesNothing) {
  const auto job = product();
  Engine full{};
  full.seconds = [](const Job&) { return std::numeric_limits<double>::infinity(); };
  EXPECT_EQ(first_choice(job, full), Place::Host);
  Decision decision(with_cpu_workers());
  decision.observe_host(job, 0.1);
  decision.observe_devices(job, devices_with_plans<20>(), 0.2);
  EXPECT_EQ(decision.choose(job, devices_with_plans<20>()), Place::Host) << "they are slower than planned";
  for (int i = 0; i < 500; i++) decision.choose(job, full);
  decision.observe_devices(job, full, 0.05);
  EXPECT_EQ(decision.choose(job, devices_with_plans<20>()), Place::Host) << "as before";
}

TEST(Decision, AForcedCallAsksForNoPlan) {
  Engine engine{};
  engine.seconds = [](const Job&) {
    ADD_FAILURE() << "a plan takes time";
    return 1.0;
  };
  Settings forced;
  forced.min_flops = 0;
  Decision decision(forced);
  EXPECT_EQ(decision.choose(product(), engine), Place::Devices);
  decision.observe_devices(product(), engine, 1);
}

}  // namespace
}  // namespace tessera::test

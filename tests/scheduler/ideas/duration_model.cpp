// SPDX-License-Identifier: BSD-3-Clause
// How long a task is expected to take.
#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

class Durations : public IdeaTest {
 protected:
  double seconds(std::size_t bytes, int kind) { return state.durations.seconds(*submit({reads(1, bytes)}), kind, 3); }
  void measure(std::size_t bytes, int kind, double seconds) {
    state.durations.finished(*submit({reads(1, bytes)}), kind, seconds);
  }
};

TEST_F(Durations, TheFirstMeasurementDoesNotCount) {
  EXPECT_EQ(seconds(1000, 1), 0);
  measure(1000, 1, 99);  // may have included loading a library
  EXPECT_EQ(seconds(1000, 1), 0);
  measure(1000, 1, 2);
  EXPECT_DOUBLE_EQ(seconds(1000, 1), 2);
}

TEST_F(Durations, AreTheMedianOfTheLastMeasurements) {
  for (const double measured : {99.0, 2.0, 6.0}) measure(1000, 1, measured);
  EXPECT_DOUBLE_EQ(seconds(1000, 1), 2);  // the other measurement may be an outlier
  for (const double measured : {5.0, 900.0, 4.0}) measure(1000, 1, measured);
  EXPECT_DOUBLE_EQ(seconds(1000, 1), 5);
  for (int i = 0; i < 3; i++) measure(1000, 1, 7);
  EXPECT_DOUBLE_EQ(seconds(1000, 1), 7);
}

TEST_F(Durations, AreThoseOfTheModelUntilTheyAreMeasured) {
  backend.seconds = {{3, 5.0}};
  EXPECT_DOUBLE_EQ(seconds(1000, 1), 5);
  EXPECT_EQ(DurationModel(backend, false).seconds(*submit({reads(1)}), 1, 3), 0);
  for (int i = 0; i < 2; i++) measure(1000, 1, 2);
  EXPECT_DOUBLE_EQ(seconds(1000, 1), 2);
}

TEST_F(Durations, AreKnownByImplementation) {
  const auto restricted = [&] { return submit({reads(1)}, 0, true); };
  add_gpu(1);
  for (int i = 0; i < 2; i++) {
    auto task = restricted();
    task->implementation = 1;
    state.durations.finished(*task, 1, 2);
  }
  EXPECT_EQ(state.durations.seconds(*restricted(), 1, 1), 0);
  backend.first_implementation = 1;
  EXPECT_EQ(state.durations.seconds(*restricted(), 1, 1), 2);
}

TEST_F(Durations, AreKnownByKindSizeAndCodelet) {
  for (int i = 0; i < 2; i++) measure(1000, 1, 2);
  EXPECT_EQ(seconds(1000, 2), 0);
  EXPECT_EQ(seconds(3000, 1), 0);
  EXPECT_EQ(seconds(1001, 1), 2);  // nearly the same size
  auto other = submit({reads(1, 1000)});
  other->codelet = reinterpret_cast<CodeletId>(1);
  EXPECT_EQ(state.durations.seconds(*other, 1, 3), 0);
}

TEST_F(Durations, UseThePerformanceModelUntilTheSecondMeasurement) {
  backend.seconds = {{3, 7.0}};
  measure(1000, 1, 99);
  EXPECT_EQ(seconds(1000, 1), 7);
  measure(1000, 1, 2);
  EXPECT_EQ(seconds(1000, 1), 2);
}

}  // namespace
}  // namespace tessera::scheduler

// SPDX-License-Identifier: BSD-3-Clause
// A replacement of libtessera.so. The environment variable FAKE_ENGINE says what its devices do.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "dropin/engine.hpp"

namespace {

using namespace tessera::dropin;

std::string fake() { return std::getenv("FAKE_ENGINE"); }

std::atomic<bool> starting = false;
const struct Whole {
  ~Whole() {
    if (starting) std::puts("torn down while starting");
  }
} whole;

thread_local bool in_a_task = false;

/// Computes nothing. "decline" declines all calls; a number declines that many calls and then fails.
Outcome run(const Call* call) {
  static std::atomic<int> done = 0;
  const auto what = fake();
  if (what == "raise in run") std::raise(SIGALRM);
  if (what == "raise in a worker") {
    std::thread worker([] {
      in_a_task = true;
      std::raise(SIGALRM);
    });
    worker.join();
  }
  if (what == "start slowly") return Outcome::Done;  // the caller ignores the result
  if (what.ends_with("decline") || done++ < std::atoi(what.c_str())) return Outcome::Declined;
  // Overwrites elements that a failing device could have written: only those of the result.
  for (tessera::Index j = 0; j < call->n; j++) {
    const bool lower = call->uplo == tessera::Uplo::Lower;
    const auto begin = call->has_triangle() && lower ? j : 0,
               end = call->has_triangle() && !lower ? j + 1 : call->rows();
    if (j % 3 != 1)  // leaves some columns as they were
      std::memset(static_cast<char*>(call->C) + (begin + j * call->ldc) * call->element_size(), 0xa5,
                  static_cast<std::size_t>((end - begin) * call->element_size()));
  }
  return Outcome::Failed;
}

/// The same for calls of LAPACK.
Outcome solve(const LapackCall* call, tessera::Index* info) {
  if (fake().ends_with("decline")) return Outcome::Declined;
  *info = 77;
  for (const auto& x : tessera::blas::operands(*call)) {
    if (x.use != tessera::blas::Use::Overwritten) continue;
    for (tessera::Index j = 0; j < x.n; j++) {
      const auto begin = x.triangle == tessera::Uplo::Lower ? j : 0,
                 end = x.triangle == tessera::Uplo::Upper ? j + 1 : x.m;
      if (j % 3 != 1)  // leaves some columns as they were
        std::memset(static_cast<char*>(x.data) + (begin + j * x.ld) * call->element_size(), 0xa5,
                    static_cast<std::size_t>((end - begin) * call->element_size()));
    }
  }
  if (call->properties().pivots == tessera::blas::Use::Overwritten)
    std::memset(call->ipiv, 0xa5, static_cast<std::size_t>(call->pivot_count()) * (call->wide ? 8 : 4));
  return Outcome::Failed;
}

const char* start(int /*gpus*/, bool /*cpu_only*/, bool /*need_gpus*/) {
  if (fake() == "raise in start") std::raise(SIGALRM);
  if (fake().starts_with("start slowly")) {
    starting = true;
    usleep(500000);
    starting = false;
  }
  return fake() == "refuse" ? "they are on strike" : nullptr;
}

}  // namespace

extern "C" const Engine* tessera_dropin_engine() {
  static Engine engine{};
  engine.version = Engine::current_version + (fake() == "version" ? 1 : 0);
  engine.start = start;
  engine.devices = [] { return "1 fake"; };
  engine.rates = [](auto...) { return DeviceRates{}; };  // irrelevant: every call is forced
  engine.is_pinned = [](auto...) { return false; };
  engine.in_a_task = [] { return in_a_task; };
  engine.run = run;
  engine.solve = solve;
  engine.failure = [] { return "a fake has burnt out"; };
  engine.settle = [] {};
  engine.stop = [] {
    if (!fake().ends_with("decline") && fake() != "start slowly") std::abort();  // not after a failure or during a call
  };
  return &engine;
}

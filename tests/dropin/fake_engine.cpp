// SPDX-License-Identifier: BSD-3-Clause
// A replacement for libtessera.so. The environment variable FAKE_ENGINE selects what its devices do.
#include <dlfcn.h>
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

/// Sends a letter to the test, and returns whether the test listens.
bool say(char letter) {
  const char* file = std::getenv("FAKE_SAYS");
  return file != nullptr && write(std::atoi(file), &letter, 1) == 1;
}

/// Waits for a word from the test.
void hear(const char* what) {
  char word = 0;
  if (read(std::atoi(std::getenv("FAKE_HEARS")), &word, 1) != 1) std::printf("nobody waits for %s\n", what);
}

/// Overwrites some columns of an operand, as a failing device might. Starts with the last column, which the threads
/// that copy the operand at the same time reach last.
void overwrite(const tessera::blas::StoredOperand& x, tessera::Index element_size, const Listener* listener) {
  for (tessera::Index j = x.n - 1; j >= 0; j--) {
    const auto begin = x.triangle == tessera::Uplo::Lower ? j : 0,
               end = x.triangle == tessera::Uplo::Upper ? j + 1 : x.m;
    auto* const first = static_cast<char*>(x.data) + (begin + j * x.ld) * element_size;
    const auto bytes = static_cast<std::size_t>((end - begin) * element_size);
    if (j % 3 == 1 || bytes == 0) continue;
    if (listener != nullptr) listener->before(listener->self, first, first + bytes);
    std::memset(first, 0xa5, bytes);
  }
}

/// Computes nothing. "decline" declines all calls, "overwrite, decline" after a part of the result has been
/// overwritten; a number declines this number of calls, and then fails.
Outcome run(const Call* call, const Listener* listener) {
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
  say('r');
  if (what == "hold calls") hear("a call");
  if (what == "hold calls" || what.ends_with("do nothing")) return Outcome::Done;  // the caller ignores the result
  const bool overwrites = what == "overwrite, decline";
  if (!overwrites && (what.ends_with("decline") || done++ < std::atoi(what.c_str()))) return Outcome::Declined;
  tessera::blas::StoredOperand C{call->C, call->rows(), call->n, call->ldc, {}};
  if (call->has_triangle()) C.triangle = call->uplo;
  overwrite(C, call->element_size(), listener);
  return overwrites ? Outcome::Declined : Outcome::Failed;
}

/// Does the same for LAPACK calls.
Outcome solve(const LapackCall* call, tessera::Index* info, const Listener* listener) {
  const bool overwrites = fake() == "overwrite, decline";
  if (!overwrites && fake().ends_with("decline")) return Outcome::Declined;
  *info = 77;
  for (const auto& x : tessera::blas::operands(*call))
    if (x.use == tessera::blas::Use::Overwritten) overwrite(x, call->element_size(), listener);
  if (call->properties().pivots == tessera::blas::Use::Overwritten)
    std::memset(call->ipiv, 0xa5, static_cast<std::size_t>(call->pivot_count()) * (call->wide ? 8 : 4));
  return overwrites ? Outcome::Declined : Outcome::Failed;
}

const char* start(const tessera::common::DeviceChoice& /*devices*/, bool /*need_gpus*/) {
  if (fake() == "raise in start") std::raise(SIGALRM);
  if (fake().starts_with("start at a word")) {
    starting = true;
    say('s');
    hear("the start");
    starting = false;
  }
  return fake() == "refuse" ? "they are on strike" : nullptr;
}

/// The real engine, whose calls report when they begin, and do not end until the test sends a word.
const Engine* true_engine() {
  static const Engine* const truth = [] {
    void* const library = dlopen(std::getenv("FAKE_FORWARDS"), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::puts(dlerror());
    return reinterpret_cast<decltype(&tessera_dropin_engine)>(dlsym(library, "tessera_dropin_engine"))();
  }();
  static Engine engine = *truth;
  engine.run = [](const Call* call, const Listener* listener) {
    say('r');
    const auto outcome = truth->run(call, listener);
    hear("a call");
    return outcome;
  };
  return &engine;
}

}  // namespace

extern "C" const Engine* tessera_dropin_engine() {
  if (fake() == "hold true calls") return true_engine();
  static Engine engine{};
  engine.version = Engine::current_version + (fake() == "version" ? 1 : 0);
  engine.start = start;
  engine.devices = [] { return "1 fake"; };
  engine.seconds = [](auto&...) { return 1e-3; };  // so calls that are not forced run there, too
  engine.in_a_task = [] { return in_a_task; };
  engine.announces = [] { return true; };
  engine.run = run;
  engine.solve = solve;
  engine.reused_bytes = [] { return 0.0; };
  engine.failure = [] { return "a fake has burnt out"; };
  engine.settle = [] {};
  engine.stop = [] {
    if (!fake().ends_with("decline") && !fake().ends_with("do nothing") && fake() != "hold calls")
      std::abort();  // not after a failure or during a call
  };
  return &engine;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch.hpp"

#include <pthread.h>

#include <chrono>

#include "backup.hpp"
#include "guest.hpp"

namespace tessera::dropin {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Whether to time a call on the host. Calls that could also run on the devices are timed; for the log, also one in 64
/// of the others. Reading the clock twice takes as long as a very small product.
bool is_timed(Guest& guest, double operations) {
  constexpr unsigned one_of = 64;
  [[gnu::tls_model("initial-exec")]] thread_local unsigned small_calls = 0;
  return !guest.decision().stays(operations) || (guest.log().on() && small_calls++ % one_of == 0);
}

bool on_host(Guest& guest, const Call& call, double operations) {
  if (!is_timed(guest, operations)) {
    if (!guest.host()(call)) return false;
    if (guest.log().on()) guest.log().count(call, operations, Place::Host, {}, {});
    return true;
  }
  const double begin = now();
  if (!guest.host()(call)) return false;
  const double seconds = now() - begin;
  guest.decision().observe_host(call, operations, seconds);
  if (guest.log().on()) guest.log().count(call, operations, Place::Host, seconds, seconds);
  return true;
}

/// Disables the cancellation of the calling thread for as long as this object lives. StarPU's waits are cancellation
/// points, and a cancelled call would leave its state inconsistent.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Computes a call on the devices.
/// @return false if the host must compute it; the operands then have their original values
bool on_devices(Guest& guest, const Engine& engine, const Call& call, double operations) {
  const double begin = now();
  const Backup backup(call);
  if (!backup.complete()) return false;
  switch (engine.run(&call)) {
  case Outcome::Done: break;
  case Outcome::Declined: return false;
  case Outcome::Failed:
    guest.give_up(std::string("the devices have failed, the host BLAS does this call again and all that follow: ") +
                  engine.failure());
    backup.restore();
    return false;
  }
  const double seconds = now() - begin;
  const bool first = guest.computed(call);  // a first call takes longer than later ones
  if (!first) guest.decision().observe_devices(call, operations, engine, seconds);
  if (guest.log().on())
    guest.log().count(call, operations, Place::Devices, seconds, guest.decision().host_seconds(call, operations));
  return true;
}

}  // namespace

bool dispatch(const Call& call) noexcept {
  auto& guest = Guest::of_process();
  if (guest.is_inside()) return guest.host()(call);
  const double operations = flops(call);
  if (operations > 0 && !guest.decision().stays(operations)) {
    const NoCancellation until_done;
    if (const DeviceCall devices(guest, call, operations); devices)
      if (on_devices(guest, devices.engine(), call, operations)) return true;
  }
  return on_host(guest, call, operations);
}

}  // namespace tessera::dropin

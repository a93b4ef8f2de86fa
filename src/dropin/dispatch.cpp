// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "backup.hpp"
#include "common/float_mode.hpp"
#include "common/kept_errno.hpp"
#include "common/not_copyable.hpp"
#include "guest.hpp"
#include "left_call.hpp"

namespace tessera::dropin {

namespace {

namespace float_mode = common::float_mode;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// What the calling thread has computed within the LAPACK call that it runs on the host.
struct OfLapack {
  double flops = 0, seconds = 0;  ///< sums over BLAS calls on the devices, which the log lists separately
};
[[gnu::tls_model("initial-exec")]] thread_local OfLapack of_lapack;

/// The calls that the calling thread runs on the host: those of LAPACK, and those of the BLAS that something else knows
/// of. They may be nested.
struct HostCalls {
  const void* outermost = nullptr;  ///< a variable of the outermost one; null: there is none
  int count = 0;
  int of_lapack = 0;      ///< calls of LAPACK
  int timed = 0;          ///< calls that Decision counts
  int on_one_thread = 0;  ///< calls that hold HostThreads
};
[[gnu::tls_model("initial-exec")]] thread_local HostCalls host_calls;

/// A call on the host, for its duration.
class HostCall : common::NotCopyable {
 public:
  /// @param kind  what is known of it; null: nothing
  explicit HostCall(int HostCalls::*kind) : kind_(kind) {
    if (host_calls.count++ == 0) host_calls.outermost = this;
    if (kind_ != nullptr) (host_calls.*kind_)++;
  }
  ~HostCall() {
    if (kind_ != nullptr) (host_calls.*kind_)--;
    if (--host_calls.count == 0) host_calls.outermost = nullptr;
  }

 private:
  int HostCalls::*kind_;
};

/// Forgets the calls on the host of the calling thread if a signal handler has jumped out of them.
/// @param frame  the frame of the function that the program calls now
void forget_calls_that_were_left(Guest& guest, const void* frame) {
  if (host_calls.outermost == nullptr || !has_been_left(host_calls.outermost, frame)) return;
  guest.decision().left_on_host(host_calls.timed);
  for (int i = 0; i < host_calls.on_one_thread; i++) guest.host_threads().release();
  host_calls = {};
}

/// A call of the BLAS.
struct BlasWork {
  const Call& call;
  bool is_part() const { return host_calls.of_lapack > 0; }  ///< whether a LAPACK call around it is counted
  bool on_host(Guest& guest) const { return guest.host()(call); }
  bool is_announced() const { return true; }
  Outcome on_devices(const Engine& engine, const Listener* listener) const { return engine.run(&call, listener); }
};

/// A call of LAPACK.
struct LapackWork {
  const LapackCall& call;
  Index& info;
  bool is_part() const { return false; }
  bool on_host(Guest& guest) const {
    const HostCall until_done(&HostCalls::of_lapack);
    return guest.lapack()(call, info);
  }
  /// Whether the tasks announce all writes to the operands. Some routines also write outside their tasks.
  bool is_announced() const {
    using enum blas::LapackRoutine;
    return call.layout == Layout::ColMajor && call.routine != getrs && call.routine != orgqr && call.routine != ungqr &&
           call.routine != gels;
  }
  Outcome on_devices(const Engine& engine, const Listener* listener) const {
    const auto outcome = engine.solve(&call, &info, listener);
    if (outcome == Outcome::Done && call.work != nullptr) Guest::of_process().lapack().set_best_work(call);
    return outcome;
  }
};

template <typename Work>
bool on_host(Guest& guest, const Work& work, double operations) {
  // Reading the clock twice takes as long as a very small product.
  if (guest.decision().stays(operations) && !guest.log().on()) return work.on_host(guest);
  if (!work.is_part()) of_lapack = {};
  const HostCall until_counted(work.is_part() ? nullptr : &HostCalls::timed);
  const auto concurrent = guest.decision().on_host(work.is_part());
  const double begin = now();
  if (!work.on_host(guest)) return false;
  const double seconds = concurrent.share_of(now() - begin);
  auto job = job_of(work.call, operations);
  guest.decision().observe_host(job, seconds);
  if (!guest.log().on() || work.is_part()) return true;
  job.flops = std::max(0.0, job.flops - of_lapack.flops);
  const double rest = seconds - of_lapack.seconds;
  guest.log().count(job, Place::Host, rest, rest);
  return true;
}

/// Disables cancellation of the calling thread during the lifetime of this object. StarPU's waits are cancellation
/// points, and a cancelled call would leave inconsistent state.
class NoCancellation : common::NotCopyable {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Computes a call on the devices.
/// @return  false if the host must compute it; the operands then have their original values
template <typename Work>
bool on_devices(Guest& guest, const Engine& engine, const Work& work, const Job& job) {
  const auto concurrent = guest.decision().on_devices();
  const double begin = now();
  Backup backup(job.on_gpu ? Job{} : job, engine.announces() && work.is_announced());
  if (!backup.complete()) {
    guest.remark(std::string("there was no memory for a copy of the operands that ") + job.type + job.name() +
                 " overwrites: the call stayed on the host");
    return false;
  }
  switch (work.on_devices(engine, backup.listener())) {
  case Outcome::Done: break;
  case Outcome::Declined: backup.restore(); return false;
  case Outcome::Failed:
    guest.give_up(std::string(job.on_gpu ? "the devices have failed; the host BLAS computes all later calls: "
                                         : "the devices have failed; the host BLAS repeats this call and computes all "
                                           "later ones: ") +
                  engine.failure());
    backup.restore();
    return false;
  }
  const double seconds = concurrent.share_of(now() - begin);
  const bool first = guest.computed(job);  // a first call takes longer than later ones
  if (!first) guest.decision().observe_devices(job, engine, seconds);
  if (work.is_part()) of_lapack.flops += job.flops, of_lapack.seconds += seconds;
  if (guest.log().on())
    guest.log().count(job, Place::Devices, seconds, guest.decision().host_seconds(job), engine.reused_bytes());
  return true;
}

/// Computes a call of a thread with an unusual floating-point mode. It runs on this thread, because all others may have
/// another mode. Its time says nothing about calls that the host computes on all cores.
template <typename Work>
bool in_this_mode(Guest& guest, const Work& work, double operations, float_mode::Bits mode) {
  if (!guest.decision().stays(operations))
    guest.remark("the calling thread " + float_mode::text(mode) + ": the host BLAS computes such calls on that thread");
  const HostCall until_counted(&HostCalls::on_one_thread);
  const OneHostThread alone(guest.host_threads());
  const double begin = guest.log().on() ? now() : 0;
  if (!work.on_host(guest)) return false;
  if (!guest.log().on() || work.is_part()) return true;
  const double seconds = now() - begin;
  guest.log().count(job_of(work.call, operations), Place::Host, seconds, seconds);
  return true;
}

template <typename Work>
bool dispatch_work(Guest& guest, const Work& work) {
  const double operations = flops(work.call);
  if (const auto mode = float_mode::current(); mode != float_mode::usual)
    return in_this_mode(guest, work, operations, mode);
  if (operations > 0 && !guest.decision().stays(operations)) {
    const NoCancellation until_done;
    const auto job = job_of(work.call, operations);
    if (const DeviceCall devices(guest, job); devices)
      if (on_devices(guest, devices.engine(), work, job)) return true;
  }
  return on_host(guest, work, operations);
}

/// Computes a call that the host cannot.
template <typename Work>
std::string on_devices_only(const Work& work) {
  const common::KeptErrno kept;
  auto& guest = Guest::of_process();
  if (const auto mode = float_mode::current(); mode != float_mode::usual)
    return "the calling thread " + float_mode::text(mode) + ", which GPUs do not";
  if (guest.decision().stays(std::numeric_limits<double>::max())) return "all calls stay on the host";
  const NoCancellation until_done;
  auto job = job_of(work.call, flops(work.call));
  job.on_gpu = true;
  const DeviceCall devices(guest, job);
  if (!devices) return "no device can be used";
  if (on_devices(guest, devices.engine(), work, job)) return {};
  return devices.engine().objection();
}

}  // namespace

std::string dispatch_from_gpu(const Call& call) noexcept { return on_devices_only(BlasWork{call}); }

std::string dispatch_from_gpu(const LapackCall& call, Index& info) noexcept {
  return on_devices_only(LapackWork{call, info});
}

bool dispatch(const Call& call) noexcept {
  const common::KeptErrno kept;
  auto& guest = Guest::of_process();
  if (guest.is_inside()) guest.give_up_call_that_was_left(__builtin_frame_address(0));
  forget_calls_that_were_left(guest, __builtin_frame_address(0));
  if (guest.is_inside()) return guest.host()(call);
  return dispatch_work(guest, BlasWork{call});
}

bool dispatch(const LapackCall& call, Index& info) noexcept {
  const common::KeptErrno kept;
  auto& guest = Guest::of_process();
  if (guest.is_inside()) guest.give_up_call_that_was_left(__builtin_frame_address(0));
  forget_calls_that_were_left(guest, __builtin_frame_address(0));
  if (guest.is_inside() || host_calls.of_lapack > 0) return guest.lapack()(call, info);
  return dispatch_work(guest, LapackWork{call, info});
}

}  // namespace tessera::dropin

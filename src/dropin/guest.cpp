// SPDX-License-Identifier: BSD-3-Clause
#include "guest.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "common/address_space.hpp"
#include "common/environment.hpp"
#include "common/no_signals.hpp"
#include "common/variables.hpp"
#include "left_call.hpp"
#include "spare_memory.hpp"

namespace tessera::dropin {

namespace {

using common::environment;

/// The unfinished call on the devices of the calling thread.
[[gnu::tls_model("initial-exec")]] thread_local const DeviceCall* call_here = nullptr;
/// True while the calling thread is in a call on the devices, or starts them.
[[gnu::tls_model("initial-exec")]] thread_local bool inside = false;       // initial-exec: access takes a nanosecond
[[gnu::tls_model("initial-exec")]] thread_local bool starts_here = false;  ///< the calling thread starts the devices

void stop_at_exit() {
  std::atexit([] { Guest::of_process().stop_devices(); });
}

/// While such an object exists, an exit waits for the start of the devices before CUDA's exit handlers run. CUDA
/// registers its handlers at unannounced moments during the start, and they run before all handlers registered earlier.
/// This class therefore keeps registering new handlers.
class ExitsWait {
 public:
  ExitsWait() {
    try {
      registering_ = std::jthread([](const std::stop_token& stop) {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(interval)) stop_at_exit();
      });
    } catch (const std::system_error&) {
      // If this thread cannot be created, the devices' threads cannot be either, and the engine reports that.
    }
  }

 private:
  static constexpr std::chrono::milliseconds interval{2};
  std::jthread registering_;
};

/// The folder of this library. Must be called first when the library is loaded, because its path may be relative to the
/// working directory at that time.
const std::filesystem::path& own_folder() {
  static const auto& folder = *new std::filesystem::path([]() -> std::filesystem::path {
    Dl_info info{};
    std::error_code error;
    if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
    return std::filesystem::canonical(info.dli_fname, error).parent_path();
  }());
  return folder;
}

/// Keeps this library loaded until `release`. The loader holds a lock while it closes a library. A thread that loads
/// CUDA needs that lock, so a `dlclose` that waited for such a thread would wait forever.
class StayLoaded {
 public:
  StayLoaded() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0)
      library_ = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }
  /// For the threads of this library. Closing the library may unload the code that the calling thread is running, so a
  /// new thread closes it.
  void release() const {
    const common::NoSignals in_the_thread;
    thrd_t closing{};
    if (library_ != nullptr && thrd_create(&closing, dlclose, library_) == thrd_success) thrd_detach(closing);
  }
  /// For a thread of the program in a call. The program does not close the library during the call.
  void release_in_a_call() const {
    if (library_ != nullptr) dlclose(library_);
  }

 private:
  void* library_ = nullptr;
};

/// Checks that there is address space for the libraries of the devices, for a CPU worker, and for calls on the host.
/// Libraries stay loaded if the devices then cannot start, so this must be checked before.
/// @throws RuntimeError if not
void require_address_space() {
  auto needed = common::AddressSpace::of(1);
  needed.writable += std::size_t{128} << 20, needed.reserved += std::size_t{1536} << 20;
  common::require_address_space(needed);
}

std::mutex making;
std::atomic<Guest*> only = nullptr;  // created under `making`

/// The log of a process that never called this library because its BLAS is a different one.
void log_foreign_blas() {
  if (only != nullptr) return;  // the guest writes the log
  const auto settings = settings_from_environment();
  Log log(settings.log);
  if (!log.on()) return;
  if (const auto error = log.write({{}, {}, {}, foreign_blas()}); !error.empty())
    say_once(settings, Subject::Log, error);
}

/// Registers the fork handlers when the library is loaded. Handlers registered later would miss a fork that is in
/// progress.
[[gnu::constructor]] void loaded() {
  own_folder();
  if (!environment("TESSERA_BLAS_LOG").empty()) std::atexit(log_foreign_blas);
  pthread_atfork(
      [] {
        making.lock();
        if (only != nullptr) only.load()->before_fork();
      },
      [] {
        if (only != nullptr) only.load()->after_fork();
        making.unlock();
      },
      [] {
        if (only != nullptr) only.load()->after_fork_in_child();
        making.unlock();
      });
}

}  // namespace

Guest& Guest::of_process() {
  if (auto* guest = only.load(std::memory_order_acquire); guest != nullptr) return *guest;
  const common::NoSignals in_between;  // a handler that jumps out would leave the lock
  const std::lock_guard lock(making);
  if (only == nullptr) {
    only = new Guest;
    std::atexit([] {
      of_process().write_log();
      of_process().explain_missing_trace();
    });
  }
  return *only;
}

Guest::Guest()
    : settings_(settings_from_environment()), host_(settings_.host_blas), decision_(settings_), log_(settings_.log) {
  if (!settings_.mistake.empty()) trouble_ = settings_.mistake;
  else trouble_ = host_.trouble();
  if (!trouble_.empty()) say_once(settings_, Subject::Settings, trouble_);
  if (const auto remark = common::remark_on_unknown_variables(); !remark.empty())
    say_once(settings_, Subject::Variables, remark);
}

const Engine* Guest::load() {
  std::filesystem::path path = TESSERA_SONAME;  // found by the system's search path
  std::error_code error;
  for (const auto& folder : {own_folder(), own_folder().parent_path()})  // the parent is for tessera-blas/libblas.so.3
    if (std::filesystem::exists(folder / TESSERA_SONAME, error)) {
      path = folder / TESSERA_SONAME;
      break;
    }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* const entry = reinterpret_cast<decltype(&tessera_dropin_engine)>(dlsym(library, "tessera_dropin_engine"));
  if (entry == nullptr || entry()->version != Engine::current_version)
    throw std::runtime_error(path.string() + " is of another version");
  return entry();
}

const Engine* Guest::running(std::unique_lock<std::mutex>& lock) {
  // A worker must not wait for StarPU to start, because the start may need that worker. Once the library is loaded,
  // `in_a_task` tells whether this thread is a worker.
  changed_.wait(lock, [&] { return state_ != State::Starting || loaded_ != nullptr; });
  if (state_ == State::Starting && loaded_->in_a_task()) return nullptr;
  changed_.wait(lock, [&] { return state_ != State::Starting; });
  if (state_ == State::NotStarted) {
    state_ = State::Starting;
    lock.unlock();
    lock = start();  // held: an exit that waits for the start also waits for this call
  }
  changed_.wait(lock, [&] { return !forking_; });
  return state_ == State::Running ? engine_.load() : nullptr;
}

bool Guest::start_beside() {
  if (state_ != State::NotStarted) return true;
  const StayLoaded until_started;  // the program may close the library before the new thread runs
  bool possible = true;
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::NotStarted && !forking_) {
      stop_at_exit();  // an exit may come before the new thread runs
      state_ = State::Starting;
      const common::NoSignals in_our_threads;
      try {
        starter_ = std::thread([this, until_started] {
          inside = starts_here = true;
          start().unlock();
          until_started.release();
        });
        return true;
      } catch (const std::system_error&) {
        state_ = State::NotStarted;
        possible = false;
      }
    }
  }
  until_started.release_in_a_call();
  return possible;
}

std::unique_lock<std::mutex> Guest::start() {
  const bool need_gpus = !settings_.devices.no_gpus() && devices_in_sight(settings_.devices) > 0;
  start_is_over_ = false;
  auto next = State::Running;
  std::string why;
  try {
    if (loaded_ == nullptr) require_address_space();
    const ExitsWait until_it_is_over;
    const Engine* const engine = loaded_ != nullptr ? loaded_ : load();
    {
      const std::lock_guard lock(mutex_);
      loaded_ = engine;
    }
    stop_at_exit();  // the handlers of the libraries that have just been loaded then run later
    changed_.notify_all();
    if (engine->in_a_task()) {
      next = State::NotStarted;  // this is a task of the program; other threads may start the devices
    } else {
      const bool before = std::exchange(starts_here, true);
      if (const char* refusal = engine->start(settings_.devices, need_gpus); refusal != nullptr) why = refusal;
      else stop_at_exit();
      starts_here = before;
    }
  } catch (const std::exception& error) {
    why = error.what();
  }
  start_is_over_ = true;
  std::unique_lock lock(mutex_);
  if (!why.empty()) {
    next = State::Off;
    trouble_ = "the devices cannot be used, all calls stay on the host BLAS: " + why;
    say_once(settings_, Subject::Devices, trouble_);
  } else if (next == State::Running) {
    devices_ = loaded_->devices();
    engine_ = loaded_;
  }
  auto before = State::Starting;  // unless the process exits inside a call
  state_.compare_exchange_strong(before, next);
  changed_.notify_all();
  return lock;
}

bool Guest::is_inside() const noexcept {
  if (inside) return true;
  const Engine* engine = engine_.load(std::memory_order_acquire);
  return engine != nullptr && engine->in_a_task();
}

void Guest::give_up_call_that_was_left(const void* frame) {
  if (call_here == nullptr || !has_been_left(call_here, frame)) return;
  const common::NoSignals with_the_lock;
  call_here = nullptr;
  engine_.load()->settle();  // the rest of the call still writes to the program's memory
  give_up("a signal handler has jumped out of a call on the devices: all further calls stay on the host BLAS");
  {
    const std::lock_guard lock(mutex_);
    calls_--;
  }
  changed_.notify_all();
  inside = false;
}

bool Guest::computed(const Job& job) {
  const bool first = !computed_[job.routine][blas::type_index(job.type)].exchange(true);
  if (first) stop_at_exit();
  return first;
}

void Guest::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  state_ = State::Off;
  broken_ = true;
  trouble_ = why;
  say_once(settings_, Subject::Devices, why);
}

void Guest::remark(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (trouble_.empty()) trouble_ = sentence;
}

void Guest::abort_without_host(const char* what) const {
  say_now(std::string("no host ") + what + " was found" + (host_.trouble().empty() ? "" : ": ") + host_.trouble());
  std::abort();
}

void Guest::stop_devices() {
  if (is_inside()) {  // this thread may already hold the lock
    while (!starts_here && state_ == State::Starting && !start_is_over_) usleep(1000);
    state_ = State::Off;
    if (const Engine* engine = engine_; engine != nullptr) engine->settle();
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_ != State::Starting; });
  if (state_.exchange(State::Off) == State::Running) {
    changed_.wait(lock, [&] { return calls_ == 0; });
    if (!broken_) engine_.load()->stop();
  }
  if (!forked_) SpareMemory::release_kept();
  auto starter = std::move(starter_);
  lock.unlock();
  if (starter.joinable()) starter.join();
}

void Guest::write_log() {
  if (!log_.on() || is_inside()) return;
  Log::Header header{host_.path(), {}, {}, foreign_blas()};
  {
    const std::lock_guard lock(mutex_);
    header.devices = devices_, header.trouble = trouble_;
  }
  if (const auto why = why_no_devices(settings_); header.devices.empty() && !why.empty())
    header.devices = "none (" + why + ")";
  if (const auto error = log_.write(header); !error.empty()) say_once(settings_, Subject::Log, error);
}

void Guest::explain_missing_trace() {
  if (settings_.trace.empty() || is_inside()) return;
  const std::lock_guard lock(mutex_);
  if (devices_.empty())
    say_once(settings_, Subject::Trace,
             "all BLAS calls of this process ran on the host, so there is no trace in " + settings_.trace);
}

void Guest::before_fork() {
  if (is_inside()) return;
  std::unique_lock lock(mutex_);
  forking_ = true;
  changed_.wait(lock, [&] { return calls_ == 0 && state_ != State::Starting; });
  host_threads_.before_fork();
  log_.before_fork();
  lock.release();  // after_fork unlocks the mutex
}

void Guest::after_fork() {
  if (is_inside()) return;
  log_.after_fork();
  host_threads_.after_fork();
  forking_ = false;
  mutex_.unlock();
  changed_.notify_all();
}

void Guest::after_fork_in_child() {
  const bool locked = !is_inside();
  if (state_ == State::Running || state_ == State::Starting) state_ = State::Off, forked_ = true;
  engine_ = nullptr;
  inside = starts_here = false;
  call_here = nullptr;
  calls_ = 0, forking_ = false;
  devices_.clear(), settings_.trace.clear();
  new (&changed_) std::condition_variable;  // the waiting threads do not exist in the child
  new (&starter_) std::thread;              // nor does the starting thread
  log_.after_fork_in_child(locked);
  host_threads_.after_fork_in_child(locked);
  if (locked) mutex_.unlock();
}

void Guest::explain_if_forked() {
  const std::lock_guard lock(mutex_);
  if (!forked_ || !trouble_.empty()) return;
  trouble_ =
      "this process was forked from one that uses the devices, so it cannot use them: its calls stay on the host BLAS";
  say_once(settings_, Subject::Devices, trouble_);
}

DeviceCall::DeviceCall(Guest& guest, const Job& job) : guest_(guest) {
  switch (guest.state_.load()) {
  case Guest::State::Off: guest.explain_if_forked(); return;
  case Guest::State::NotStarted:
  case Guest::State::Starting: {
    const auto start = guest.decision_.start_for(job);
    if (start == Start::Later || (start == Start::Beside && guest.start_beside())) return;
    break;
  }
  case Guest::State::Running: break;
  }
  // A handler that jumps out of a start would leave it unfinished forever, and lock out all other threads. Threads
  // created by the start must not receive the program's signals either.
  const common::NoSignals until_begun;
  inside = true;
  {
    std::unique_lock lock(guest.mutex_);
    guest.changed_.wait(lock, [&] { return !guest.forking_; });
    engine_ = guest.running(lock);
    if (engine_ != nullptr) guest.calls_++;
  }
  call_here = engine_ != nullptr ? this : nullptr;
  if (engine_ == nullptr) inside = false;
  else if (guest.decision_.choose(job, *engine_) == Place::Host) release();
}

DeviceCall::~DeviceCall() { release(); }

void DeviceCall::release() {
  if (engine_ == nullptr) return;
  const common::NoSignals with_the_lock;
  engine_ = nullptr;
  call_here = nullptr;
  {
    const std::lock_guard lock(guest_.mutex_);
    guest_.calls_--;
  }
  guest_.changed_.notify_all();
  inside = false;  // last: a signal handler on this thread must not wait for the lock above
}

}  // namespace tessera::dropin

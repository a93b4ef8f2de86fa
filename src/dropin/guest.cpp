// SPDX-License-Identifier: BSD-3-Clause
#include "guest.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <filesystem>
#include <new>

namespace tessera::dropin {

namespace {

/// True while the calling thread is in a call on the devices.
[[gnu::tls_model("initial-exec")]] thread_local bool inside = false;  // initial-exec: access takes a nanosecond

void stop_at_exit() {
  std::atexit([] { Guest::of_process().stop_devices(); });
}

/// The folder of this library. Must be called first when the library is loaded: its path may be relative to the current
/// folder of that moment.
const std::filesystem::path& own_folder() {
  static const auto& folder = *new std::filesystem::path([]() -> std::filesystem::path {
    Dl_info info{};
    std::error_code error;
    if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
    return std::filesystem::canonical(info.dli_fname, error).parent_path();
  }());
  return folder;
}

std::mutex making;
std::atomic<Guest*> only = nullptr;  // created under `making`

/// Registers the fork handlers when the library is loaded. Handlers that are registered later would miss a fork that is
/// in progress.
[[gnu::constructor]] void loaded() {
  own_folder();
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
  const std::lock_guard lock(making);
  if (only == nullptr) {
    only = new Guest;
    std::atexit([] { of_process().write_log(); });
  }
  return *only;
}

Guest::Guest()
    : settings_(settings_from_environment()), host_(settings_.host_blas), decision_(settings_), log_(settings_.log) {
  if (!settings_.mistake.empty()) trouble_ = settings_.mistake;
  else trouble_ = host_.trouble();
  if (!trouble_.empty()) say_once(settings_, Subject::Settings, trouble_);
}

const Engine* Guest::load() {
  std::filesystem::path path = TESSERA_SONAME;  // found by the system's search path
  std::error_code error;
  for (const auto& folder : {own_folder(), own_folder().parent_path()})  // the parent: for tessera-blas/libblas.so.3
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

const Engine* Guest::start() {
  if (state_ != State::NotStarted) return state_ == State::Running ? engine_.load() : nullptr;
  const bool need_gpus = !settings_.cpu_only && settings_.gpus != 0 && devices_in_sight() > 0;
  std::string why;
  try {
    if (loaded_ == nullptr) loaded_ = load();
    if (loaded_->in_a_task()) return nullptr;  // a task of the program; other threads may start the devices
    // Exit handlers run in reverse order. The handler registered at the end of this function runs before CUDA's, which
    // are registered in between. This one serves only if the process exits while the devices start.
    stop_at_exit();
    if (const char* refusal = loaded_->start(settings_.gpus, settings_.cpu_only, need_gpus); refusal != nullptr)
      why = refusal;
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!why.empty()) {
    state_ = State::Off;
    trouble_ = "the devices cannot be used, all calls stay on the host BLAS: " + why;
    say_once(settings_, Subject::Devices, trouble_);
    return nullptr;
  }
  stop_at_exit();
  devices_ = loaded_->devices();
  engine_ = loaded_;
  state_ = State::Running;
  return engine_;
}

bool Guest::is_inside() const noexcept {
  if (inside) return true;
  const Engine* engine = engine_.load(std::memory_order_acquire);
  return engine != nullptr && engine->in_a_task();
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
    state_ = State::Off;
    if (const Engine* engine = engine_; engine != nullptr) engine->settle();
    return;
  }
  std::unique_lock lock(mutex_);
  if (state_.exchange(State::Off) != State::Running) return;
  changed_.wait(lock, [&] { return calls_ == 0; });
  if (!broken_) engine_.load()->stop();
}

void Guest::write_log() {
  if (!log_.on() || is_inside()) return;
  std::string trouble;
  {
    const std::lock_guard lock(mutex_);
    trouble = trouble_;
  }
  if (const auto error = log_.write(host_.path(), devices_, trouble); !error.empty())
    say_once(settings_, Subject::Log, error);
}

void Guest::before_fork() {
  if (is_inside()) return;
  std::unique_lock lock(mutex_);
  forking_ = true;
  changed_.wait(lock, [&] { return calls_ == 0; });
  log_.before_fork();
  lock.release();  // after_fork unlocks the mutex
}

void Guest::after_fork() {
  if (is_inside()) return;
  log_.after_fork();
  forking_ = false;
  mutex_.unlock();
  changed_.notify_all();
}

void Guest::after_fork_in_child() {
  const bool locked = !is_inside();
  if (state_ == State::Running) state_ = State::Off, forked_ = true;
  engine_ = nullptr;
  inside = false;
  calls_ = 0, forking_ = false;
  devices_.clear();
  new (&changed_) std::condition_variable;  // the waiting threads do not exist in the child
  log_.after_fork_in_child(locked);
  if (locked) mutex_.unlock();
}

void Guest::explain_if_forked() {
  const std::lock_guard lock(mutex_);
  if (!forked_ || !trouble_.empty()) return;
  trouble_ = "this process was forked from one that uses the devices, and cannot: its calls stay on the host BLAS";
  say_once(settings_, Subject::Devices, trouble_);
}

DeviceCall::DeviceCall(Guest& guest, const Job& job) : guest_(guest) {
  switch (guest.state_.load()) {
  case Guest::State::Off: guest.explain_if_forked(); return;
  case Guest::State::NotStarted:
    if (!guest.decision_.starting_pays(job)) return;
    break;
  case Guest::State::Running: break;
  }
  inside = true;
  {
    std::unique_lock lock(guest.mutex_);
    guest.changed_.wait(lock, [&] { return !guest.forking_; });
    engine_ = guest.start();
    if (engine_ != nullptr) guest.calls_++;
  }
  if (engine_ == nullptr) inside = false;
  else if (guest.decision_.choose(job, *engine_) == Place::Host) release();
}

DeviceCall::~DeviceCall() { release(); }

void DeviceCall::release() {
  if (engine_ == nullptr) return;
  engine_ = nullptr;
  {
    const std::lock_guard lock(guest_.mutex_);
    guest_.calls_--;
  }
  guest_.changed_.notify_all();
  inside = false;  // last: a signal handler on this thread must not wait for the lock above
}

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#include "guest.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <filesystem>

namespace tessera::dropin {

namespace {

/// True while the calling thread is in a call on the devices.
[[gnu::tls_model("initial-exec")]] thread_local bool inside = false;  // found in a nanosecond

std::filesystem::path own_folder() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
  return std::filesystem::canonical(info.dli_fname, error).parent_path();
}

}  // namespace

Guest& Guest::of_process() {
  static Guest& only = [&]() -> Guest& {
    auto& guest = *new Guest;
    pthread_atfork([] { of_process().before_fork(); }, [] { of_process().after_fork(); },
                   [] { of_process().after_fork_in_child(); });
    std::atexit([] { of_process().write_log(); });
    return guest;
  }();
  return only;
}

Guest::Guest()
    : settings_(settings_from_environment()), host_(settings_.host_blas), decision_(settings_), log_(settings_.log) {
  if (!settings_.mistake.empty()) trouble_ = settings_.mistake;
  else trouble_ = host_.trouble();
  if (!trouble_.empty()) say_once(settings_, trouble_);
}

const Engine* Guest::load() {
  std::filesystem::path path = TESSERA_SONAME;  // wherever the system has it
  std::error_code error;
  for (const auto& folder : {own_folder().parent_path(), own_folder()})  // above tessera-blas/libblas.so.3, or beside
    if (std::filesystem::exists(folder / TESSERA_SONAME, error)) path = folder / TESSERA_SONAME;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* const entry = reinterpret_cast<decltype(&tessera_dropin_engine)>(dlsym(library, "tessera_dropin_engine"));
  if (entry == nullptr || entry()->version != Engine::current_version)
    throw std::runtime_error(path.string() + " is of another version");
  return entry();
}

const Engine* Guest::start() {
  if (state_ != State::NotStarted) return state_ == State::Running ? engine_.load() : nullptr;
  // Of handlers, the last comes first: before CUDA's own, which are registered meanwhile. If the process exits while
  // the devices start, only the first one of these is there.
  const auto register_handler = [] { std::atexit([] { of_process().stop_devices(); }); };
  std::string why;
  try {
    if (loaded_ == nullptr) loaded_ = load();
    if (loaded_->in_a_task()) return nullptr;  // of the program's own StarPU; other threads may start the devices
    register_handler();
    if (const char* refusal = loaded_->start(settings_.gpus, settings_.cpu_only); refusal != nullptr) why = refusal;
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!why.empty()) {
    state_ = State::Off;
    trouble_ = "the devices cannot be used, all calls stay on the host BLAS: " + why;
    say_once(settings_, trouble_);
    return nullptr;
  }
  register_handler();
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

void Guest::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  state_ = State::Off;
  broken_ = true;
  trouble_ = why;
  say_once(settings_, why);
}

void Guest::abort_without_host(const Call& call) const {
  const auto name = std::string(1, call.type) + call.properties().name;
  say_now("no host BLAS " + (host_.loaded() ? "for " + name + " of that size: " + host_.path() + " counts in 32 bits"
                                            : "was found: " + host_.trouble()));
  std::abort();
}

void Guest::stop_devices() {
  if (is_inside()) {  // nor may it take a lock that it may hold
    state_ = State::Off;
    if (const Engine* engine = engine_; engine != nullptr) engine->settle();
    return;
  }
  std::unique_lock lock(mutex_);
  if (state_.exchange(State::Off) != State::Running) return;
  idle_.wait(lock, [&] { return calls_ == 0; });
  if (!broken_) engine_.load()->stop();
}

void Guest::write_log() {
  if (!log_.on() || is_inside()) return;
  std::string trouble;
  {
    const std::lock_guard lock(mutex_);
    trouble = trouble_;
  }
  if (const auto error = log_.write(host_.path(), devices_, trouble); !error.empty()) say_once(settings_, error);
}

void Guest::before_fork() {
  mutex_.lock();
  log_.before_fork();
  if (const Engine* engine = engine_; engine != nullptr) engine->before_fork();
}

void Guest::after_fork() {
  if (const Engine* engine = engine_; engine != nullptr) engine->after_fork();
  log_.after_fork();
  mutex_.unlock();
}

void Guest::after_fork_in_child() {
  log_.after_fork_in_child();
  forked_ = state_ == State::Running;
  if (forked_) {
    state_ = State::Off;
    engine_ = nullptr;
  }
  calls_ = 0;
  devices_.clear();
  mutex_.unlock();
}

void Guest::explain_if_forked() {
  const std::lock_guard lock(mutex_);
  if (!forked_ || !trouble_.empty()) return;
  trouble_ = "this process was forked from one that uses the devices, and cannot: its calls stay on the host BLAS";
  say_once(settings_, trouble_);
}

DeviceCall::DeviceCall(Guest& guest, const Call& call, double flops) : guest_(guest) {
  switch (guest.state_.load()) {
  case Guest::State::Off: guest.explain_if_forked(); return;
  case Guest::State::NotStarted:
    if (!guest.decision_.starting_pays(call, flops)) return;
    break;
  case Guest::State::Running: break;
  }
  inside = true;
  {
    const std::lock_guard lock(guest.mutex_);
    engine_ = guest.start();
    if (engine_ != nullptr) guest.calls_++;
  }
  if (engine_ == nullptr) inside = false;
  else if (guest.decision_.choose(call, flops, *engine_) == Place::Host) release();
}

DeviceCall::~DeviceCall() { release(); }

void DeviceCall::release() {
  if (engine_ == nullptr) return;
  engine_ = nullptr;
  inside = false;
  {
    const std::lock_guard lock(guest_.mutex_);
    guest_.calls_--;
  }
  guest_.idle_.notify_all();
}

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
// Devices, streams and events.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "stand_in.hpp"

namespace stand_in {

namespace {

// Never destroyed: other threads use them while the process exits.
auto& guard = *new std::mutex;
auto& all_streams = *new std::set<Stream*>;
auto& default_streams = *new std::map<int, Stream*>;
auto& peers = *new std::set<std::pair<int, int>>;  ///< a device, and one whose memory it accesses
thread_local cudaError_t last_error = cudaSuccess;
std::atomic<bool> has_ended = false;  ///< CUDA ends by an exit handler, which it registers when it starts

/// What an event waits for.
struct Moment {
  std::mutex mutex;
  std::condition_variable reached;
  bool is_past = false;
  std::chrono::steady_clock::time_point when;

  void pass() {
    const std::lock_guard lock(mutex);
    is_past = true, when = std::chrono::steady_clock::now();
    reached.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    reached.wait(lock, [this] { return is_past; });
  }
};
struct Event {
  int device;
  std::shared_ptr<Moment> moment;
};
Event& event_of(cudaEvent_t event) { return *reinterpret_cast<Event*>(event); }

}  // namespace

thread_local int current = 0;
Counts counts;

namespace {

auto& contexts = *new std::set<int>;    ///< the devices with a context
thread_local bool has_context = false;  ///< whether the calling thread works in the one of its device
CUcontext handle_of(int device) { return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1); }

}  // namespace

void need_context() {
  const std::lock_guard lock(guard);
  contexts.insert(current), has_context = true;
}

int devices() {
  static const char* const given = std::getenv("STAND_IN_GPUS");
  static const int count = given != nullptr ? std::atoi(given) : 1;
  return count;
}

cudaError_t fail(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}
cudaError_t refuse(cudaError_t status, const std::string& why) {
  std::fprintf(stderr, "stand-in for CUDA: %s\n", why.c_str());
  return fail(status);
}

Stream::Stream(int of_device) : device(of_device), thread_([this] { run(); }) {
  const std::lock_guard lock(guard);
  all_streams.insert(this);
}
Stream::~Stream() {
  {
    const std::lock_guard lock(guard);
    all_streams.erase(this);
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::run() {
  constexpr unsigned longest_delay = 100;  // microseconds
  std::minstd_rand random(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(this) >> 4));
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto operation = std::move(queue_.front());
    queue_.pop_front();
    computes_ = true;
    lock.unlock();
    usleep(random() % longest_delay);
    operation();
    lock.lock();
    computes_ = false;
    changed_.notify_all();
  }
}

void Stream::add(std::function<void()> operation) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(operation));
  changed_.notify_all();
}
void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !computes_; });
}
bool Stream::is_idle() {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !computes_;
}

Stream& stream_of(cudaStream_t stream) {
  if (reinterpret_cast<std::uintptr_t>(stream) > 2) return *reinterpret_cast<Stream*>(stream);
  need_context();
  std::unique_lock lock(guard);
  if (const auto found = default_streams.find(current); found != default_streams.end()) return *found->second;
  lock.unlock();
  auto* const made = new Stream(current);
  lock.lock();
  return *(default_streams[current] = made);
}

void wait_for(int device) {
  std::vector<Stream*> all;
  {
    const std::lock_guard lock(guard);
    for (auto* const stream : all_streams)
      if (stream->device == device) all.push_back(stream);
  }
  for (auto* const stream : all) stream->wait();
}

bool may_access_peer(int device, int peer) {
  const std::lock_guard lock(guard);
  return device == peer || peers.contains({device, peer});
}

namespace {

/// cuStreamBatchMemOp: waits for counters in pinned memory, and writes them.
CUresult batch_of_counters(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned /*flags*/) {
  for (unsigned i = 0; i < count; i++)
    stream_of(stream).add([one = operations[i]] {
      auto& counter = *reinterpret_cast<std::atomic<std::int32_t>*>(one.waitValue.address);
      const auto value = static_cast<std::int32_t>(one.waitValue.value);
      if (one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) counter = value;
      else
        while (counter - value < 0) usleep(5);
    });
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) { return *count = devices(), cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = current, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= devices()) return fail(cudaErrorInvalidDevice);
  return current = device, need_context(), cudaSuccess;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const std::lock_guard lock(guard);
  return *flags = 0, *active = contexts.contains(device) ? 1 : 0, CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return *context = has_context ? handle_of(current) : nullptr, CUDA_SUCCESS;
}
/// A thread without a context is on the first device.
CUresult cuCtxSetCurrent(CUcontext context) {
  has_context = context != nullptr;
  current = has_context ? static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1 : 0;
  return CUDA_SUCCESS;
}
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t status) {
  static thread_local char text[40];
  std::snprintf(text, sizeof text, "error %d of CUDA", static_cast<int>(status));
  return text;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::strcpy(properties->name, "stand-in");
  properties->totalGlobalMem = memory_of_device, properties->major = 9, properties->multiProcessorCount = 8;
  properties->pciBusID = device + 1, properties->unifiedAddressing = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? 8 : attribute == cudaDevAttrComputeMode ? 0 : 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", static_cast<unsigned>(device) + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return need_context(), *least = 0, *greatest = -1, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) { return *can = device != peer, cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
  const std::lock_guard lock(guard);
  return peers.emplace(current, peer).second ? cudaSuccess : fail(cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const std::lock_guard lock(guard);
  return peers.erase({current, peer}) > 0 ? cudaSuccess : fail(cudaErrorPeerAccessNotEnabled);
}
cudaError_t cudaDeviceSynchronize() { return need_context(), wait_for(current), cudaSuccess; }
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned /*version*/,
                                             unsigned long long /*flags*/, cudaDriverEntryPointQueryResult* result) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  *function = is("cuStreamBatchMemOp")              ? reinterpret_cast<void*>(batch_of_counters)
              : std::strncmp(name, "cuMem", 5) == 0 ? dlsym(RTLD_DEFAULT, name)
                                                    : nullptr;
  const bool exists = *function != nullptr;
  *result = exists ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return exists ? cudaSuccess : fail(cudaErrorSymbolNotFound);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned /*flags*/, int /*priority*/) {
  need_context();
  static std::once_flag once;
  std::call_once(once, [] { std::atexit([] { has_ended = true; }); });
  return *stream = reinterpret_cast<cudaStream_t>(new Stream(current)), cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return need_context(), delete &stream_of(stream), cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  need_context();
  counts.stream_waits++;
  return stream_of(stream).wait(), cudaSuccess;
}
int stand_in_count(const char* what) {
  if (std::strcmp(what, "updates") == 0) return counts.updates;
  if (std::strcmp(what, "solves") == 0) return counts.solves;
  if (std::strcmp(what, "copies") == 0) return counts.copies;
  return counts.stream_waits;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (has_ended) return cudaErrorCudartUnloading;
  need_context();
  return stream_of(stream).is_idle() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  need_context();
  if (const auto moment = event_of(event).moment; moment != nullptr)
    stream_of(stream).add([moment] { moment->wait(); });
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return need_context(), stream_of(stream).add([=] { function(data); }), cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  need_context();
  return *event = reinterpret_cast<cudaEvent_t>(new Event{current, {}}), cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return need_context(), delete &event_of(event), cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  need_context();
  auto& at = stream_of(stream);
  if (event_of(event).device != at.device)
    return refuse(cudaErrorInvalidResourceHandle, "an event on a stream of another device");
  const auto moment = std::make_shared<Moment>();
  event_of(event).moment = moment;
  return at.add([moment] { moment->pass(); }), cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto moment = event_of(event).moment;
  if (moment == nullptr) return cudaSuccess;
  const std::lock_guard lock(moment->mutex);
  return moment->is_past ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const auto moment = event_of(event).moment; moment != nullptr) moment->wait();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const std::chrono::duration<float, std::milli> passed = event_of(end).moment->when - event_of(begin).moment->when;
  return *milliseconds = std::max(passed.count(), 1e-3F), cudaSuccess;
}

}  // extern "C"

}  // namespace stand_in

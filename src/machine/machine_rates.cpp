// SPDX-License-Identifier: BSD-3-Clause
#include "machine_rates.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/cache.hpp"
#include "common/exit_gate.hpp"
#include "devices/cpu/control_groups.hpp"
#include "devices/cpu/host_blas.hpp"
#include "devices/cpu/one_thread.hpp"
#include "devices/cpu/topology.hpp"
#include "devices/gpu.hpp"
#include "devices/opencl/opencl.hpp"
#include "devices/rates_cache.hpp"
#include "machine.hpp"

namespace tessera::machine {

namespace {

constexpr std::array cpu_sizes{64, 128, 256};
constexpr std::array gpu_sizes{256, 512, 1024, 2048, 4096};

double product_flops(char type, double n) { return common::flops_of_multiply_add(type) * n * n * n; }

/// Processor time of the calling thread [s]. It does not advance while other threads use the core.
double own_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds of an n×n×n product on one core, the minimum of a few runs to exclude other load.
template <Scalar T>
double cpu_product_seconds(int n) {
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<T> A(elements), B(elements), C(elements);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (auto* matrix : {&A, &B, &C})
    for (auto& element : *matrix) element = T(static_cast<Real<T>>(uniform(engine)));
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 4; repeat++) {  // the first run only warms up
    const double begin = own_seconds();
    const auto start = std::chrono::steady_clock::now();
    device::cpu::gemm<T>(Op::NoTrans, Op::NoTrans, n, n, n, T(1), A.data(), n, B.data(), n, T(1), C.data(), n);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double own = own_seconds() - begin;
    best = std::min(best, own > 0 ? own : elapsed.count());  // some systems count a thread's time in steps of 10 ms
  }
  return best;
}

device::CostCurve measure_cpu(char type) {
  const device::cpu::OneThread per_call;
  std::vector<device::CostCurve::Point> points;
  points.reserve(cpu_sizes.size());
  for (const int n : cpu_sizes)
    points.push_back(
        {product_flops(type, n), common::with_type(type, [&]<Scalar T>(T) { return cpu_product_seconds<T>(n); })});
  return device::CostCurve(std::move(points));
}

/// Measures products of increasing size. Stops early on a GPU that is slow in this type; larger products are then taken
/// to have the rate of the last measured one.
/// @param kernel_seconds  the function for CUDA or for OpenCL
device::CostCurve measure_gpu(char type, int device, double (*kernel_seconds)(char type, int device, int n)) {
  constexpr double long_enough = 0.01;  // [s]; the next size would take eight times as long
  std::vector<device::CostCurve::Point> points;
  for (const int n : gpu_sizes) {
    points.push_back({product_flops(type, n), kernel_seconds(type, device, n)});
    if (points.back().seconds > long_enough) break;
  }
  return device::CostCurve(std::move(points));
}

device::CostCurve measure_columns(int device, const std::vector<std::size_t>& bytes, std::size_t apart,
                                  bool beside_products) {
  const auto seconds = device::gpu::column_seconds(device, bytes, apart, beside_products);
  std::vector<device::CostCurve::Point> points;
  for (std::size_t i = 0; i < bytes.size(); i++) points.push_back({static_cast<double>(bytes[i]), seconds[i]});
  return device::CostCurve(std::move(points));
}

device::CostCurve measure_memory(int device) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  return device::CostCurve(
      {{static_cast<double>(bytes), static_cast<double>(bytes) / device::gpu::memory_rate(device, bytes)}});
}

/// Measurements of the first CUDA GPU, or of the first OpenCL device.
class FirstGpu {
 public:
  FirstGpu(const Machine& machine, bool opencl)
      : opencl_(opencl), device_(machine.gpus[static_cast<std::size_t>(opencl ? machine.cuda_gpus : 0)]),
        state_(opencl ? device::gpu::State{device::opencl::conditions(device_)} : device::gpu::state(device_)),
        cache_(common::cache_directory().value_or(std::filesystem::path()), name(machine), state_.conditions) {}

  /// Returns the curve from the cache, or measures it. The measurement is not cached if another process used the GPU at
  /// the same time.
  /// @param measure  (int device)
  template <typename Measure>
  device::CostCurve curve(const std::string& what, Measure measure) const {
    auto curve = cache_.find(what);
    if (!curve.empty()) return curve;
    curve = measure(device_);
    if (!state_.busy) cache_.keep(what, curve);
    return curve;
  }
  /// The curves of all `timed_operations`, which are measured together. If they cannot be measured, or another process
  /// uses the GPU, the result has only those that the cache has, which may be from a version that timed fewer of them.
  template <typename Measure>
  std::map<std::string, device::CostCurve> operations(char type, Measure measure) const {
    const auto entry = [&](const std::string& operation) { return "tile " + operation + ' ' + type; };
    std::map<std::string, device::CostCurve> known;
    for (const char* const operation : timed_operations)
      if (auto curve = cache_.find(entry(operation)); !curve.empty()) known[operation] = std::move(curve);
    // On a busy GPU, each session would measure again, with different results.
    if (known.size() == timed_operations.size() || state_.busy) return known;
    const auto curves = measure();
    for (const auto& [name, measured] : curves) cache_.keep(entry(name), measured);
    return curves.empty() ? known : curves;
  }

 private:
  std::string name(const Machine& machine) const {
    const auto known = std::ranges::find(machine.gpu_info, opencl_, &device::gpu::Info::opencl);
    if (known != machine.gpu_info.end()) return known->name;
    return opencl_ ? "an OpenCL device" : device::gpu::visible_devices()[static_cast<std::size_t>(device_)];
  }

  bool opencl_;
  int device_;
  device::gpu::State state_;
  device::RatesCache cache_;
};

constexpr std::string_view types = "sdcz";

/// The rates of one type, and where other threads read them; null until they are complete.
struct RatesOfType : MachineRates {
  std::atomic<const MachineRates*> published = nullptr;
};
RatesOfType& rates_of(char type) {
  static auto& all = *new std::array<RatesOfType, types.size()>;  // other threads may use them while the process exits
  return all[types.find(type)];
}

std::mutex measuring;

/// Measurements of one GPU in this process.
struct Measured {
  std::map<char, device::CostCurve> curves;                             ///< times of products, by type
  std::map<char, std::map<std::string, device::CostCurve>> operations;  ///< times on the first CUDA GPU, by type
  device::CostCurve memory;                                             ///< memory bandwidth of a CUDA GPU
  MachineRates::Columns columns, close_columns;  ///< for CUDA; OpenCL devices are assumed to copy at the link's rate
  double link = 0;  ///< host to GPU [bytes/s]; 0: not measured, usually because StarPU knows the rate
};

/// The measurements of the first GPU of its kind, which may be a different GPU in a later session.
Measured& measured(const Machine& machine, bool opencl) {
  static auto& all = *new std::map<std::pair<bool, int>, Measured>;
  return all[{opencl, machine.gpus[static_cast<std::size_t>(opencl ? machine.cuda_gpus : 0)]}];
}

void measure_cuda(const Machine& machine) {
  auto& known = measured(machine, false);
  if (!known.curves.empty()) return;
  const FirstGpu gpu(machine, false);
  constexpr std::size_t far = device::gpu::measured_apart, close = MachineRates::close;
  known.columns.computing = gpu.curve("column", [](int device) {
    return measure_columns(device, {4096, 16384, 32768, 65536}, far, true);
  });
  known.columns.idle = gpu.curve("column of an idle GPU", [](int device) {
    return measure_columns(device, {256, 1024, 4096, 8192, 16384, 32768, 65536}, far, false);
  });
  known.close_columns.computing = gpu.curve("close column", [](int device) {
    return measure_columns(device, {1024, 2048, 4096, 8192}, close, true);
  });
  known.close_columns.idle = gpu.curve("close column of an idle GPU", [](int device) {
    return measure_columns(device, {256, 1024, 4096, 8192}, close, false);
  });
  known.memory = gpu.curve("memory", measure_memory);
  std::map<char, device::CostCurve> curves;  // published at once: one of them may fail for lack of memory
  for (const char type : types)
    curves[type] = gpu.curve(std::string(1, type),
                             [type](int device) { return measure_gpu(type, device, device::gpu::kernel_seconds); });
  known.curves = std::move(curves);
}

/// Complex types are assumed to have the rates of real ones, because compiling kernels to measure them may take
/// seconds.
void measure_opencl(const Machine& machine) {
  auto& known = measured(machine, true).curves;
  if (!known.empty()) return;
  const FirstGpu gpu(machine, true);
  const auto single =
      gpu.curve("s", [](int device) { return measure_gpu('s', device, device::opencl::kernel_seconds); });
  const auto full = gpu.curve("d", [](int device) { return measure_gpu('d', device, device::opencl::kernel_seconds); });
  known = {{'s', single}, {'d', full}, {'c', single}, {'z', full}};
}

/// The link rate from the host to the first GPU.
double link_rate(const Machine& machine) {
  const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(machine.gpu_workers.front().front()));
  if (const double rate = 1e6 * starpu_transfer_bandwidth(STARPU_MAIN_RAM, node); rate > 0) return rate;
  // The program has its own bus files for StarPU, and they lack this link.
  const int device = machine.gpus.front();
  auto& link = measured(machine, !machine.has_cuda()).link;
  if (link == 0)
    link = machine.has_cuda() ? device::gpu::measure_links({device}, std::size_t{64} << 20).h2d.front()
                              : device::opencl::measure_link(device).to_device;
  return link;
}

void publish(const Machine& machine, char type, double link) {
  auto& rates = rates_of(type);
  rates.published = nullptr;  // the old pointer may refer to rates of an earlier session with other devices
  if (rates.cpu.empty()) rates.cpu = measure_cpu(type);
  rates.opencl = machine.has_opencl() ? measured(machine, true).curves[type] : device::CostCurve();
  rates.gpu = machine.has_cuda() ? measured(machine, false).curves[type] : rates.opencl;
  rates.others = mean_rate(rates, machine.cuda_gpus, machine.gpu_count() - machine.cuda_gpus);
  rates.columns = machine.has_cuda() ? measured(machine, false).columns : MachineRates::Columns();
  rates.close_columns = machine.has_cuda() ? measured(machine, false).close_columns : MachineRates::Columns();
  rates.operations.clear();
  rates.memory = machine.has_cuda() ? measured(machine, false).memory.best_rate() : 0;
  rates.link = link;
  rates.published = &rates;
}

}  // namespace

double mean_rate(const MachineRates& rates, int cuda, int opencl) {
  if (cuda == 0 || opencl == 0) return 1;
  return (cuda + opencl * rates.opencl.best_rate() / rates.gpu.best_rate()) / (cuda + opencl);
}

void measure_gpu_rates(const Machine& machine) {
  const std::lock_guard lock(measuring);
  static auto& published_for = *new std::pair<int, std::vector<int>>;
  const auto gpus = std::pair(machine.cuda_gpus, machine.gpus);
  if (machine.gpu_count() == 0 || gpus == published_for) return;
  double link = link_rate(machine);
  if (machine.has_opencl()) measure_opencl(machine);
  if (machine.has_cuda()) {
    measure_cuda(machine);
    // Uses the better of two measurements, because a disturbance could make the link look slow, and panels therefore
    // attractive.
    link = std::max(link, measured(machine, false).columns.computing.best_rate());
  }
  for (const char type : types) publish(machine, type, link);
  published_for = gpus;
}

void measure_operations(const Machine& machine, bool may_run) {
  if (!machine.has_cuda()) return;
  const std::lock_guard lock(measuring);
  const FirstGpu gpu(machine, false);
  for (const char type : types) {
    auto& known = measured(machine, false).operations[type];
    const bool measures = may_run && planning().time_operations != nullptr;
    if (known.empty())
      known = gpu.operations(type, [&] { return measures ? planning().time_operations(machine, type) : known; });
    rates_of(type).operations = known;
  }
}

const MachineRates& machine_rates(const Machine& /*machine*/, char type) {
  auto& rates = rates_of(type);
  if (rates.published.load() == nullptr) {
    std::unique_lock lock(measuring);
    if (common::exit_gate::is_closed()) {
      lock.unlock();  // the exit needs this lock
      common::exit_gate::stop_here();
    }
    if (rates.cpu.empty()) rates.cpu = measure_cpu(type);
    rates.published = &rates;
  }
  return rates;
}

MachineRates rates_before_start(const Machine& machine, char type) {
  const std::lock_guard lock(measuring);
  auto& rates = rates_of(type);
  if (rates.cpu.empty()) rates.cpu = measure_cpu(type);
  MachineRates known;
  known.cpu = rates.cpu;
  const auto& curves = measured(machine, true).curves;
  const auto measure = [type](int device) { return measure_gpu(type, device, device::opencl::kernel_seconds); };
  if (curves.empty()) known.gpu = FirstGpu(machine, true).curve(std::string(1, type), measure);
  else known.gpu = curves.at(type);
  return known;
}

void finish_measuring() { const std::lock_guard lock(measuring); }

int core_count() {
  const double cores =
      std::min<double>(device::Topology().allowed_cores(), device::ControlGroups::of_system().processors());
  return std::max(1, static_cast<int>(cores));
}

int granted_cores() {
  return device::ControlGroups::of_system().processors() < std::thread::hardware_concurrency() ? core_count() : -1;
}

}  // namespace tessera::machine

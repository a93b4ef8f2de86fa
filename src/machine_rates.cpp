// SPDX-License-Identifier: BSD-3-Clause
#include "machine_rates.hpp"

#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>

#include "cache.hpp"
#include "codelets/host_blas.hpp"
#include "gpu.hpp"
#include "session.hpp"

namespace tessera::detail {

namespace {

constexpr std::array cpu_sizes{64, 128, 256};
constexpr std::array gpu_sizes{256, 512, 1024, 2048, 4096};

template <Scalar T>
double product_flops(double n) {
  return flops_per_multiply_add<T> * n * n * n;
}

/// Best of a few: what the core can do, not what else it was doing.
template <Scalar T>
double cpu_product_seconds(int n) {
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<T> A(elements), B(elements), C(elements);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (auto* matrix : {&A, &B, &C})
    for (auto& element : *matrix) element = T(static_cast<Real<T>>(uniform(engine)));
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 4; repeat++) {  // the first warms up and is hardly ever the best
    const auto begin = std::chrono::steady_clock::now();
    host::gemm<T>(Op::NoTrans, Op::NoTrans, n, n, n, T(1), A.data(), n, B.data(), n, T(1), C.data(), n);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

template <Scalar T>
CostCurve measure_cpu() {
  std::vector<CostCurve::Point> points;
  points.reserve(cpu_sizes.size());
  for (const int n : cpu_sizes) points.push_back({product_flops<T>(n), cpu_product_seconds<T>(n)});
  return CostCurve(std::move(points));
}

/// The curve of the first GPU: of several kinds of GPU in one machine, tiles are cut for the first.
template <Scalar T>
CostCurve measure_gpu(int device) {
  std::vector<CostCurve::Point> points;
  points.reserve(gpu_sizes.size());
  for (const int n : gpu_sizes) points.push_back({product_flops<T>(n), gpu::kernel_seconds(type_letter<T>, device, n)});
  return CostCurve(std::move(points));
}

std::filesystem::path cache_file(const std::string& device) {
  auto name = "rates of " + device + ".json";
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
  return cache_directory().value_or(std::filesystem::path()) / name;
}

/// A cached curve; empty if there is none that can be used. A damaged file counts as none and is replaced.
CostCurve read_cache(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains(key) || !json[key].is_array()) return {};
  std::vector<CostCurve::Point> points;
  for (const auto& pair : json[key]) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) return {};
    points.push_back({pair[0], pair[1]});
    if (points.back().amount <= 0 || points.back().seconds <= 0) return {};
  }
  return CostCurve(std::move(points));
}

/// A cache that cannot be written costs time at the next start, nothing else: failures are not reported.
void write_cache(const std::filesystem::path& path, const std::string& key, const CostCurve& curve) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  auto json = nlohmann::json::object();
  {
    std::ifstream file(path);
    if (auto old = nlohmann::json::parse(file, nullptr, false); old.is_object()) json = std::move(old);
  }
  auto& list = json[key] = nlohmann::json::array();
  for (const auto& point : curve.points()) list.push_back({point.amount, point.seconds});
  const auto draft = path.string() + "." + std::to_string(getpid());
  std::ofstream(draft) << json.dump(1) << '\n';
  std::filesystem::rename(draft, path, ignored);
}

CostCurve measure_columns(int device) {
  const std::vector<std::size_t> bytes{std::size_t{1} << 12, std::size_t{1} << 14, std::size_t{1} << 15,
                                       std::size_t{1} << 16};
  const auto seconds = gpu::column_seconds(device, bytes);
  std::vector<CostCurve::Point> points;
  for (std::size_t i = 0; i < bytes.size(); i++) points.push_back({static_cast<double>(bytes[i]), seconds[i]});
  return CostCurve(std::move(points));
}

/// From the cache, else measured and kept there.
/// @param measure  (int device)
template <typename Measure>
CostCurve gpu_curve(const Session& session, const std::string& key, Measure measure) {
  const int device = session.gpus().front();
  const auto& known = session.gpu_info();
  const auto path =
      cache_file(known.empty() ? gpu::visible_devices()[static_cast<std::size_t>(device)] : known.front().name);
  auto curve = read_cache(path, key);
  if (curve.empty()) {
    curve = measure(device);
    write_cache(path, key, curve);
  }
  return curve;
}

/// Rates by type, published once they are complete.
std::atomic<const MachineRates*>& published(char type) {
  static std::array<std::atomic<const MachineRates*>, 4> rates{};
  switch (type) {
  case 's': return rates[0];
  case 'd': return rates[1];
  case 'c': return rates[2];
  default: return rates[3];
  }
}

}  // namespace

template <Scalar T>
const MachineRates& machine_rates(const Session& session) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& slot = published(type_letter<T>);
  static auto& rates = *new MachineRates;  // one for each T; other threads may use it while the process exits
  const bool need_gpu = session.gpu_count() > 0 && rates.gpu.empty();
  if (slot.load() == nullptr || need_gpu) {
    slot = nullptr;
    if (rates.cpu.empty()) rates.cpu = measure_cpu<T>();
    if (need_gpu) {
      rates.gpu = gpu_curve(session, std::string(1, type_letter<T>), measure_gpu<T>);
      rates.column = gpu_curve(session, "column", measure_columns);
      const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(session.gpu_workers().front().front()));
      rates.link = 1e6 * starpu_transfer_bandwidth(STARPU_MAIN_RAM, node);
      if (!(rates.link > 0))  // someone else's bus files, without this link
        rates.link = gpu::measure_links({session.gpus().front()}, std::size_t{64} << 20).h2d.front();
    }
    slot = &rates;
  }
  return rates;
}

template const MachineRates& machine_rates<float>(const Session&);
template const MachineRates& machine_rates<double>(const Session&);
template const MachineRates& machine_rates<std::complex<float>>(const Session&);
template const MachineRates& machine_rates<std::complex<double>>(const Session&);

double expected_seconds(const char* /*operation*/, const codelets::Work& work, int worker) {
  const auto* rates = published(work.type).load();
  if (rates == nullptr) return 0;
  const bool gpu = starpu_worker_get_type(worker) == STARPU_CUDA_WORKER;
  return (gpu ? rates->gpu : rates->cpu).seconds(work.flops);
}

}  // namespace tessera::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "bench/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <tuple>

#include "common/of_type.hpp"
#include "devices/cpu/host_blas.hpp"
#include "devices/opencl/opencl.hpp"
#include "workload/operand.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int largest_gpu_product = 4096, smallest_product = 256;
constexpr int short_cpu_product = 512, largest_cpu_product = 3072;
constexpr double warmup_seconds = 0.3, measured_seconds = 0.3;
constexpr std::size_t link_bytes = std::size_t{512} << 20;  // per GPU
// Only after some tenths of a second does the power limit reduce the clock.
constexpr double sustained_seconds = 1, busy_seconds = 0.5;
constexpr std::size_t busy_bytes = std::size_t{64} << 20;  // per copy

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Repeats products of order n on one core for `least` seconds. @return the time of the fastest product [s]
template <Scalar T>
double core_product_seconds(int n, const std::vector<T>& A, const std::vector<T>& B, std::vector<T>& C, double least) {
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    device::cpu::gemm<T>(Op::NoTrans, Op::NoTrans, n, n, n, T(1), A.data(), n, B.data(), n, T{}, C.data(), n);
    best = std::min(best, since(start));
  } while (since(begin) < least);
  return best;
}

/// The rate of one core on its own data while all other cores do the same [flop/s]. Long products are a few percent
/// faster, but on a busy machine most of them are disturbed, so the better rate of two sizes counts.
template <Scalar T>
double core_rate(int n, std::barrier<>& together) {
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<T> A(elements), B(elements), C(elements);
  for (std::size_t i = 0; i < elements; i++) {
    A[i] = generated_element<T>(1, 0, static_cast<Index>(i));
    B[i] = generated_element<T>(1, 1, static_cast<Index>(i));
  }
  together.arrive_and_wait();
  double best = 0;
  core_product_seconds<T>(std::min(n, short_cpu_product), A, B, C, warmup_seconds);
  for (const int size : {std::min(n, short_cpu_product), n}) {
    together.arrive_and_wait();
    const double seconds = core_product_seconds<T>(size, A, B, C, measured_seconds);
    best = std::max(best, flops_per_multiply_add<T> * std::pow(size, 3) / seconds);
  }
  return best;
}

/// @param n  order of a product for all cores together
template <Scalar T>
double cores_rate(int cores, int n) {
  const OpenBlas one_thread_each(1);
  // One core takes as long for this order as all cores together take for order n.
  const int share = static_cast<int>(n / std::cbrt(cores));
  std::barrier together(cores);
  std::vector<double> rates(static_cast<std::size_t>(cores));
  {
    std::vector<std::jthread> threads;
    for (auto& rate : rates)
      threads.emplace_back(
          [&] { rate = core_rate<T>(std::clamp(share, smallest_product, largest_cpu_product), together); });
  }
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// The largest order of a product, up to n, whose operands take at most a tenth of the smallest GPU's memory. The rest
/// is left to other programs.
int fitting(const Machine& machine, int gpus, std::size_t element, int n) {
  for (int i = 0; i < gpus; i++)
    while (n > smallest_product && 30 * std::pow(n, 2) * static_cast<double>(element) >
                                       static_cast<double>(machine.gpus[static_cast<std::size_t>(i)].memory))
      n /= 2;
  return n;
}

/// The best rate of an OpenCL device on products of increasing size, up to order n or until one takes long.
template <Scalar T>
double opencl_rate(int device, int n) {
  constexpr double long_enough = 0.05;  // [s]
  double best = 0, seconds = 0;
  for (int size = smallest_product; size <= n && seconds < long_enough; size *= 2) {
    seconds = device::opencl::kernel_seconds(type_letter<T>, device, size);
    best = std::max(best, flops_per_multiply_add<T> * std::pow(size, 3) / seconds);
  }
  return best;
}

template <Scalar T>
double gpus_rate(const Machine& machine, int gpus, int n, double seconds) {
  n = fitting(machine, gpus, sizeof(T), n);
  double rate = 0;
  for (const int device : machine.ordinals(gpus, true)) rate += opencl_rate<T>(device, n);
  if (const auto cuda = machine.ordinals(gpus); !cuda.empty())
    rate += static_cast<double>(cuda.size()) * flops_per_multiply_add<T> * std::pow(n, 3) /
            device::gpu::product_seconds(type_letter<T>, cuda, n, seconds);
  return rate;
}

}  // namespace

void Limits::measure(char type, int gpus, Index n) {
  progress_.begin("measuring the machine's limits");
  const auto size = static_cast<int>(std::clamp<Index>(n, smallest_product, std::numeric_limits<int>::max()));
  if (auto& rate = rates_[{gpus, type}]; rate == 0) {
    progress_.show(fmt::format("type {}, {}", type, gpus > 0 ? "GPUs" : "cores"));
    rate = common::with_type(type, [&]<Scalar T>(T) {
      const int order = std::min(size, largest_gpu_product);
      auto& sustained = at_once_[{gpus, type}].flops;
      if (gpus == 0) return sustained = cores_rate<T>(cores_, size);
      const double short_term = gpus_rate<T>(machine_, gpus, order, measured_seconds);
      sustained = gpus_rate<T>(machine_, gpus, order, sustained_seconds);
      return short_term;
    });
  }
  if (gpus == 0) return;
  if (!links_.contains(gpus)) measure_links(gpus);
  const auto& busy = busy_links_.at(gpus);
  auto& rates = at_once_.at({gpus, type});
  rates.in = busy.in, rates.out = busy.out, rates.both = busy.both;
}

/// The sum of the rates that the OpenCL devices reach when each copies alone in one direction and nothing computes.
device::gpu::BusyLinks Limits::opencl_links(int gpus) const {
  device::gpu::BusyLinks sum;
  for (const int device : machine_.ordinals(gpus, true)) {
    const auto [in, out] = device::opencl::measure_link(device);
    sum.in += in, sum.out += out;
  }
  sum.both = std::max(sum.in, sum.out);
  return sum;
}

void Limits::measure_links(int gpus) {
  links_[gpus] = {}, busy_links_[gpus] = {};
  if (memory_ == Memory::Device) measure_links_of_first(gpus);
  else if (Problem{.memory = memory_}.in_host_memory()) measure_host_links(gpus);
}

void Limits::measure_links_of_first(int gpus) {
  const auto cuda = machine_.ordinals(gpus);
  if (cuda.size() < 2) return;
  progress_.show("links between GPUs");
  auto bytes = link_bytes;
  for (const auto& gpu : machine_.gpus) bytes = std::min(bytes, gpu.memory / (16 * cuda.size()));
  const auto idle = device::gpu::measure_links_of_first(cuda, 0, bytes, measured_seconds);
  links_[gpus] = {idle.in, idle.out};
  const int n = fitting(machine_, gpus, sizeof(double), largest_gpu_product);
  busy_links_[gpus] = device::gpu::measure_links_of_first(cuda, n, std::min(bytes, busy_bytes), busy_seconds);
}

void Limits::measure_host_links(int gpus) {
  progress_.show("links");
  auto& busy = busy_links_[gpus] = opencl_links(gpus);
  auto& [in, out] = links_[gpus] = {busy.in, busy.out};
  const auto cuda = machine_.ordinals(gpus);
  if (cuda.empty()) return;
  auto bytes = link_bytes, bytes_of_one = busy_bytes;
  for (int i = 0; i < gpus; i++) {
    const auto memory = machine_.gpus[static_cast<std::size_t>(i)].memory;
    bytes = std::min(bytes, memory / 8), bytes_of_one = std::min(bytes_of_one, memory / 16);
  }
  const auto rates = device::gpu::measure_links(cuda, bytes);
  in += rates.h2d_together, out += rates.d2h_together;
  progress_.show("links of computing GPUs");
  const int n = fitting(machine_, gpus, sizeof(double), largest_gpu_product);
  const auto busy_cuda = device::gpu::measure_busy_links(cuda, n, bytes_of_one, busy_seconds);
  busy.in += busy_cuda.in, busy.out += busy_cuda.out, busy.both += busy_cuda.both;
}

LimitParts Limits::parts_by(const DeviceRates& rates, const Routine& routine, const Problem& problem, int gpus) const {
  const double flops = routine.flops(problem);
  return problem.memory == Memory::Device && gpus > 1
             ? limit_parts_of_first(flops, routine.between_gpus(problem), rates, gpus)
             : limit_parts(flops, routine.compulsory(problem), rates);
}

double Limits::seconds(const Routine& routine, const Problem& problem, int gpus, double beside) const {
  DeviceRates rates{.flops = rate(problem.type, gpus) + beside, .beside = beside};
  if (gpus > 0) std::tie(rates.in, rates.out) = links(gpus);
  rates.both = std::numeric_limits<double>::infinity();  // one direction after the other is not measured at once
  return parts_by(rates, routine, problem, gpus).longest();
}

LimitParts Limits::parts(const Routine& routine, const Problem& problem, int gpus, double beside) const {
  auto rates = at_once(problem.type, gpus);
  rates.flops += beside, rates.beside = beside;
  return parts_by(rates, routine, problem, gpus);
}

}  // namespace tessera::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "decision.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <thread>

namespace tessera::dropin {

namespace {

int size_class(double flops) { return std::clamp(static_cast<int>(std::log2(std::max(1.0, flops)) / 2), 0, 31); }

/// Flops below which no device pays off, as matrices must be copied from and to the host. One core takes about as long
/// for a product of this size (370×370 in double precision) as an H200 takes for a call with almost no arithmetic.
constexpr double smallest_that_can_pay = 1e8;

/// Cautious assumptions about devices that have not started yet. For comparison: two H200 take 0.7 s to start, and four
/// up to 1.4 s; each computes 60 TFLOP/s in double precision, and receives 50 GB/s from pageable memory.
constexpr double seconds_to_start = 1.5;
constexpr DeviceRates assumed_rates{5e12, 5e9};

/// The assumed ratio of actual to predicted time while no similar call has been timed: for pageable memory, which goes
/// through staging buffers, and for pinned memory.
constexpr double unknown_slowness[2] = {2, 1.2};

/// Assumed rates of one core with 512-bit vectors in double precision and of host memory, until a call has been timed
/// [flop/s, bytes/s].
constexpr double assumed_core_flops = 30e9, assumed_memory_bytes = 20e9;

double assumed_host_seconds(const Call& call, double flops) {
  static const double cores = std::max(1U, std::thread::hardware_concurrency());  // the query reads a file
  const bool single = call.type == 's' || call.type == 'c';
  const auto bytes = traffic(call);
  return std::max(flops / (cores * assumed_core_flops * (single ? 2 : 1)),
                  (bytes.in + bytes.out) / assumed_memory_bytes);
}

/// Assumed time of a call on the devices in addition to its copies and arithmetic, until calls have been timed [s]. For
/// comparison: a whole product of 1024×1024 takes 3 to 5 ms on an H200.
constexpr double seconds_of_a_call = 1e-3;

double predicted_seconds(const Call& call, double flops, const DeviceRates& rates) {
  const auto bytes = traffic(call);
  const double copy = reads_result(call) ? bytes.out / assumed_memory_bytes : 0;  // the Backup
  return seconds_of_a_call + copy + std::max({flops / rates.flops, bytes.in / rates.link, bytes.out / rates.link});
}

bool all_pinned(const Call& call, const Engine& engine) {
  const auto pinned = [&](const void* data) { return data == nullptr || engine.is_pinned(data); };
  return pinned(call.A) && pinned(call.B) && pinned(call.C);
}

}  // namespace

std::optional<double> Learned::operator()(char type, double flops) const {
  const auto& values = values_[blas::type_index(type)];
  const int wanted = size_class(flops);
  for (int distance = 0; distance < sizes; distance++)
    for (const int size : {wanted - distance, wanted + distance})
      if (size >= 0 && size < sizes)
        if (const float value = values[size].load(std::memory_order_relaxed); value > 0) return value;
  return {};
}

void Learned::observe(char type, double flops, double value) {
  auto& known = values_[blas::type_index(type)][size_class(flops)];
  const auto before = known.load(std::memory_order_relaxed), seen = static_cast<float>(value);
  known.store(before > 0 ? 0.75F * before + 0.25F * seen : seen, std::memory_order_relaxed);
}

void Learned::forget(char type, double flops, double usual) {
  auto& known = values_[blas::type_index(type)][size_class(flops)];
  const auto before = (*this)(type, flops);
  if (before) known.store(static_cast<float>(*before + 0.02 * (usual - *before)), std::memory_order_relaxed);
}

Decision::Decision(const Settings& settings) : forced_(settings.min_flops.has_value()) {
  const bool none = !settings.mistake.empty() || (settings.gpus == 0 && !settings.cpu_only);
  if (none) smallest_ = std::numeric_limits<double>::infinity();
  else if (forced_) smallest_ = *settings.min_flops;
  else if (settings.cpu_only || devices_in_sight() > 0) smallest_ = smallest_that_can_pay;
  else smallest_ = std::numeric_limits<double>::infinity();  // without GPUs, the host BLAS is as fast as Tessera
}

bool Decision::starting_pays(const Call& call, double flops) {
  if (forced_) return true;
  const double on_devices = predicted_seconds(call, flops, assumed_rates);
  const double saved = expected_on_host(call, flops) - on_devices;
  if (saved <= 0) return false;
  return lost_.fetch_add(saved, std::memory_order_relaxed) + saved > seconds_to_start;
}

Place Decision::choose(const Call& call, double flops, const Engine& engine) {
  if (forced_) return Place::Devices;
  const bool pinned = all_pinned(call, engine);
  const double predicted = predicted_seconds(call, flops, engine.rates(call.type));
  const double slowness = slowness_[pinned](call.type, flops).value_or(unknown_slowness[pinned]);
  if (predicted * slowness < expected_on_host(call, flops)) {
    host_slowness_.forget(call.type, flops, 1);
    return Place::Devices;
  }
  slowness_[pinned].forget(call.type, flops, unknown_slowness[pinned]);
  return Place::Host;
}

void Decision::observe_host(const Call& call, double flops, double seconds) {
  if (seconds > 0 && flops > 0) host_slowness_.observe(call.type, flops, seconds / assumed_host_seconds(call, flops));
}

void Decision::observe_devices(const Call& call, double flops, const Engine& engine, double seconds) {
  const double predicted = predicted_seconds(call, flops, engine.rates(call.type));
  slowness_[all_pinned(call, engine)].observe(call.type, flops, seconds / predicted);
}

std::optional<double> Decision::host_seconds(const Call& call, double flops) const {
  const auto slowness = host_slowness_(call.type, flops);
  if (!slowness) return {};
  return *slowness * assumed_host_seconds(call, flops);
}

double Decision::expected_on_host(const Call& call, double flops) const {
  return host_seconds(call, flops).value_or(assumed_host_seconds(call, flops));
}

int devices_in_sight() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (std::string_view(visible).empty() || visible[0] == '-')) return 0;
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("nvidia") && name.size() > 6 && std::isdigit(static_cast<unsigned char>(name[6])) != 0)
      count++;
  }
  return count;
}

}  // namespace tessera::dropin

// SPDX-License-Identifier: BSD-3-Clause
#include "decision.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>

namespace tessera::dropin {

namespace {

int size_class(double flops) { return std::clamp(static_cast<int>(std::log2(std::max(1.0, flops)) / 2), 0, 31); }

/// Number of flops below which no device pays off, because matrices must be copied between host and devices.
constexpr double smallest_that_can_pay = 1e8;

/// Cautious assumptions about devices that have not started yet, and about calls without a plan.
constexpr double seconds_to_start = 1.5;

/// Time that calls must have lost on the host before the devices start [s].
constexpr double worth_a_start = seconds_to_start / 4;

/// Calls that would lose more than this on the host wait for a start that pays off. On the host, they would keep all
/// cores busy and delay the start.
constexpr double longest_beside = 0.06;

/// Once calls have lost this much during the start, all calls wait for it, however short they are, because many short
/// calls also delay the start.
constexpr double most_lost_beside = 2 * worth_a_start;

constexpr double assumed_device_flops = 5e12, assumed_link = 10e9, seconds_of_a_call = 1e-3;

/// The ratio of actual to predicted time on the devices that is assumed before any similar call has been timed. Plans
/// do not know that the workers must wake up.
constexpr double unknown_slowness = 1.1;

/// Rates assumed before any call has been timed: of a core with 512-bit vectors in double precision [flop/s], and of
/// host memory [bytes/s].
constexpr double assumed_core_flops = 30e9, assumed_memory_bytes = 20e9;

double assumed_host_seconds(const Job& job) {
  // Cached, because the query reads a file.
  static const double cores = std::max(1U, std::thread::hardware_concurrency());
  const bool single = job.type == 's' || job.type == 'c';
  return std::max(job.flops / (cores * assumed_core_flops * (single ? 2 : 1)),
                  (job.traffic.in + job.traffic.out) / assumed_memory_bytes);
}

/// Seconds of a call on the devices, including the copy of what it overwrites.
/// @param engine  null: the devices have not started
double predicted_seconds(const Job& job, const Engine* engine) {
  const double copy = job.backup_bytes() / assumed_memory_bytes;
  if (const double planned = engine != nullptr ? engine->seconds(job) : 0; planned > 0) return copy + planned;
  return copy + seconds_of_a_call +
         std::max({job.flops / assumed_device_flops, job.traffic.in / assumed_link, job.traffic.out / assumed_link});
}

/// Whether the user hides all GPUs from CUDA.
bool cuda_sees_none() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible != nullptr && (*visible == '\0' || *visible == '-');
}

}  // namespace

std::optional<double> Learned::operator()(const Job& job) const {
  const auto& values = values_[job.kind()][blas::type_index(job.type)];
  const int wanted = size_class(job.flops);
  for (int distance = 0; distance < sizes; distance++)
    for (const int size : {wanted - distance, wanted + distance})
      if (size >= 0 && size < sizes)
        if (const float value = values[size].load(std::memory_order_relaxed); value > 0) return value;
  return {};
}

void Learned::observe(const Job& job, double value) {
  auto& known = values_[job.kind()][blas::type_index(job.type)][size_class(job.flops)];
  const auto before = known.load(std::memory_order_relaxed), seen = static_cast<float>(value);
  known.store(before > 0 ? 0.75F * before + 0.25F * seen : seen, std::memory_order_relaxed);
}

void Learned::forget(const Job& job, double usual) {
  auto& known = values_[job.kind()][blas::type_index(job.type)][size_class(job.flops)];
  const auto before = (*this)(job);
  if (before) known.store(static_cast<float>(*before + 0.02 * (usual - *before)), std::memory_order_relaxed);
}

Decision::Decision(const Settings& settings) : forced_(settings.min_flops.has_value()) {
  if (!why_no_devices(settings).empty()) smallest_ = std::numeric_limits<double>::infinity();
  else smallest_ = settings.min_flops.value_or(smallest_that_can_pay);
}

Start Decision::start_for(const Job& job) {
  if (forced_ || job.on_gpu) return Start::Inside;
  const double saved = expected_on_host(job) - predicted_seconds(job, nullptr);
  if (saved <= 0) return Start::Later;
  const double lost = lost_.fetch_add(saved, std::memory_order_relaxed) + saved;
  if (lost < worth_a_start) return Start::Later;
  return saved > longest_beside || lost > most_lost_beside ? Start::Inside : Start::Beside;
}

Place Decision::choose(const Job& job, const Engine& engine) {
  if (forced_ || job.on_gpu) return Place::Devices;
  const double predicted = predicted_seconds(job, &engine);
  if (!std::isfinite(predicted)) return Place::Host;  // which says nothing about how fast the devices are
  if (predicted * slowness_(job).value_or(unknown_slowness) < expected_on_host(job)) {
    host_slowness_.forget(job, 1);
    return Place::Devices;
  }
  slowness_.forget(job, unknown_slowness);
  return Place::Host;
}

void Decision::observe_host(const Job& job, double seconds) {
  if (seconds > 0 && job.flops > 0) host_slowness_.observe(job, seconds / assumed_host_seconds(job));
}

void Decision::observe_devices(const Job& job, const Engine& engine, double seconds) {
  if (forced_ || job.on_gpu) return;  // nothing is predicted, or operands were not copied
  if (const double predicted = predicted_seconds(job, &engine); std::isfinite(predicted))
    slowness_.observe(job, seconds / predicted);
}

std::optional<double> Decision::host_seconds(const Job& job) const {
  const auto slowness = host_slowness_(job);
  if (!slowness) return {};
  return *slowness * assumed_host_seconds(job);
}

double Decision::expected_on_host(const Job& job) const {
  return host_seconds(job).value_or(assumed_host_seconds(job));
}

int devices_in_sight(const common::DeviceChoice& choice) {
  const int opencl = std::max(0, choice.opencl);
  if (choice.cuda == 0 || (choice.cuda < 0 && opencl > 0) || cuda_sees_none()) return opencl;
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("nvidia") && name.size() > 6 && std::isdigit(static_cast<unsigned char>(name[6])) != 0)
      count++;
  }
  return opencl + (choice.cuda >= 0 ? std::min(count, choice.cuda) : count);
}

std::string why_no_devices(const Settings& settings) {
  if (!settings.mistake.empty()) return "a setting cannot be used";
  if (settings.devices.none()) return "TESSERA_DEVICES asks for none";
  if (settings.min_flops || settings.devices.cpu_only || devices_in_sight(settings.devices) > 0) return "";
  // Without GPUs, the host BLAS is as fast as Tessera.
  if (settings.devices.cuda == 0) return "TESSERA_DEVICES excludes CUDA GPUs";
  return cuda_sees_none() ? "CUDA_VISIBLE_DEVICES hides all" : "no CUDA device: /dev has no NVIDIA GPU";
}

}  // namespace tessera::dropin

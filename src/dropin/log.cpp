// SPDX-License-Identifier: BSD-3-Clause
#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "quiet_write.hpp"

namespace tessera::dropin {

namespace {

using nlohmann::ordered_json;

std::string program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).filename().string();
}

/// Extrapolates a sum over some calls to all calls; null if `some` is 0.
ordered_json of_all(double sum, std::uint64_t some, std::uint64_t all) {
  if (some == 0) return {};
  return sum * static_cast<double>(all) / static_cast<double>(some);
}

/// One line of the log. Replaces bytes that are not valid UTF-8, for example in a program's name, so that they cause no
/// error.
std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json number_or_null(Index x) { return x < 0 ? ordered_json() : ordered_json(x); }

}  // namespace

void Log::count(const Job& job, Place place, double seconds, std::optional<double> host_seconds, double reused_bytes) {
  Key key{job.routine, job.type, place, job.sizes};
  const std::lock_guard lock(mutex_);
  if (last_ == nullptr || last_->first != key) {
    if (sums_.size() >= most_shapes && !sums_.contains(key))
      for (auto& size : key.sizes)
        if (size != Job::absent) size = Job::any;
    last_ = &*sums_.try_emplace(key).first;
  }
  auto& sums = last_->second;
  sums.calls++, sums.seconds += seconds, sums.flops += job.flops, sums.bytes += job.traffic.in + job.traffic.out;
  sums.reused_bytes += reused_bytes;
  if (host_seconds) sums.compared++, sums.host_seconds += *host_seconds;
}

std::string Log::write(const Header& said) {
  const std::lock_guard lock(mutex_);
  if (sums_.empty() && said.trouble.empty() && said.foreign.empty()) return {};
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin_;
  ordered_json header{
      {"process", getpid()}, {"program", program()}, {"host_blas", said.host_blas}, {"devices", said.devices}};
  header["seconds"] = lasted.count();
  if (!said.trouble.empty()) header["trouble"] = said.trouble;
  if (!said.foreign.empty()) header["foreign_blas"] = said.foreign;
  auto text = line_of(header);
  for (const auto& [key, sums] : sums_) {
    const Job named{.routine = key.routine, .overwritten = {}};
    ordered_json line{{"process", getpid()}, {"routine", std::string(1, key.type) + named.name()}};
    for (std::size_t i = 0; i < key.sizes.size(); i++)
      if (key.sizes[i] != Job::absent) line[Job::size_names[i]] = number_or_null(key.sizes[i]);
    line["place"] = key.place == Place::Host ? "host" : "devices";
    line["calls"] = sums.calls, line["seconds"] = sums.seconds;
    line["flops"] = sums.flops, line["bytes"] = sums.bytes;
    if (sums.reused_bytes > 0) line["reused_bytes"] = sums.reused_bytes;
    line["host_seconds"] = of_all(sums.host_seconds, sums.compared, sums.calls);
    text += line_of(line);
  }
  sums_.clear();
  last_ = nullptr;
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  // A single write, so that lines of several processes do not mix.
  const bool whole = file >= 0 && write_quietly(file, text);
  auto error = whole ? "" : "TESSERA_BLAS_LOG is '" + path_ + "', which cannot be written: " + std::strerror(errno);
  if (file >= 0) close(file);
  return error;
}

void Log::after_fork_in_child(bool locked) {
  sums_.clear();
  last_ = nullptr;
  begin_ = std::chrono::steady_clock::now();
  if (locked) mutex_.unlock();
}

}  // namespace tessera::dropin

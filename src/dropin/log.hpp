// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "call.hpp"
#include "decision.hpp"

namespace tessera::dropin {

/// What TESSERA_BLAS_LOG shows: calls by routine, shape and place. Written when the process ends, as lines of JSON that
/// are appended, so that several processes may share a file.
class Log {
 public:
  explicit Log(std::string path) : path_(std::move(path)) {}
  bool on() const noexcept { return !path_.empty(); }

  /// @param seconds       nothing: not timed; it counts as much as the average of those like it that were
  /// @param host_seconds  what the host took, or would have taken, if that is known
  void count(const Call& call, double flops, Place place, std::optional<double> seconds,
             std::optional<double> host_seconds);

  /// Appends everything and forgets it.
  /// @return what keeps it from being written, or ""
  std::string write(const std::string& host_blas, const std::string& devices, const std::string& trouble);

  /// A forked child has calls of its own.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void after_fork_in_child(bool locked);

 private:
  struct Key {
    Routine routine;
    char type;
    Place place;
    Index m, n, k;                                 ///< -1: any
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): it takes <=> for one
  };
  struct Sums {
    std::uint64_t calls = 0, timed = 0, compared = 0;  ///< compared: those with a time of the host
    double seconds = 0, host_seconds = 0;              ///< of those
    double flops = 0, bytes = 0;
  };
  static constexpr std::size_t most_shapes = 4096;

  std::string path_;
  std::mutex mutex_;
  std::map<Key, Sums> sums_;                    // guarded by mutex_
  std::pair<const Key, Sums>* last_ = nullptr;  ///< most calls are like the one before; guarded by mutex_
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::dropin

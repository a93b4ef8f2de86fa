// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "decision.hpp"
#include "job.hpp"

namespace tessera::dropin {

/// The log of TESSERA_BLAS_LOG: statistics of calls by routine, sizes and place. When the process ends, they are
/// appended to the file as lines of JSON. Several processes may share a file.
class Log {
 public:
  explicit Log(std::string path) : path_(std::move(path)) {}
  bool on() const noexcept { return !path_.empty(); }

  /// @param seconds       the call's share of the time, see ConcurrentCall
  /// @param host_seconds  the measured or predicted time on the host, if known
  /// @param reused_bytes  see Engine
  void count(const Job& job, Place place, double seconds, std::optional<double> host_seconds, double reused_bytes = 0);

  /// The contents of the first line of a process.
  struct Header {
    std::string host_blas, devices;
    std::string trouble;  ///< "": no error
    std::string foreign;  ///< a BLAS whose calls bypass the drop-in; "": none
  };
  /// Appends the statistics to the file, and clears them. Without calls, writes the header only if there is an error or
  /// a foreign BLAS.
  /// @return  the reason why they could not be written, or ""
  std::string write(const Header& header);

  /// Fork handlers. A forked child starts with an empty log.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void after_fork_in_child(bool locked);

 private:
  struct Key {
    int routine;
    char type;
    Place place;
    std::array<Index, 4> sizes;                    ///< as in a Job
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): false positive
  };
  struct Sums {
    std::uint64_t calls = 0, compared = 0;  ///< compared: calls with known host_seconds
    double seconds = 0, host_seconds = 0;   ///< `seconds`: of all calls; `host_seconds`: of the compared ones
    double flops = 0, bytes = 0, reused_bytes = 0;
  };
  static constexpr std::size_t most_shapes = 4096;

  std::string path_;
  std::mutex mutex_;
  std::map<Key, Sums> sums_;                    // guarded by mutex_
  std::pair<const Key, Sums>* last_ = nullptr;  ///< entry of the last call, since most calls repeat; guarded by mutex_
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::dropin

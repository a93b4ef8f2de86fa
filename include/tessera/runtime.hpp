// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/sched.h>
#include <tessera/types.hpp>

namespace tessera {

namespace detail {
class Session;
}

/// Who decides which worker computes a tile.
enum class Placement {
  Automatic,  ///< Home when there are GPUs, Scheduler when there are none; see RuntimeOptions::policy
  Home,       ///< each tile of the result has a GPU from submission on, which the policy `tessera` keeps it on unless
              ///< another one runs out of work; CPU workers compute no tile
  Owner,      ///< each tile of the result belongs to one GPU, whatever the policy; CPU workers compute no tile
  Scheduler,  ///< the scheduling policy alone, over CPU and GPU workers
};

/// How to start. A field that is left alone takes the environment variable behind it, then the default.
struct RuntimeOptions {
  int cpus = -1;                               ///< CPU workers; TESSERA_CPUS; default: all cores,
                                               ///< but 1 where every tile belongs to a GPU
  int gpus = -1;                               ///< GPUs; TESSERA_GPUS; default: all
  std::string policy;                          ///< scheduling policy: tessera or one of StarPU's; TESSERA_POLICY;
                                               ///< default: tessera. With another one that is
                                               ///< asked for, Automatic is Scheduler
  Placement placement = Placement::Automatic;  ///< TESSERA_PLACEMENT=home|owner|scheduler
  Index tile = 0;                              ///< tile size [elements]; TESSERA_TILE; 0: chosen for each call
  std::string trace;                           ///< folder to record a trace in; TESSERA_TRACE; "": none
  std::optional<bool> progress;                ///< whether calls that take longer than a second show on standard error
                                               ///< how far they are; TESSERA_PROGRESS=0|1; default: no. Not in
                                               ///< simulated time
  Index gpu_memory = 0;                        ///< of each GPU, what tiles may take [MiB]; TESSERA_GPU_MEMORY;
                                               ///< 0: 90 % of what is free at the start. Up to 2 GiB are taken then,
                                               ///< the rest as it is needed; most of it is kept until the last
                                               ///< Runtime has gone. Where tiles of several sizes leave gaps that
                                               ///< none fits, somewhat more is taken. Not in a StarPU that the
                                               ///< program has started: there STARPU_LIMIT_CUDA_MEM says it
  Index pinned_memory = 0;                     ///< for buffers between GPUs and memory that is not pinned [MiB];
                                               ///< TESSERA_PINNED_MEMORY. Each thread that copies has 4: the one that
                                               ///< drives a GPU in any case, and up to 12 others as far as this
                                               ///< suffices; 0: for all of them
};

/// A device that computes.
struct Device {
  enum class Kind { Cpu, Gpu };
  Kind kind = Kind::Cpu;
  int id = 0;              ///< CUDA ordinal; 0 for the CPUs
  int workers = 0;         ///< StarPU workers that drive it
  std::string name;        ///< e.g. "NVIDIA H200"
  std::size_t memory = 0;  ///< bytes
};

/// Bytes that went over one link.
struct LinkTraffic {
  int from = -1;  ///< a GPU, counted from 0 in the order of `devices()`; -1: the host
  int to = -1;
  std::uint64_t bytes = 0;
};

/// What the policy `tessera` did; the members and their units are those of <tessera/sched.h>.
using PolicyStatistics = tessera_sched_counts;

/// What has happened since the Runtime started or `reset_statistics` was called. Bytes are StarPU's own counts, which
/// reading sets to zero: a program that shares its StarPU with us and reads them itself finds what we have left.
/// With GPUs and `RuntimeOptions::progress` they are also read during calls, when a tile may escape StarPU's count.
struct Statistics {
  double seconds = 0;  ///< that this is about; simulated ones in a simulation
  std::uint64_t tasks = 0;
  std::uint64_t bytes_h2d = 0;             ///< host to device
  std::uint64_t bytes_d2h = 0;             ///< device to host
  std::uint64_t bytes_d2d = 0;             ///< device to device
  std::vector<LinkTraffic> links;          ///< the same bytes, by link; those that carried any
  std::optional<PolicyStatistics> policy;  ///< nothing: another policy runs
};

/// Starts StarPU, or joins it if the program has already started it; the last Runtime to go stops what the first one
/// started. There is one for the process: while it lives, further ones share it, and their options are only checked.
/// Without one, the first routine that is called starts a Runtime with default options, which lives until the process
/// exits.
///
/// A Runtime installs no signal handlers, writes nothing to standard output or error unless `progress` asks for it,
/// leaves the caller's current CUDA device as it was, and never lets StarPU calibrate the links of a machine with GPUs
/// inside the caller's process (calibration resets the devices): it measures them itself, once, and keeps the result in
/// `$XDG_CACHE_HOME/tessera` (`TESSERA_CACHE_DIR` moves it).
///
/// While a Runtime lives, OpenBLAS computes with one thread per call: StarPU's workers are the parallelism. The last
/// Runtime restores the caller's setting.
class Runtime {
 public:
  /// @throws RuntimeError   if StarPU cannot start
  /// @throws ArgumentError  if an option or its environment variable has a value that is not allowed
  explicit Runtime(const RuntimeOptions& options = {});
  /// Waits for everything submitted.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// True if the program itself had started StarPU: then workers and policy are the program's, not those of `options`.
  bool joined() const noexcept;

 private:
  std::shared_ptr<detail::Session> session_;
};

/// Waits until every task that has been submitted to StarPU has run. Results may still be in a GPU's memory:
/// `Matrix<T>::wait` brings them home.
/// @throws RuntimeError if a tile operation has failed since the last such wait, or within a StarPU task
void wait();

/// Devices in use, CPUs first. Starts a Runtime if there is none, as do the functions below, but for `starpu_version`.
std::vector<Device> devices();

/// GPUs that were found but are not used, each with the reason; one entry when no CUDA driver answers.
std::vector<std::string> unused_devices();

int cpu_workers();
int gpu_count();
Placement placement();
std::string policy();

/// The StarPU that runs, e.g. "1.4.10".
std::string starpu_version();

Statistics statistics();
void reset_statistics();

/// Leaves what follows out of the trace that `RuntimeOptions::trace` asks for, and takes it in again. Both wait for all
/// that has been submitted, and do nothing where no trace is recorded. Not while another thread submits tasks.
void pause_recording();
void resume_recording();

}  // namespace tessera

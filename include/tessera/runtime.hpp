// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/sched.h>
#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// @file
/// Starting and stopping, waiting, statistics, and the devices that Tessera uses.

struct CUstream_st;  // a cudaStream_t and a CUstream point to it

namespace tessera {

namespace detail {
class Session;
}

/// Who decides which worker computes a tile.
enum class Placement {
  Automatic,  ///< Home when there are GPUs, Scheduler when there are none; see RuntimeOptions::policy
  Home,       ///< each tile of the result has a home, one GPU, which is chosen at submission. The policy `tessera`
              ///< keeps the tile there unless another GPU runs out of work. Two or more CPU workers compute a part of
              ///< some calls
  Owner,      ///< each tile of the result belongs to one GPU, under any policy. CPU workers take part as with Home if
              ///< the policy is `tessera`, and otherwise compute no tile
  Scheduler,  ///< the scheduling policy chooses freely among CPU and GPU workers
};

/// Options for starting a Runtime. A field that is not set takes the value of its environment variable, or else the
/// default. docs/environment.md has the details.
struct RuntimeOptions {
  int cpus = -1;                               ///< CPU workers; TESSERA_CPUS; default: all cores. With
                                               ///< placement Home or Owner: 1 if there are CUDA GPUs; with OpenCL
                                               ///< devices alone: one for each core that drives no device, if
                                               ///< cores help the GPUs, else 1
  int gpus = -1;                               ///< GPUs; TESSERA_DEVICES=N; default: all. 0: no OpenCL device either
  std::string policy;                          ///< scheduling policy: tessera, one of StarPU's, or one of the library
                                               ///< that STARPU_SCHED_LIB names; TESSERA_POLICY, then STARPU_SCHED;
                                               ///< default: tessera. With another policy, placement Automatic means
                                               ///< Scheduler, but in a StarPU that the program has started, Automatic
                                               ///< and Home mean Owner
  Placement placement = Placement::Automatic;  ///< TESSERA_PLACEMENT=home|owner|scheduler
  Index tile = 0;                              ///< tile size [elements]; TESSERA_TILE; 0: chosen for each call
  std::string trace;                           ///< folder to record a trace in; TESSERA_TRACE; "": none
  std::optional<bool> progress;                ///< calls that take longer than a second show their progress on standard
                                               ///< error; TESSERA_PROGRESS=0|1; default: no. Not in simulated time

  /// Memory for tiles on each GPU [MiB]; TESSERA_GPU_MEMORY; 0: 90 % of what is free at the start. In a StarPU that the
  /// program has started, STARPU_LIMIT_CUDA_MEM is the limit instead.
  Index gpu_memory = 0;

  /// Staging buffers between GPUs and pageable memory [MiB]; TESSERA_PINNED_MEMORY; 0: up to 96 for each GPU.
  Index pinned_memory = 0;

  /// Number of OpenCL devices to compute on, including processors; TESSERA_DEVICES=opencl=N. OpenCL devices replace
  /// CUDA GPUs, unless `cuda` asks for CUDA GPUs, too. Default: the GPUs that OpenCL finds, if CUDA finds none. `gpus`
  /// limits the sum of both kinds; CUDA GPUs come first.
  int opencl = -1;

  /// Which of the `node_parts` equal shares of its node's GPUs this process uses. If there are fewer GPUs than parts,
  /// several processes share a GPU and its memory. A `Grid` sets both fields.
  int node_part = 0;
  int node_parts = 1;  ///< processes on the node

  /// CPU workers if neither `cpus` nor TESSERA_CPUS is set and tiles do not belong to GPUs; -1: one per core. A `Grid`
  /// sets this, to leave a core to the thread that polls the network.
  int cpus_without_gpus = -1;

  /// GPUs that CUDA drives; TESSERA_DEVICES=cuda=N. 0: none. Default: all, or none if `opencl` asks for devices.
  int cuda = -1;
};

/// A device that computes.
struct Device {
  /// The kind of device.
  enum class Kind { Cpu, Gpu };
  Kind kind = Kind::Cpu;   ///< CPU workers, or one GPU
  int id = 0;              ///< CUDA ordinal, or StarPU's number of an OpenCL device; 0 for the CPUs
  int workers = 0;         ///< StarPU workers that drive it
  std::string name;        ///< e.g. "NVIDIA H200"; of an OpenCL device it ends with "(OpenCL)"
  std::size_t memory = 0;  ///< bytes
  bool opencl = false;     ///< whether OpenCL drives the GPU, instead of CUDA
};

/// The bytes copied over one link.
struct LinkTraffic {
  int from = -1;            ///< a GPU, counted from 0 in the order of `devices()`; -1: the host
  int to = -1;              ///< a GPU or the host, as for `from`
  std::uint64_t bytes = 0;  ///< bytes in this direction
};

/// Counts of the policy `tessera`. <tessera/sched.h> documents the members and their units.
using PolicyStatistics = tessera_sched_counts;

/// Counts since the Runtime started or `reset_statistics` was called. The bytes are StarPU's own counts, which StarPU
/// sets to zero whenever they are read. A program that also reads them sees only the bytes since Tessera's last
/// reading, and Tessera's counts lack the bytes that the program has read. With GPUs and `RuntimeOptions::progress`,
/// Tessera also reads them during calls, and StarPU may then miss a tile.
struct Statistics {
  double seconds = 0;                      ///< the time covered; simulated seconds in a simulation
  std::uint64_t tasks = 0;                 ///< tasks submitted by Tessera
  std::uint64_t bytes_h2d = 0;             ///< host to device
  std::uint64_t bytes_d2h = 0;             ///< device to host
  std::uint64_t bytes_d2d = 0;             ///< device to device
  std::vector<LinkTraffic> links;          ///< the same bytes for each link that carried any
  std::optional<PolicyStatistics> policy;  ///< empty: another policy runs
};

/// Starts StarPU, or joins it if the program has already started it. All Runtimes of a process share the session that
/// the first one started; the options of later Runtimes are only checked. Without a Runtime, the first call of a
/// routine starts a session with default options, which lives until the process exits. StarPU stops when the last
/// Runtime, matrix and Grid are destroyed, unless the program started StarPU, or a routine started the session.
///
/// A Runtime installs no signal handlers, and does not change the caller's current CUDA device. Apart from progress, if
/// `progress` asks for it, a Runtime prints only warnings: of a task that cannot fit into a GPU's memory, or of a trace
/// that cannot be written. StarPU's own calibration of links would reset the GPUs, so Tessera measures the links
/// itself, once. The measured rates and all of StarPU's files are in `TESSERA_CACHE_DIR`, else
/// `$XDG_CACHE_HOME/tessera`, else `~/.cache/tessera`. If that folder is not writable, StarPU's files are in a private
/// temporary folder, which is removed with the Runtime. If STARPU_PERF_MODEL_DIR is set, StarPU's files are in that
/// folder, and StarPU calibrates as usual.
///
/// A process that is forked while a Runtime exists cannot use Tessera, because StarPU's threads do not exist there.
/// Functions that would wait throw RuntimeError, and inherited objects are not cleaned up. The process may call `exec`,
/// `exit` and `_exit`.
///
/// While a CPU worker computes a tile, OpenBLAS uses one thread per call; at all other times, it uses as many as the
/// program has set. The threads of a Runtime do not receive the program's signals.
class Runtime {
 public:
  /// @throws RuntimeError   if StarPU cannot start, or within a StarPU task or its callback
  /// @throws ArgumentError  if an option or its environment variable has a value that is not allowed
  explicit Runtime(const RuntimeOptions& options = {});
  /// Waits for all tasks, as `wait` does. Within a StarPU task, this ends the program.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// True if the program itself had started StarPU. It then has also chosen the workers and the policy, not `options`.
  bool joined() const noexcept;

 private:
  std::shared_ptr<detail::Session> session_;
};

/// Waits until all tasks submitted so far have run, including tasks of other threads and of the program itself.
/// Results may still be in a GPU's memory: `Matrix<T>::wait` copies them to the caller's memory. `Submissions` waits
/// only for the calls of one thread.
///
/// Tasks that other threads submit later do not prolong the wait, with one exception: if the program has submitted
/// StarPU tasks of its own since the last wait, or a scheduling context has another policy than `tessera`, the wait
/// ends only when StarPU has no task at all, because StarPU counts all tasks together. In a context without any policy,
/// the program's tasks may still run.
///
/// @throws RuntimeError if a tile operation has failed since the last such wait and the failure has not been reported
///         by a routine on pointers or a wait for the matrix or its `Submissions`; or within a StarPU task
void wait();

/// Waits for the work queued so far on a CUDA stream, so that operands that this work computes in GPU memory are ready
/// for the next call. Calls wait for the legacy default stream themselves.
/// @throws RuntimeError if that work has failed, or Tessera was built without CUDA
void after(CUstream_st* stream);

/// Devices in use, CPUs first. This and the following functions, except `starpu_version`, start a Runtime if there is
/// none.
std::vector<Device> devices();

/// GPUs that were found but are not used, each with the reason. If CUDA's driver cannot be used, one entry says why.
std::vector<std::string> unused_devices();

int cpu_workers();      ///< CPU workers in use
int gpu_count();        ///< GPUs in use
Placement placement();  ///< how tiles are placed; never Automatic
std::string policy();   ///< the scheduling policy that runs

/// The version of StarPU, e.g. "1.4.10".
std::string starpu_version();

Statistics statistics();  ///< since the start, or the last `reset_statistics`
void reset_statistics();  ///< starts counting from zero

/// Stops recording the trace of `RuntimeOptions::trace`. Waits for everything submitted. Does nothing if no trace is
/// recorded. Do not call this while another thread submits tasks.
void pause_recording();
/// Continues recording after `pause_recording`, under the same conditions.
void resume_recording();

}  // namespace tessera

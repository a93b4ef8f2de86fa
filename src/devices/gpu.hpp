// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blas/call.hpp"
#include "common/not_copyable.hpp"

struct CUctx_st;
struct CUstream_st;

/// Tessera's use of GPUs outside the codelets. cuda/ implements it with CUDA, cpu/no_gpu.cpp without GPUs, and
/// simulated/described_gpu.cpp for a described machine. No function changes the calling thread's current device.
namespace tessera::device::gpu {

struct Info {
  int ordinal = 0;
  std::string name;
  std::size_t memory = 0;  ///< bytes
  std::size_t free = 0;    ///< bytes that were free when the device was probed
  bool opencl = false;     ///< an OpenCL device with StarPU's number `ordinal`; otherwise a CUDA device
  bool of_nvidia = false;  ///< an OpenCL device that may be a GPU that CUDA also drives
};

/// The usable devices, and for each other device the reason why it is not usable. Without CUDA, a single reason.
struct Probe {
  std::vector<Info> usable;
  std::vector<std::string> unusable;
};
/// Probes devices from `first` on until `wanted` are usable; -1: probes all. Creates a CUDA context on each of them.
Probe probe(int wanted, int first = 0);

/// The names of all devices that the driver lists, usable or not. Creates no context.
std::vector<std::string> visible_devices();

/// The PCI address of a device, such as "0000:3b:00.0"; empty if unknown. Creates no context.
std::string pci_address(int device);

/// The state of a device that affects measured rates.
struct State {
  /// Driver, CUDA version, and the clock and power limits, as far as they are known, such as "driver 580.65.06, CUDA
  /// 13.0, 1980 MHz, 700 W"
  std::string conditions;
  bool busy = false;  ///< another process computes on it, so current measurements must not be cached
};
State state(int device);

/// Restores the calling thread's current device in the destructor, and the context in which it worked. If it worked in
/// none, creates none unless CUDA can restore the device in no other way.
class KeepCurrentDevice : common::NotCopyable {
 public:
  KeepCurrentDevice();
  ~KeepCurrentDevice();

 private:
  int device_ = -1;
  CUctx_st* context_ = nullptr;
};

/// Lets a device access a peer's memory from now on.
/// @return  whether it can
bool enable_access(int device, int peer);

/// Rates of copies between pinned host memory and the devices, and between devices [bytes/s].
struct LinkRates {
  std::vector<double> h2d, d2h;               ///< rates of each device when it copies alone
  std::vector<double> latency;                ///< seconds, host to device
  std::vector<std::vector<double>> peer;      ///< [from][to]
  double h2d_together = 0, d2h_together = 0;  ///< total while all devices copy at the same time
  double both_together = 0;                   ///< total while all of them copy in both directions
  double peers_together = 0;                  ///< total that a device sends to all others at once; 0: there is no other
};

/// Measures the links with copies of `bytes` bytes. A few dozen MiB give a good estimate. Does not reset any device.
/// @throws RuntimeError if a device does not have enough free memory
LinkRates measure_links(const std::vector<int>& devices, std::size_t bytes);

/// Total rates of links while all of them are in use, and all devices compute [bytes/s].
struct BusyLinks {
  double in = 0, out = 0;  ///< in one direction
  double both = 0;         ///< the sum of both directions at once
};

/// The links between pinned host memory and all devices: copies blocks of `bytes` bytes for `seconds` in each
/// direction, then in both directions, while the devices multiply matrices of order n.
/// @throws RuntimeError if a device does not have enough free memory
BusyLinks measure_busy_links(const std::vector<int>& devices, int n, std::size_t bytes, double seconds);

/// The same for the links between the first device and all others, seen from the others: `in` is from the first device.
/// Zeros if there are no others.
/// @param n  0: the devices compute nothing in the meantime
BusyLinks measure_links_of_first(const std::vector<int>& devices, int n, std::size_t bytes, double seconds);

/// The rate at which all devices together copy from and to pinned memory at the same time [bytes/s].
/// @throws RuntimeError if a device does not have enough free memory
double rate_of_pinned(void* data, std::size_t bytes, const std::vector<int>& devices);

/// Whether this host memory is pinned, no matter who pinned it. Devices access pinned memory at full speed. False if
/// only parts of it are pinned, or parts separately: CUDA refuses to copy such memory.
bool is_pinned(const void* data, std::size_t bytes = 1);

/// CUDA's number of the device whose memory this is; empty: the host can access it.
std::optional<int> device_of(const void* data);

/// Waits for all work queued on the legacy default stream of a device.
/// @throws RuntimeError if that work has failed
void wait_for_default_stream(int device);
/// Waits for all work queued on a stream of the program, of any device.
/// @throws RuntimeError if that work has failed, or without CUDA
void wait_for_stream(CUstream_st* stream);

/// Lets other devices access memory of a device from a memory pool, as used by cudaMallocAsync. Without this, CUDA
/// refuses to copy such memory to other devices. Does nothing for other memory, and for devices without a direct link.
/// @throws RuntimeError
void share_pool(const void* data, int device, std::span<const int> devices);

/// Copies columns of `height` bytes between memories of any kind, at least one of them a device's, and waits for the
/// end.
/// @throws RuntimeError
void copy_columns(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t height,
                  std::size_t columns);

/// In the calling thread, computes a call of gemm whose operands are all in the memory of one device, and waits for the
/// end. One kernel is as fast as several tiles, and a task would start and end later.
/// @pre  the call is column-major, reads its inputs and obeys the rules of the BLAS
/// @return  false if nothing has been done: it is another routine, or tasks must compute it
/// @throws RuntimeError
bool compute_product(const blas::Call& call, int device);

/// Whether any device exists for which host memory can be pinned. Creates no context.
bool can_pin();

/// Seconds of one n×n×n product on data in device memory, while all `devices` compute at the same time. After a
/// warm-up, it averages over about `seconds`, and at least one product.
/// @param type  s, d, c or z
/// @throws RuntimeError if a device does not have enough free memory
double product_seconds(char type, const std::vector<int>& devices, int n, double seconds);

/// Seconds of the kernel of one n×n×n product on an idle device, the minimum of a few runs. The device's own clock
/// measures them, so load on the host does not matter.
/// @throws RuntimeError if the device does not have enough free memory
double kernel_seconds(char type, int device, int n);

/// The memory bandwidth of a device: bytes read plus bytes written by a copy within it [bytes/s].
/// @throws RuntimeError if the device has no room for two blocks of `bytes` bytes
double memory_rate(int device, std::size_t bytes);

/// Seconds to copy one column of a tile to a device, out of a larger matrix in pinned memory. Short columns do not
/// reach the rate of the link, least of all while the device computes.
/// @param bytes            sizes of columns, at most `apart` each
/// @param apart            distance between the starts of two columns [bytes], at most `measured_apart`
/// @param beside_products  whether the device computes at the same time
/// @returns the seconds for each size
/// @throws RuntimeError if the device does not have enough free memory
std::vector<double> column_seconds(int device, const std::vector<std::size_t>& bytes, std::size_t apart,
                                   bool beside_products);
inline constexpr std::size_t measured_apart = std::size_t{1} << 17;

/// Whether the current GPU can factorize a panel and compute products at the same time; on a simulated machine, whether
/// the first GPU can. See lanes.hpp.
bool factorizes_beside_products();

/// Pins memory of the caller during the lifetime of this object, so that devices access it at full speed.
class PinnedMemory : common::NotCopyable {
 public:
  /// @param device  one of those that use the memory; CUDA creates a context on it. Empty: the current device
  /// @throws RuntimeError
  PinnedMemory(void* data, std::size_t bytes, std::optional<int> device = {});
  ~PinnedMemory();

 private:
  void* data_;
  int device_ = 0;
};

/// Memory of a device, or managed memory, which the host and all devices can access.
class Allocation : common::NotCopyable {
 public:
  /// @param device  empty: managed memory
  /// @throws RuntimeError if it cannot be allocated
  Allocation(std::optional<int> device, std::size_t bytes);
  ~Allocation();
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  int device_ = 0;  ///< the current device when this was allocated, which has a context
};

}  // namespace tessera::device::gpu

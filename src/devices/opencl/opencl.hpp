// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "devices/gpu.hpp"

/// OpenCL devices, outside the codelets. Devices are identified by StarPU's numbers. A build without OpenCL finds no
/// devices.
namespace tessera::device::opencl {

enum class Kinds {
  Gpus,  ///< GPUs and accelerators
  All,   ///< also processors, for tests
};

/// The number of devices that StarPU lists in this process, whether or not it uses them. StarPU lists the devices once
/// per process. Call this function or `probe` before `counts_processors`, which says whether the list includes
/// processors.
int device_count();
bool counts_processors();

/// Tests devices until `wanted` have passed in double and in single precision; -1 tests all. Devices that fail are
/// `unusable`, with the reason. If processors are asked for, finding no device at all is also reported. The first call
/// in a process compiles the kernels of the test, which may take seconds.
/// @param beside_cuda  whether the session also has CUDA GPUs: see `order_of_asking`
gpu::Probe probe(int wanted, Kinds kinds, bool beside_cuda = false);

/// GPUs that CUDA cannot drive because they are not NVIDIA's, as "OpenCL device 1, NAME". Only for display.
std::vector<std::string> gpus_of_other_makers();

/// The PCI address of a device, such as "0000:3b:00.0"; empty if the driver does not report it.
std::string pci_address(int device);

/// The versions of device and driver, and whether copies use pinned memory. Measured rates are valid only under these
/// conditions.
std::string conditions(int device);

/// Seconds of one n×n×n product on data in device memory, the minimum of a few runs.
/// @param type  s, d, c or z
/// @throws RuntimeError if the device fails
double kernel_seconds(char type, int device, int n);

/// Rates of copies between host memory and the device [bytes/s].
struct LinkRates {
  double to_device, from_device;
};
/// Measures the link as tiles use it: with pinned memory if the device gains from it, otherwise with pageable memory.
/// @throws RuntimeError if the device fails
LinkRates measure_link(int device);

/// Whether an address is a cl_mem, and not the address of elements. Drivers are asked only if it looks like a cl_mem.
/// @pre  at least 8 bytes at the address can be read
bool is_buffer(const void* data);

/// @throws RuntimeError if the running StarPU has another device under this number
void require_same_device(int device);

}  // namespace tessera::device::opencl

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "gpu.hpp"

/// OpenCL devices, outside the codelets. Numbers of devices are StarPU's. A build without OpenCL has no devices, and
/// none of the measurements.
namespace tessera::opencl {

enum class Kinds {
  Gpus,  ///< GPUs and accelerators
  All,   ///< processors as well, for tests
};

/// How many devices StarPU counts in this process, whether it uses them or not. StarPU lists the devices once for a
/// process, and counts processors only if it is told to: `counts_processors` after the first call of this or of
/// `probe`.
int device_count();
bool counts_processors();

/// Asks the devices until `wanted` have passed a test in double and in single precision; -1: all. The others are
/// `unusable`, with the reason; with processors, also that there is no device. The first call in a process compiles the
/// kernels of the test, which may take seconds.
/// @param beside_cuda  for a session with GPUs of CUDA: see `order_of_asking`
gpu::Probe probe(int wanted, Kinds kinds, bool beside_cuda = false);

/// The GPUs that CUDA cannot drive, since NVIDIA has not made them, as "OpenCL device 1, NAME". They are only listed.
std::vector<std::string> gpus_of_other_makers();

/// The address of a device on the PCI bus, as "0000:3b:00.0"; empty if its driver does not tell.
std::string pci_address(int device);

/// The versions of device and driver, and whether copies use pinned memory: measured rates hold for these only.
std::string conditions(int device);

/// Seconds of one n×n×n product on data in device memory: the best of a few.
/// @param type  s, d, c or z
/// @throws RuntimeError if the device fails
double kernel_seconds(char type, int device, int n);

/// Rates of copies between host memory and the device [bytes/s].
struct LinkRates {
  double to_device, from_device;
};
/// Measures the link as tiles use it: from and to pinned memory if the device gains from that, else pageable memory.
/// @throws RuntimeError if the device fails
LinkRates measure_link(int device);

/// Throws RuntimeError if the running StarPU has another device under this number.
void require_same_device(int device);

}  // namespace tessera::opencl

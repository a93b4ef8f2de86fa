// SPDX-License-Identifier: BSD-3-Clause
// Finds out which OpenCL devices can be used.
#include <starpu.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "found_devices.hpp"
#include "kernels.hpp"
#include "order_of_asking.hpp"

namespace tessera::device::opencl {

namespace {

/// Small whole numbers, whose products are exact in any order.
template <Scalar T>
std::vector<T> whole_numbers(std::size_t count, int step) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; i++) values[i] = static_cast<T>(static_cast<int>(i) * step % 11 - 5);
  return values;
}

template <Scalar T>
void write(cl_command_queue queue, const Buffer& buffer, const std::vector<T>& values) {
  require(clEnqueueWriteBuffer(queue, buffer.get(), CL_TRUE, 0, values.size() * sizeof(T), values.data(), 0, nullptr,
                               nullptr),
          "a copy to an OpenCL device");
}

/// Whether C ← 2 C, C ← A B + C and C ← A + C give the right numbers.
template <Scalar T>
bool computes(cl_context context, cl_device_id device) {
  constexpr int n = 40;
  constexpr std::size_t elements = n * n, bytes = elements * sizeof(T);
  const auto A = whole_numbers<T>(elements, 3), B = whole_numbers<T>(elements, 7), C = whole_numbers<T>(elements, 5);
  const auto queue = new_queue(context, device);
  const auto a = new_buffer(context, bytes), b = new_buffer(context, bytes), c = new_buffer(context, bytes);
  write(queue.get(), a, A), write(queue.get(), b, B), write(queue.get(), c, C);
  const Kernels<T> kernels(context, device);
  const Place in_a{a.get(), 0, n}, in_b{b.get(), 0, n}, in_c{c.get(), 0, n};
  require(kernels.scale(queue.get(), {n, n}, T(2), in_c), "scaling a matrix");
  if (gemm<T>(queue.get(), Op::NoTrans, Op::NoTrans, n, n, n, T(1), in_a, in_b, T(1), in_c) !=
      clblast::StatusCode::kSuccess)
    return false;
  require(kernels.add(queue.get(), {n, n}, in_a, T(1), in_c), "adding two matrices");
  std::vector<T> found(elements);
  require(clEnqueueReadBuffer(queue.get(), c.get(), CL_TRUE, 0, bytes, found.data(), 0, nullptr, nullptr),
          "a copy from an OpenCL device");
  for (std::size_t j = 0; j < n; j++)
    for (std::size_t i = 0; i < n; i++) {
      T sum = 2 * C[i + j * n] + A[i + j * n];
      for (std::size_t k = 0; k < n; k++) sum += A[i + k * n] * B[k + j * n];
      if (!(found[i + j * n] == sum)) return false;
    }
  return true;
}

/// Why a device cannot be used; empty if it can.
std::string fault(cl_device_id device) {
  if (value_of<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) == 0) return "it has no double precision";
  try {
    const auto context = new_context(device);
    for (const bool right : {computes<double>(context.get(), device), computes<float>(context.get(), device)})
      if (!right) return "a product of matrices was wrong in a test at the start";
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return {};
}

/// The fault of a device, which is tested once per process.
const std::string& known_fault(cl_device_id device) {
  static std::mutex mutex;
  static std::map<cl_device_id, std::string> faults;
  const std::lock_guard lock(mutex);
  const auto known = faults.find(device);
  return known != faults.end() ? known->second : faults.emplace(device, fault(device)).first->second;
}

/// The memory that tiles may use. A processor leaves part of the host's memory to others.
std::size_t memory_of(cl_device_id device, std::size_t devices) {
  const auto bytes = static_cast<std::size_t>(value_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  return is_processor(device) ? bytes / (2 * devices) : bytes;
}

bool is_of_nvidia(cl_device_id device) {
  constexpr cl_uint nvidia = 0x10de;  // PCI vendor ID
  return value_of<cl_uint>(device, CL_DEVICE_VENDOR_ID) == nvidia;
}

std::string name_of(cl_device_id device) { return text_of(device, CL_DEVICE_NAME) + " (OpenCL)"; }

std::string number_and_name(int number) {
  return "OpenCL device " + std::to_string(number) + ", " + name_of(device(number));
}

}  // namespace

gpu::Probe probe(int wanted, Kinds kinds, bool beside_cuda) {
  gpu::Probe found;
  const auto& devices = listed(kinds);
  if (kinds == Kinds::All && !counts_processors())
    found.unusable.emplace_back("StarPU has listed the OpenCL devices of this process without the CPUs");
  else if (kinds == Kinds::All && devices.empty()) found.unusable.emplace_back("no OpenCL platform has a device");
  std::vector<DeviceOf> makers;
  for (auto* const device : devices)
    makers.push_back(is_processor(device)   ? DeviceOf::Processor
                     : is_of_nvidia(device) ? DeviceOf::Nvidia
                                            : DeviceOf::OtherMaker);
  for (const int number : order_of_asking(makers, beside_cuda)) {
    if (wanted >= 0 && std::ssize(found.usable) >= wanted) break;
    auto* const device = devices[static_cast<std::size_t>(number)];
    if (kinds == Kinds::Gpus && is_processor(device)) continue;
    const auto memory = memory_of(device, devices.size());
    if (const auto& why = known_fault(device); why.empty())
      found.usable.push_back({number, name_of(device), memory, memory, true, is_of_nvidia(device)});
    else found.unusable.push_back(number_and_name(number) + ": " + why);
  }
  return found;
}

std::vector<std::string> gpus_of_other_makers() {
  std::vector<std::string> names;
  for (int number = 0; number < device_count(); number++)
    if (auto* const id = device(number); !is_processor(id) && !is_of_nvidia(id))
      names.push_back(number_and_name(number));
  return names;
}

std::string conditions(int number) {
  auto* const id = device(number);
  return text_of(id, CL_DEVICE_VERSION) + ", driver " + text_of(id, CL_DRIVER_VERSION) +
         (gains_from_pinned_memory(id) ? ", pinned memory" : "");
}

void require_same_device(int number) {
  cl_device_id of_starpu = nullptr;
  starpu_opencl_get_device(number, &of_starpu);
  if (of_starpu != device(number))
    throw RuntimeError(
        "StarPU numbers the OpenCL devices in another way: the program has started StarPU before with "
        "other values of STARPU_OPENCL_ON_CPUS or STARPU_OPENCL_ONLY_ON_CPUS");
}

}  // namespace tessera::device::opencl

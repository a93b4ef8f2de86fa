// SPDX-License-Identifier: BSD-3-Clause
#include "workers.hpp"

#include <starpu.h>
#include <starpu_opencl.h>

#include <array>
#include <complex>
#include <memory>
#include <string_view>

#include "common/failure.hpp"

namespace tessera::device::opencl {

namespace {

std::array<std::unique_ptr<Worker>, STARPU_NMAXWORKERS> workers;

std::unique_ptr<Worker>& mine() { return workers[static_cast<std::size_t>(starpu_worker_get_id_check())]; }

void create(void* /*unused*/) {
  try {
    mine() = std::make_unique<Worker>(starpu_worker_get_devid(starpu_worker_get_id_check()));
  } catch (const std::exception& error) {  // must not propagate through StarPU
    common::report_failure(error.what());
  }
}

void destroy(void* /*unused*/) { mine().reset(); }

cl_context context_of(int device) {
  cl_context context = nullptr;
  starpu_opencl_get_context(device, &context);
  return context;
}
cl_device_id id_of(int device) {
  cl_device_id id = nullptr;
  starpu_opencl_get_device(device, &id);
  return id;
}
cl_command_queue queue_of(int device) {
  cl_command_queue queue = nullptr;
  starpu_opencl_get_queue(device, &queue);
  return queue;
}

/// Whether PoCL drives the device.
bool is_of_pocl(cl_device_id device) {
  cl_platform_id platform = nullptr;
  char name[64] = "";  // a longer name is not PoCL's, and leaves this empty
  return clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), static_cast<void*>(&platform), nullptr) ==
             CL_SUCCESS &&
         clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr) == CL_SUCCESS &&
         std::string_view(name) == "Portable Computing Language";
}

template <Scalar T>
Kernels<T> kernels_for(int device) {
  return Kernels<T>(context_of(device), id_of(device));
}

}  // namespace

Worker::Worker(int device)
    : queue(queue_of(device)),
      kernels(kernels_for<float>(device), kernels_for<double>(device), kernels_for<std::complex<float>>(device),
              kernels_for<std::complex<double>>(device)),
      square(new_buffer(context_of(device), std::size_t{leaf} * leaf * sizeof(std::complex<double>))),
      takes_turns_(is_of_pocl(id_of(device))), context_(context_of(device)) {}

cl_mem Worker::workspace(std::size_t bytes) const {
  if (bytes == 0) return nullptr;
  if (bytes > workspace_bytes_) {
    workspace_.reset();  // frees the old workspace before the new one is allocated
    workspace_.reset(clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, nullptr));
    workspace_bytes_ = workspace_ == nullptr ? 0 : bytes;
  }
  return workspace_.get();
}

std::unique_lock<std::mutex> Worker::turn() const {
  static std::mutex turns;
  return takes_turns_ ? std::unique_lock(turns) : std::unique_lock<std::mutex>();
}

void create_workers() {
  const auto before = common::stray_failures();
  starpu_execute_on_each_worker(create, nullptr, STARPU_OPENCL);
  if (common::stray_failures() != before) throw RuntimeError(common::last_stray_failure());
}

void destroy_workers() {
  starpu_execute_on_each_worker(destroy, nullptr, STARPU_OPENCL);
  clblast::ClearCache();  // the cached programs belong to StarPU's contexts, which end with the session
}

const Worker& local_worker() { return *mine(); }

}  // namespace tessera::device::opencl

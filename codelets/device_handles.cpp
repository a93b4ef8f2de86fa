// SPDX-License-Identifier: BSD-3-Clause
#include "device_handles.hpp"

#include <starpu.h>

#include <array>
#include <tessera/error.hpp>

#include "kernel.hpp"

namespace tessera::device {

namespace {

std::array<cublasHandle_t, STARPU_NMAXWORKERS> handles{};

cublasHandle_t& mine() { return handles[static_cast<std::size_t>(starpu_worker_get_id_check())]; }

void create(void* /*unused*/) {
  codelets::check("cublasCreate", cublasCreate(&mine()));
  if (mine() != nullptr) codelets::check("cublasSetStream", cublasSetStream(mine(), starpu_cuda_get_local_stream()));
}

void destroy(void* /*unused*/) {
  if (mine() != nullptr) cublasDestroy(mine());
  mine() = nullptr;
}

}  // namespace

void create_handles() {
  const auto before = codelets::failure_count();
  starpu_execute_on_each_worker(create, nullptr, STARPU_CUDA);
  if (codelets::failure_count() != before) throw RuntimeError(codelets::last_failure());
}

void destroy_handles() { starpu_execute_on_each_worker(destroy, nullptr, STARPU_CUDA); }

cublasHandle_t local_handle() { return mine(); }

}  // namespace tessera::device

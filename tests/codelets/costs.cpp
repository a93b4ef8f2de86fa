// SPDX-License-Identifier: BSD-3-Clause
// The cost function of the codelets knows what the plan knows.
#include <starpu.h>

#include <gtest/gtest.h>

#include <vector>

#include <tessera/blas.hpp>

#include "plan/machine_model.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::test::costs_cpp {
namespace {

TEST(Costs, OfTasksAreThoseOfThePlan) {
  constexpr Index n = 64;
  const std::vector<double> A(n * n, 1);
  auto C = A;
  gemm<double>(Op::NoTrans, Op::NoTrans, n, n, n, 1, A.data(), n, A.data(), n, 0, C.data(), n);
  const auto session = runtime::session();
  const auto& machine = session->machine();
  const auto& model = plan::model_of(machine, 'd');
  const device::Work panel{.flops = 2e8, .type = 'd', .rows = 4000, .columns = 200, .moved = 1e6};
  const plan::TaskWork same{.flops = 2e8, .panel = {4000, 200, 1e6}};
  for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); worker++) {
    const auto type = starpu_worker_get_type(worker);
    const bool is_core = type == STARPU_CPU_WORKER;
    const auto& device = is_core ? model.core : type == STARPU_CUDA_WORKER ? model.gpus.front() : model.gpus.back();
    for (const char* const operation : {"getrf", "gemm", "trsm"})
      EXPECT_DOUBLE_EQ(plan::expected_seconds(operation, panel, worker),
                       device.task_seconds(operation, same, sizeof(double)))
          << operation << " on worker " << worker;
    if (is_core) EXPECT_GT(plan::expected_seconds("gemm", panel, worker), 0);
  }
  for (const auto& workers : machine.gpu_workers)
    for (const char type : {'s', 'c', 'z'}) {
      const device::Work product{.flops = 2e8, .type = type};
      EXPECT_GT(plan::expected_seconds("gemm", product, workers.front()), 0) << "before the first call, type " << type;
    }
}

}  // namespace
}  // namespace tessera::test::costs_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Sessions on OpenCL devices. CMakeLists.txt provides two.
#include <starpu.h>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu_workers.hpp"
#include "devices/opencl/opencl.hpp"
#include "support/environment.hpp"
#include "support/error_of.hpp"
#include "support/gate.hpp"
#include "support/operands.hpp"
#include "support/random_vector.hpp"
#include "support/refused.hpp"
#include "support/starpu.hpp"
#include "support/tasks_of.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

RuntimeOptions alone() {
  RuntimeOptions options;
  options.cpus = 0;
  return options;
}

/// A product of several tiles on each device.
template <Scalar T>
void expect_right_product(Index size = 200, TileSize tile = {64, 64}) {
  auto before = integer_call(routine<T>("gemm"), {.op_b = Op::Trans}, {size, size, size}, 1, T(1), T(2)),
       after = before;
  {
    const auto a = tiled(after.A, tile), b = tiled(after.B, tile), c = tiled(after.C, tile);
    gemm<T>(Op::NoTrans, Op::Trans, T(1), a, b, T(2), c);
    c.wait();
  }
  EXPECT_TRUE(result_is_exact(before, after));
}

TEST(OpenCl, DevicesAreUsedAndDescribed) {
  const Runtime runtime(alone());
  ASSERT_EQ(gpu_count(), 2);
  EXPECT_EQ(cpu_workers(), 0);
  EXPECT_EQ(placement(), Placement::Home);
  const auto all = devices();
  ASSERT_EQ(all.size(), 3u);
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(all[i].kind, Device::Kind::Gpu);
    EXPECT_EQ(all[i].workers, 1);
    EXPECT_GT(all[i].memory, std::size_t{1} << 26);
    EXPECT_TRUE(all[i].name.ends_with("(OpenCL)")) << all[i].name;
  }
  EXPECT_EQ(device::gpu_workers::count(), 2u);
}

TEST(OpenCl, BuffersOfTheProgramAreRefused) {
  const Runtime runtime(alone());
  constexpr Index n = 4;
  cl_platform_id platform = nullptr;
  ASSERT_EQ(clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
  cl_device_id device = nullptr;
  ASSERT_EQ(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), CL_SUCCESS);
  auto* const context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, n * n * sizeof(double), nullptr, nullptr);
  ASSERT_NE(buffer, nullptr);
  auto* const data = reinterpret_cast<double*>(buffer);
  std::vector<double> A(n * n, 1), C = A;
  const auto problem = "is a cl_mem of the program";
  expect_refused<ArgumentError>(
      [&] { gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1.0, A.data(), n, data, n, 0.0, C.data(), n); }, "gemm", 9, "B",
      problem);
  expect_refused<ArgumentError>([&] { potrf(Uplo::Lower, n, data, n); }, "potrf", 3, "A", problem);
  expect_refused<ArgumentError>([&] { const Matrix<double> matrix(data, n, n, n); }, "Matrix", 1, "data", problem);
  clReleaseMemObject(buffer);
  clReleaseContext(context);
}

TEST(OpenCl, EachDeviceComputesAPart) {
  const Runtime runtime(alone());
  reset_statistics();
  expect_right_product<double>();
  const auto moved = statistics();
  constexpr std::uint64_t matrix = sizeof(double) * 200 * 200;
  EXPECT_GE(moved.bytes_h2d, 3 * matrix);
  EXPECT_GE(moved.bytes_d2h, matrix);
  EXPECT_EQ(moved.bytes_d2d, 0u) << "they are no peers";
  for (const int device : {0, 1})
    for (const bool in : {true, false})
      EXPECT_TRUE(std::ranges::any_of(moved.links, [&](const LinkTraffic& link) {
        return link.from == (in ? -1 : device) && link.to == (in ? device : -1);
      })) << device;
}

/// An update of a triangle of large tiles. Tiles on the diagonal are copied in parts; the other triangle does not
/// change.
void expect_right_triangle() {
  auto before = integer_call(routine<double>("syrk"), {}, {700, 700, 100}, 1, 1.0, 2.0), after = before;
  syrk<double>(Uplo::Lower, Op::NoTrans, 700, 100, 1.0, after.A.data(), after.A.ld(), 2.0, after.C.data(),
               after.C.ld());
  EXPECT_TRUE(result_is_exact(before, after));
}

TEST(OpenCl, CopiesMayGoThroughPinnedMemory) {
  for (const char* pinned : {"0", "1"})
    for (const char* limit : {"0", "1"}) {  // MiB: enough only for the threads that drive the devices
      const Environment environment{{"TESSERA_OPENCL_PINNED", pinned}, {"TESSERA_PINNED_MEMORY", limit}};
      auto options = alone();
      options.tile = 300;
      const Runtime runtime(options);
      expect_right_product<double>(700, {300, 300});
      expect_right_triangle();
    }
}

TEST(OpenCl, AColumnMayBeLargerThanAPinnedBuffer) {
  const Environment environment{{"TESSERA_OPENCL_PINNED", "1"}};
  const Runtime runtime(alone());
  constexpr Index m = (Index{2} << 20) / sizeof(double) + 1;
  auto before = integer_call(routine<double>("gemm"), {}, {m, 2, 2}, 1, 1.0, 2.0), after = before;
  {
    const TileSize tile{m, 1};
    const auto a = tiled(after.A, tile), c = tiled(after.C, tile), b = tiled(after.B, {1, 1});
    gemm<double>(Op::NoTrans, Op::NoTrans, 1.0, a, b, 2.0, c);
    c.wait();
  }
  EXPECT_TRUE(result_is_exact(before, after));
}

/// If the devices did not take turns, PoCL would end the process.
TEST(OpenCl, TwoDevicesMayRunAKernelOnMoreAndMoreElements) {
  const Runtime runtime(alone());
  constexpr int count = 40;
  std::vector<Call<double>> calls;
  for (int i = 1; i <= count; i++)
    calls.push_back(integer_call(routine<double>("gemm"), {}, {16 * i, 2, 0}, 1, 1.0, 2.0));
  auto after = calls;
  std::vector<Matrix<double>> results;
  for (auto& call : after) {
    const auto a = tiled(call.A, {16, 1}), b = tiled(call.B, {16, 1});
    auto& c = results.emplace_back(tiled(call.C, {call.C.m(), 1}));
    gemm<double>(Op::NoTrans, Op::NoTrans, 1.0, a, b, 2.0, c);
  }
  for (auto& c : results) c.wait();
  for (std::size_t i = 0; i < calls.size(); i++) EXPECT_TRUE(result_is_exact(calls[i], after[i])) << i;
}

TEST(OpenCl, PinnedMemoryIsSetByZeroOrOne) {
  const Environment environment{{"TESSERA_OPENCL_PINNED", "yes"}};
  EXPECT_THAT(error_of([] { const Runtime runtime(alone()); }),
              ::testing::HasSubstr("TESSERA_OPENCL_PINNED is 'yes', must be 0 or 1"));
  EXPECT_EQ(starpu_is_initialized(), 0);
}

TEST(OpenCl, SessionsMayFollowOneAnother) {
  for (const char* count : {"1", "2", "1"}) {
    const Environment environment{{"TESSERA_DEVICES", ("opencl=" + std::string(count)).c_str()}};
    const Runtime runtime(alone());
    EXPECT_EQ(gpu_count(), count[0] - '0');
    expect_right_product<double>();
  }
  const Environment none{{"TESSERA_DEVICES", "none"}, {"TESSERA_CPUS", "2"}};
  const Runtime runtime;
  EXPECT_EQ(gpu_count(), 0);
  expect_right_product<double>();
}

// StarPU keeps this table for the whole process.
TEST(OpenCl, ASessionKnowsNoDirectLinksOfTheOneBefore) {
  {
    const Runtime runtime(alone());
    ASSERT_GT(starpu_bus_get_count(), 0);
    starpu_bus_set_direct(0, 1);
  }
  const Runtime runtime(alone());
  EXPECT_EQ(starpu_bus_get_direct(0), 0);
}

TEST(OpenCl, AndCpuWorkersShareACallIfThePolicyMay) {
  RuntimeOptions options;
  options.cpus = 1, options.placement = Placement::Scheduler;
  const Runtime runtime(options);
  EXPECT_EQ(gpu_count(), 2);
  for (int repeat = 0; repeat < 5; repeat++) expect_right_product<double>(300, {32, 32});
}

TEST(OpenCl, OperandsMayBeLargerThanTheMemory) {
  auto options = alone();
  options.gpu_memory = 1;  // MiB, while the operands need 12
  const Runtime runtime(options);
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    if (device::gpu_workers::is_gpu_memory(node)) {
      EXPECT_EQ(starpu_memory_get_total(node), 1 << 20);
    }
  }
  expect_right_product<double>(700, {128, 128});
  EXPECT_GT(statistics().bytes_h2d, std::uint64_t{3} * 700 * 700 * sizeof(double)) << "tiles came again";
}

TEST(OpenCl, RightHandSidesAreAsNarrowAsThePanelsThatFit) {
  RuntimeOptions options;
  options.cpus = 1, options.gpu_memory = 1;  // MiB
  const Runtime runtime(options);
  constexpr Index m = 3000, n = 30, nrhs = 100;
  auto A = random_matrix<double>(5, m, n);
  HostMatrix<double> B(m, nrhs);  // the sums of the rows, so that the solution has ones only
  for (Index i = 0; i < m; i++)
    for (Index j = 0; j < nrhs; j++) {
      B(i, j) = 0;
      for (Index k = 0; k < n; k++) B(i, j) += A(i, k);
    }
  EXPECT_EQ(gels<double>(Op::NoTrans, m, n, nrhs, A.data(), A.ld(), B.data(), B.ld()), 0);
  for (Index i = 0; i < n; i++) ASSERT_NEAR(B(i, nrhs - 1), 1, 1e-10) << i;
}

// StarPU ends the process if too many requests wait for the same copy to the host.
TEST(OpenCl, ATileOnItsWayToTheHostMayHaveManyReadersOnTheOtherDevice) {
  const Environment environment{{"TESSERA_SCHED", "-write-back"}};  // the copy begins when the tile is acquired
  const Runtime runtime(alone());
  auto codelet = *work_codelet();
  codelet.opencl_funcs[0] = codelet.cpu_funcs[0];
  std::array<int, 2> workers{};
  starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, workers.data(), 2);
  const auto submit_on = [&](std::size_t device, starpu_task* task) {
    task->cl = &codelet;
    submit(only_on(workers[device], task));
  };
  constexpr std::size_t readers = 4 * STARPU_MAXNODES;  // a device reserves half of them
  const Numbers tile;
  const std::deque<Numbers> results(readers);
  submit_on(0, task_of([](void**) {}, {{tile.handle(), STARPU_RW}}));
  starpu_task_wait_for_all();
  std::array<Gate, 2> busy, free;
  for (std::size_t device : {0, 1}) {
    submit_on(device, task_of([&, device](void**) { busy[device].open(), free[device].wait(); }));
    busy[device].wait();
  }
  starpu_data_acquire_on_node_cb(
      tile.handle(), STARPU_MAIN_RAM, STARPU_R,
      [](void* handle) { starpu_data_release_on_node(static_cast<starpu_data_handle_t>(handle), STARPU_MAIN_RAM); },
      tile.handle());
  for (const auto& result : results)
    submit_on(1, task_of([](void**) {}, {{tile.handle(), STARPU_R}, {result.handle(), STARPU_RW}}));
  free[1].open();
  const unsigned node = starpu_worker_get_memory_node(static_cast<unsigned>(workers[1]));
  const auto requested = [&] { return starpu_data_is_on_node(results[STARPU_MAXNODES].handle(), node) != 0; };
  for (int i = 0; i < 50000 && !requested(); i++) usleep(1000);
  EXPECT_TRUE(requested());
  free[0].open();
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
}

TEST(OpenCl, MoreDevicesThanThereAreIsRefused) {
  const auto refuse = [](const RuntimeOptions& options, const char* argument, const char* problem) {
    try {
      const Runtime runtime(options);
      ADD_FAILURE() << "started";
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.argument(), argument);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(problem));
    }
    EXPECT_EQ(starpu_is_initialized(), 0);
  };
  auto options = alone();
  options.opencl = 9;
  refuse(options, "opencl", "is 9, but this machine has 2 OpenCL devices that can be used");
  options.opencl = -2;
  refuse(options, "opencl", "is -2, must be a number from 0");
  options.opencl = 2, options.gpus = 3;
  refuse(options, "gpus", "is 3, but the options cuda and opencl allow only 2 devices");
  options.gpus = -1, options.cuda = 1;
  refuse(options, "cuda", "is 1, but this machine has 0 CUDA GPUs that can be used");
  options = alone(), options.opencl = 0;
  refuse(options, "cpus", "there is no GPU");
}

TEST(OpenCl, ProcessorsAreTakenOnlyIfAskedFor) {
  const Environment environment{{"TESSERA_DEVICES", ""}};
  const Runtime runtime;
  EXPECT_EQ(gpu_count(), 0) << "a processor is no GPU";
}

TEST(OpenCl, FactorizationNeedsACpuWorker) {
  constexpr Index n = 100;
  HostMatrix<double> A(n, n);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) A(i, j) = i == j ? 4 : 0;
  const auto factorize = [&] { potrf<double>(Uplo::Lower, n, A.data(), n); };
  {
    const Runtime runtime(alone());
    EXPECT_THAT(error_of(factorize), ::testing::HasSubstr("potrf: cannot submit a task: it runs only on CPU workers"));
  }
  const Runtime runtime;
  EXPECT_EQ(error_of(factorize), "");
  for (Index i = 0; i < n; i++) ASSERT_EQ(A(i, i), 2);
}

TEST(OpenCl, DevicesUpdateThePanelsThatACoreFactorizes) {
  RuntimeOptions options;
  options.cpus = 1;
  const Runtime runtime(options);
  constexpr Index n = 300, panel = 32, panels = 10;
  auto A = random_matrix<double>(3, n, n);
  HostMatrix<double> x(n, 1);  // the sums of the rows, so that the solution has ones only
  for (Index i = 0; i < n; i++) {
    x(i, 0) = 0;
    for (Index j = 0; j < n; j++) x(i, 0) += A(i, j);
  }
  TasksOf core(STARPU_CPU_WORKER), devices(STARPU_OPENCL_WORKER);
  {
    const Matrix<double> a(A.data(), n, n, A.ld(), {4 * panel, panel}), b(x.data(), n, 1, x.ld(), {4 * panel, 1});
    EXPECT_EQ(gesv(a, b).info.wait(), 0);
  }
  EXPECT_EQ(core.count(), panels + 1);  // the last task reads the info
  EXPECT_GT(devices.count(), panels * (panels - 1) / 2);
  for (Index i = 0; i < n; i++) ASSERT_NEAR(x(i, 0), 1, 1e-8) << i;
}

TEST(OpenCl, RatesAreMeasured) {
  ASSERT_EQ(device::opencl::probe(2, device::opencl::Kinds::All).usable.size(), 2u);
  for (const char type : {'s', 'd'}) EXPECT_GT(device::opencl::kernel_seconds(type, 0, 64), 0);
  const auto link = device::opencl::measure_link(1);
  EXPECT_GT(link.to_device, 1e6);
  EXPECT_GT(link.from_device, 1e6);
  EXPECT_NE(device::opencl::conditions(0), "");
}

}  // namespace
}  // namespace tessera::test

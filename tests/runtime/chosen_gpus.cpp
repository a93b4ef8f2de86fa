// SPDX-License-Identifier: BSD-3-Clause
// How CUDA GPUs and OpenCL devices are chosen for a session. Needs no device.
#include "runtime/chosen_gpus.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "devices/opencl/order_of_asking.hpp"

namespace tessera::test::chosen_gpus_cpp {
namespace {

using ::testing::ElementsAre;
using enum device::opencl::DeviceOf;

TEST(ChosenGpus, OpenClDevicesAreAskedInTheirOrder) {
  EXPECT_THAT(device::opencl::order_of_asking({Nvidia, OtherMaker, Processor}, false), ElementsAre(0, 1, 2));
}

TEST(ChosenGpus, OrdersOpenClDevicesBesideCuda) {
  EXPECT_THAT(device::opencl::order_of_asking({Processor, Nvidia, OtherMaker, Nvidia, OtherMaker}, true),
              ElementsAre(2, 4, 3, 1, 0));
  EXPECT_THAT(device::opencl::order_of_asking({Nvidia, Nvidia, Nvidia}, true), ElementsAre(2, 1, 0));
  EXPECT_THAT(device::opencl::order_of_asking({}, true), ElementsAre());
}

device::gpu::Info gpu_with(std::size_t free, bool opencl, bool of_nvidia) {
  return {.ordinal = 0, .name = "GPU", .memory = 100, .free = free, .opencl = opencl, .of_nvidia = of_nvidia};
}

TEST(ChosenGpus, ProcessesDivideTheMemoryOfASharedGpu) {
  auto gpu = gpu_with(80, true, false);
  runtime::share_memory(gpu, 1);
  EXPECT_EQ(gpu.memory, 100u);
  EXPECT_EQ(gpu.free, 80u);
  runtime::share_memory(gpu, 3);
  EXPECT_EQ(gpu.memory, 33u);
  EXPECT_EQ(gpu.free, 33u);
  auto full = gpu_with(20, true, false);
  runtime::share_memory(full, 3);
  EXPECT_EQ(full.free, 20u) << "others use the rest";
}

TEST(ChosenGpus, TwinsShareTheirMemory) {
  std::vector gpus{gpu_with(80, false, false), gpu_with(20, false, false), gpu_with(100, true, true),
                   gpu_with(100, true, false)};
  runtime::share_memory_of_twins(gpus);
  const auto memory = [&](int gpu) { return gpus[static_cast<std::size_t>(gpu)].memory; };
  const auto free = [&](int gpu) { return gpus[static_cast<std::size_t>(gpu)].free; };
  EXPECT_THAT((std::array{memory(0), memory(1), memory(2), memory(3)}), ElementsAre(50, 50, 50, 100));
  EXPECT_THAT((std::array{free(0), free(1), free(2), free(3)}), ElementsAre(50, 20, 50, 100));
}

TEST(ChosenGpus, OthersHaveAllTheirMemory) {
  for (const bool nvidia : {false, true}) {  // a CUDA GPU and a GPU of another vendor; two NVIDIA GPUs through OpenCL
    std::vector gpus{gpu_with(100, nvidia, nvidia), gpu_with(100, true, nvidia)};
    runtime::share_memory_of_twins(gpus);
    for (const auto& gpu : gpus) EXPECT_EQ(gpu.memory, 100u);
  }
}

std::string refusal(int gpus, int cuda, int opencl) {
  RuntimeOptions options;
  options.gpus = gpus, options.cuda = cuda, options.opencl = opencl;
  try {
    runtime::find_gpus(options);
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.argument(), "gpus");
    return error.what();
  }
  return "";
}

TEST(ChosenGpus, GpusMustNotExceedCudaPlusOpenCl) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal(4, 1, 2), HasSubstr("gpus is 4, but the options cuda and opencl allow only 3 devices"));
  for (const int other : {-1, 0}) {
    EXPECT_THAT(refusal(4, 3, other), HasSubstr("allow only 3 devices"));
    EXPECT_THAT(refusal(4, other, 1), HasSubstr("allow only 1 devices"));
  }
  EXPECT_EQ(refusal(0, 1, 1), "") << "no GPU is wanted";
}

}  // namespace
}  // namespace tessera::test::chosen_gpus_cpp

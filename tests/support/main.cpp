// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"
#include "devices/opencl/opencl.hpp"
#include "runtime/chosen_gpus.hpp"

namespace {

/// Whether fewer devices are usable than the variable asks for. Prints a message if so.
/// @param probe  (int wanted)
template <typename Probe>
bool lacks(const char* variable, const char* devices, Probe probe) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return false;
  const int needed = std::atoi(text);
  const tessera::device::gpu::Probe found = probe(needed);
  if (std::ssize(found.usable) >= needed) return false;
  std::cout << "skipped: needs " << needed << devices << ", " << found.usable.size() << " can be used\n";
  for (const auto& reason : found.unusable) std::cout << reason << '\n';
  return true;
}

/// Whether StarPU does not drive both kinds of GPU that the environment asks for. Prints a message if so.
bool lacks_both_kinds() {
  if (std::getenv("TESSERA_TEST_NEEDS_GPUS") == nullptr || std::getenv("TESSERA_TEST_NEEDS_OPENCL") == nullptr)
    return false;
  try {
    const tessera::Runtime runtime;
  } catch (const tessera::RuntimeError& error) {
    if (std::string_view(error.what()).find(tessera::runtime::starpu_leaves_out_opencl) == std::string_view::npos)
      throw;
    std::cout << "skipped: " << error.what() << '\n';
    return true;
  }
  return false;
}

}  // namespace

/// Runs the tests. If TESSERA_TEST_NEEDS_GPUS or TESSERA_TEST_NEEDS_OPENCL asks for more devices than can be used, or
/// for both kinds when StarPU drives only one, returns the status that ctest reports as skipped.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  constexpr int skipped = 77;
  namespace opencl = tessera::device::opencl;
  if (lacks("TESSERA_TEST_NEEDS_GPUS", " GPUs", [](int wanted) { return tessera::device::gpu::probe(wanted); }) ||
      lacks("TESSERA_TEST_NEEDS_OPENCL", " OpenCL devices",
            [](int wanted) { return opencl::probe(wanted, opencl::Kinds::All); }) ||
      lacks_both_kinds())
    return skipped;
  return RUN_ALL_TESTS();
}

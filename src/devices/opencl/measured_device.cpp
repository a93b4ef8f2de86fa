// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

#include "common/of_type.hpp"
#include "found_devices.hpp"
#include "kernels.hpp"

namespace tessera::device::opencl {

namespace {

/// Minimum seconds until the queue has finished `work`, after a warm-up.
template <typename Work>
double best_seconds(cl_command_queue queue, Work work) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 4; repeat++) {
    const auto begin = Clock::now();
    work();
    require(clFinish(queue), "an OpenCL device");
    if (repeat > 0) best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

template <Scalar T>
double product_seconds(cl_device_id device, int n) {
  const auto context = new_context(device);
  const auto queue = new_queue(context.get(), device);
  const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(T);
  const auto ld = static_cast<std::size_t>(n);
  const std::vector<Buffer> buffers = [&] {
    std::vector<Buffer> made;
    made.reserve(3);
    for (int i = 0; i < 3; i++) made.push_back(new_buffer(context.get(), bytes));
    return made;
  }();
  const Kernels<T> kernels(context.get(), device);
  for (const auto& buffer : buffers)
    require(kernels.scale(queue.get(), {n, n}, T{}, {buffer.get(), 0, ld}), "clearing a matrix");
  return best_seconds(queue.get(), [&] {
    if (gemm<T>(queue.get(), Op::NoTrans, Op::NoTrans, n, n, n, T(1), {buffers[0].get(), 0, ld},
                {buffers[1].get(), 0, ld}, T(1), {buffers[2].get(), 0, ld}) != clblast::StatusCode::kSuccess)
      throw RuntimeError("a product on an OpenCL device failed while it was measured");
  });
}

}  // namespace

double kernel_seconds(char type, int number, int n) {
  return common::with_type(type, [&]<Scalar T>(T) { return product_seconds<T>(device(number), n); });
}

LinkRates measure_link(int number) {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  auto* const id = device(number);
  const auto context = new_context(id);
  const auto queue = new_queue(context.get(), id);
  const auto buffer = new_buffer(context.get(), bytes);
  const bool is_pinned = gains_from_pinned_memory(id);
  std::vector<char> pageable(is_pinned ? 0 : bytes);
  std::optional<PinnedMemory> pinned;
  if (is_pinned) pinned.emplace(context.get(), queue.get(), bytes);
  void* const host = is_pinned ? pinned->data() : pageable.data();
  const double to = best_seconds(queue.get(), [&] {
    require(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_FALSE, 0, bytes, host, 0, nullptr, nullptr),
            "a copy to an OpenCL device");
  });
  const double from = best_seconds(queue.get(), [&] {
    require(clEnqueueReadBuffer(queue.get(), buffer.get(), CL_FALSE, 0, bytes, host, 0, nullptr, nullptr),
            "a copy from an OpenCL device");
  });
  return {static_cast<double>(bytes) / to, static_cast<double>(bytes) / from};
}

}  // namespace tessera::device::opencl

// SPDX-License-Identifier: BSD-3-Clause
#include "device_operands.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "common/device_memory.hpp"
#include "dispatch.hpp"
#include "guest.hpp"
#include "xerbla.hpp"

namespace tessera::dropin {

namespace {

namespace device_memory = common::device_memory;

/// A separate function, so that frames which an exception may cross have no strings to destroy.
[[gnu::noinline]] void say_refused(const char* routine, const PointerArgument& argument, const std::string& why) {
  say_now(std::string(routine) + ": argument " + std::to_string(argument.position) + " (" + argument.name + ") " + why);
}

/// Computes a call that the host cannot, or says why that is not possible. A separate function for the same reason.
template <typename Compute>
[[gnu::noinline]] bool computed(const char* routine, const PointerArgument& argument, Compute compute) {
  const std::string objection = compute();
  if (!objection.empty())
    say_refused(routine, argument, device_memory::problem("and the call cannot be computed there: " + objection));
  return objection.empty();
}

/// Whether to look up operands. Calls from Tessera's own tasks compute on tiles in host memory.
bool looks_up() { return !Guest::of_process().is_inside() && device_memory::may_exist(); }

/// The first argument in memory of a GPU; null: there is none.
const PointerArgument* first_on_gpu(std::span<const PointerArgument> arguments) {
  const auto found = std::ranges::find_if(arguments, [](const PointerArgument& argument) {
    return argument.data != nullptr && device_memory::gpu_of(argument.data);
  });
  return found != arguments.end() ? &*found : nullptr;
}

int refused_of(std::span<const PointerArgument> arguments, const char* routine, bool wide) {
  const auto* const argument = first_on_gpu(arguments);
  if (argument == nullptr) return 0;
  say_refused(routine, *argument, device_memory::problem());
  report_illegal(routine, wide, argument->position);
  return argument->position;
}

}  // namespace

int refused(std::span<const PointerArgument> arguments, const char* routine, bool wide) {
  return looks_up() ? refused_of(arguments, routine, wide) : 0;
}

bool done_on_gpu(const Call& call, Layout layout, const char* routine, bool wide) {
  if (!looks_up()) return false;
  std::array<PointerArgument, 3> accessed{};
  auto* next = accessed.data();
  for (const auto& matrix : matrices(call, layout))
    *next++ = {matrix.position, matrix.name, matrix.used && matrix.m > 0 && matrix.n > 0 ? matrix.data : nullptr};
  const auto* const argument = first_on_gpu(accessed);
  if (argument == nullptr) return false;
  if (!computed(routine, *argument, [&] { return dispatch_from_gpu(blas::ByColumns(call, layout).call()); }))
    report_illegal(routine, wide, argument->position);
  return true;
}

bool done_on_gpu(const LapackCall& call, const void* at, Index& info) {
  if (!looks_up()) return false;
  char routine[8] = {call.type};
  std::strncpy(routine + 1, call.name(), sizeof routine - 2);
  const auto position = [&](const char* name) { return position_of(call, name); };
  const int last =
      position("lwork") > 0 ? position("lwork") : std::max({position("lda"), position("ipiv"), position("ldb")});
  const std::array<PointerArgument, 2> matrices{{{position("A"), "A", call.A}, {position("B"), "B", call.B}}};
  const std::array<PointerArgument, 4> others{{{position("ipiv"), "ipiv", call.ipiv},
                                               {position("tau"), "tau", call.tau},
                                               {position("work"), "work", call.work},
                                               {last + 1, "info", at}}};
  int refused = refused_of(others, routine, call.wide);
  if (const auto* const argument = refused == 0 ? first_on_gpu(matrices) : nullptr; argument != nullptr) {
    if (computed(routine, *argument, [&] { return dispatch_from_gpu(call, info); })) return true;
    refused = argument->position;
    report_illegal(routine, call.wide, refused);
  }
  if (refused > 0) info = -static_cast<Index>(refused);
  return refused > 0;
}

bool is_on_host(const void* info) { return !device_memory::gpu_of(info); }

}  // namespace tessera::dropin

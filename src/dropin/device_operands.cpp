// SPDX-License-Identifier: BSD-3-Clause
#include "device_operands.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "common/device_memory.hpp"
#include "guest.hpp"
#include "xerbla.hpp"

namespace tessera::dropin {

namespace {

namespace device_memory = detail::device_memory;

/// A separate function, so that frames which an exception may cross have no strings to destroy.
[[gnu::noinline]] void say_refused(const char* routine, const PointerArgument& argument) {
  say_now(std::string(routine) + ": argument " + std::to_string(argument.position) + " (" + argument.name + ") " +
          device_memory::problem);
}

/// Whether to look up operands. Calls from Tessera's own tasks compute on tiles in host memory.
bool looks_up(double flops) {
  auto& guest = Guest::of_process();
  const auto look = guest.decision().stays(flops) ? device_memory::Look::Seldom : device_memory::Look::Always;
  return device_memory::may_exist(look) && !guest.is_inside();
}

int refused_of(std::span<const PointerArgument> arguments, const char* routine, bool wide) {
  for (const auto& argument : arguments)
    if (argument.data != nullptr && device_memory::contains(argument.data)) {
      say_refused(routine, argument);
      report_illegal(routine, wide, argument.position);
      return argument.position;
    }
  return 0;
}

}  // namespace

int refused(std::span<const PointerArgument> arguments, const char* routine, bool wide, double flops) {
  return looks_up(flops) ? refused_of(arguments, routine, wide) : 0;
}

int refused(const Call& call, Layout layout, const char* routine, bool wide) {
  if (!looks_up(flops(call))) return 0;
  std::array<PointerArgument, 3> accessed{};
  auto* next = accessed.data();
  for (const auto& matrix : matrices(call, layout))
    *next++ = {matrix.position, matrix.name, matrix.used && matrix.m > 0 && matrix.n > 0 ? matrix.data : nullptr};
  return refused_of(accessed, routine, wide);
}

int refused(const LapackCall& call, const void* info) {
  if (!looks_up(flops(call))) return 0;
  char routine[8] = {call.type};
  std::strncpy(routine + 1, call.name(), sizeof routine - 2);
  const auto position = [&](const char* name) { return position_of(call, name); };
  const int last =
      position("lwork") > 0 ? position("lwork") : std::max({position("lda"), position("ipiv"), position("ldb")});
  return refused_of(std::array<PointerArgument, 6>{{{position("A"), "A", call.A},
                                                    {position("ipiv"), "ipiv", call.ipiv},
                                                    {position("tau"), "tau", call.tau},
                                                    {position("B"), "B", call.B},
                                                    {position("work"), "work", call.work},
                                                    {last + 1, "info", info}}},
                    routine, call.wide);
}

bool is_on_host(const void* info) { return !device_memory::contains(info); }

}  // namespace tessera::dropin

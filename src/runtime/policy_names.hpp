// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tessera::detail {

/// The policy of libtessera_sched.
constexpr const char* our_policy = "tessera";

/// StarPU takes its default policy when it does not know a name, and only mutters: ask first.
/// @throws ArgumentError  if neither we nor StarPU nor the library that STARPU_SCHED_LIB names has such a policy, if
/// that
///                        library cannot be used, or if the options of ours are wrong
void require_policy(const std::string& name);

}  // namespace tessera::detail

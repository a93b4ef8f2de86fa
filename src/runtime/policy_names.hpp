// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tessera::detail {

/// The name of the policy in libtessera_sched.
constexpr const char* our_policy = "tessera";

/// Checks the name of a policy before StarPU starts. StarPU itself would replace an unknown name by its default policy,
/// with only a warning.
/// @throws ArgumentError if neither Tessera, nor StarPU, nor the library that STARPU_SCHED_LIB names has such a policy;
/// if that library cannot be used; or if the options of Tessera's policy are wrong
void require_policy(const std::string& name);

/// The first policy of the library that STARPU_SCHED_LIB names.
/// @throws ArgumentError if that library cannot be used, or lists no policy
std::string first_policy_of_library();

}  // namespace tessera::detail

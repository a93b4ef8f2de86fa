// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tessera::runtime {

/// The name of the policy in libtessera_sched.
constexpr const char* our_policy = "tessera";

/// Checks the name of a policy before StarPU starts. StarPU itself would replace an unknown name by its default policy,
/// with only a warning.
/// @throws ArgumentError if no such policy exists in Tessera, in StarPU, or in the library that STARPU_SCHED_LIB names;
///         if that library cannot be used; or if the options of Tessera's policy are wrong
void require_policy(const std::string& name);

/// The first policy of the library that STARPU_SCHED_LIB names.
/// @throws ArgumentError if that library cannot be used, lists no policy, or has one with the name of Tessera's own
std::string first_policy_of_library();

/// The library that contains a policy: Tessera's, the one that STARPU_SCHED_LIB names, or StarPU.
/// @param name  a policy that `require_policy` accepts
std::string policy_file(const std::string& name);

}  // namespace tessera::runtime

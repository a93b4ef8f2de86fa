// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "devices/peer_memory.hpp"

namespace tessera::test {

/// NUMA nodes other than the first, in place of GPUs whose memory other processes read. Copies end some time after they
/// have started, and not in their order.
std::unique_ptr<device::PeerMemory> make_host_peers();
/// The same, but they say that they read slowly.
std::unique_ptr<device::PeerMemory> make_slow_host_peers();

/// Counts the copies of this process that `make_peer_memory` makes from now on.
void count_peer_copies();
int peer_copies();

}  // namespace tessera::test

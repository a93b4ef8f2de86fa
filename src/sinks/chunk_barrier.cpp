// SPDX-License-Identifier: BSD-3-Clause
#include "chunk_barrier.hpp"

#include <algorithm>

namespace tessera::sinks {

namespace {

/// The number of children per process in the tree. More children mean fewer steps, but more messages per process.
constexpr int children = 4;

}  // namespace

ChunkBarrier::ChunkBarrier(Submitter& submitter, Index ahead, Index count)
    : submitter_(submitter), processes_(submitter.exchange().processes()), ahead_(ahead), count_(count) {
  if (count <= ahead + 1) return;  // no chunk waits for another
  passed_.resize(static_cast<std::size_t>(std::min(ahead + 2, count)));
  for (auto& handle : passed_) {
    starpu_void_data_register(&handle);
    starpu_data_set_sequential_consistency_flag(handle, 1);
    processes_.keep(handle);
  }
}

ChunkBarrier::~ChunkBarrier() {
  for (auto* handle : passed_) starpu_data_unregister_submit(handle);
}

void ChunkBarrier::begin(std::vector<Access> inputs) {
  if (chunk_ > ahead_ && !passed_.empty()) {
    inputs.push_back({passed(chunk_ - ahead_ - 1), STARPU_R});
    submitter_.submit_empty(inputs);
  }
  if (is_awaited()) submitter_.begin_chunk();
}

void ChunkBarrier::end() {
  if (is_awaited()) {
    const auto& [up, down] = processes_.tokens();
    const int me = processes_.rank(), size = static_cast<int>(up.size());
    const int first = children * me + 1, last = std::min(first + children, size);
    const auto of = [](const std::vector<starpu_data_handle_t>& tokens, int rank) {
      return tokens[static_cast<std::size_t>(rank)];
    };
    const int priority = submitter_.priority();
    std::vector<Access> ends{{of(up, me), STARPU_W}};
    for (int child = first; child < last; child++) {
      processes_.receive(of(up, child), priority);
      ends.push_back({of(up, child), STARPU_R});
    }
    submitter_.end_chunk(ends);
    auto* all_ended = of(up, me);
    if (me > 0) {
      const int parent = (me - 1) / children;
      processes_.send(of(up, me), parent, priority);
      all_ended = of(down, parent);
      processes_.receive(all_ended, priority);
    }
    submitter_.submit_empty(
        std::vector<Access>{{all_ended, STARPU_R}, {of(down, me), STARPU_W}, {passed(chunk_), STARPU_W}});
    for (int child = first; child < last; child++) processes_.send(of(down, me), child, priority);
  }
  chunk_++;
}

}  // namespace tessera::sinks

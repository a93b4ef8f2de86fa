// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "session.hpp"
#include "submitted.hpp"

namespace tessera::unroll {

struct Access {
  starpu_data_handle_t handle;
  starpu_data_access_mode mode;
};

/// A tile that exists only where its tasks run; to be given to starpu_data_unregister_submit.
starpu_data_handle_t temporary_tile(Index m, Index n, std::size_t element_size);

/// Submits the tile tasks of one call of a routine: earlier ones with higher priority.
class Submitter {
 public:
  explicit Submitter(const detail::Session& session) : session_(session) {}

  /// @param args   copied; a struct of codelet.hpp that fits the codelet
  /// @param owner        index of the GPU that shall run it, or -1
  /// @param wanted_next  fetched to where the task has run, when the links have nothing better to do
  template <typename Args>
  void submit(starpu_codelet& codelet, std::initializer_list<Access> accesses, const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    auto* copy = std::malloc(sizeof(Args));  // StarPU frees it with the task, by free()
    if (copy == nullptr) throw RuntimeError("no memory for the arguments of a task");
    std::memcpy(copy, &args, sizeof(Args));
    submit(codelet, accesses, copy, sizeof(Args), args.work.flops, owner, wanted_next);
  }

 private:
  void submit(starpu_codelet& codelet, std::initializer_list<Access> accesses, void* args, std::size_t args_size,
              double flops, int owner, starpu_data_handle_t wanted_next);

  const detail::Session& session_;
  int priority_ = 0;
};

}  // namespace tessera::unroll

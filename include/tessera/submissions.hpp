// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/error.hpp>

namespace tessera {

namespace detail {
class Scope;
}

/// Collects the tasks that the calling thread submits through routines on matrices while this object exists, so that
/// the thread can wait for these tasks alone and see their failures.
///
///     tessera::Submissions mine;
///     tessera::gemm<double>(...);
///     tessera::trsm<double>(...);
///     mine.wait();  // does not wait for tasks of other threads
///
/// If several objects exist on a thread, all of them collect its tasks. They collect neither the tasks of routines on
/// pointers, which wait and report failures themselves, nor the program's own StarPU tasks.
///
/// The thread that made the object must destroy it. Destroying it does not wait: the tasks continue, and a wait for the
/// matrices reports their failures.
class Submissions {
 public:
  /// Starts a Runtime if there is none, and keeps it running.
  /// @throws RuntimeError within a StarPU task or its callback, if there is no Runtime
  Submissions();
  ~Submissions();
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  /// Waits until the tasks of all calls made so far have run. Any thread may call this. Tasks that are submitted later
  /// do not prolong the wait. Results may still be in a GPU's memory: `Matrix<T>::wait` copies them back.
  /// @throws RuntimeError if, since the last such wait, a tile operation of these calls has failed or worked on a wrong
  ///         tile; or if called within a StarPU task or its callback
  void wait();

 private:
  std::shared_ptr<detail::Scope> scope_;
};

}  // namespace tessera

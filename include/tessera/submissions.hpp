// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace tessera {

namespace detail {
class Scope;
}

/// The tasks that the calling thread submits through routines on matrices while this object exists. The thread can wait
/// for these tasks alone, and learn of their failures.
///
///     tessera::Submissions mine;
///     tessera::gemm<double>(...);
///     tessera::trsm<double>(...);
///     mine.wait();  // not for tasks of other threads
///
/// If several objects exist on a thread, a call belongs to all of them. Routines on pointers do not belong to any: they
/// wait, and report failures to their caller. The program's own StarPU tasks do not belong to any, either.
///
/// The thread that made the object must destroy it. Destroying it does not wait: the tasks continue, and whoever waits
/// for the matrices sees their failures.
class Submissions {
 public:
  /// Starts a Runtime if there is none, and keeps it.
  /// @throws RuntimeError within a StarPU task or its callback, if there is no Runtime
  Submissions();
  ~Submissions();
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  /// Waits until the tasks of all calls made so far have run. Any thread may call this. Tasks that are submitted later
  /// do not prolong the wait. Results may still be in a GPU's memory: `Matrix<T>::wait` copies them back.
  /// @throws RuntimeError if a tile operation of these calls has failed, or worked on a wrong tile, since the last such
  ///         wait. Also within a StarPU task or its callback
  void wait();

 private:
  std::shared_ptr<detail::Scope> scope_;
};

}  // namespace tessera

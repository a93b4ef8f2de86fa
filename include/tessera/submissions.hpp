// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace tessera {

namespace detail {
class Scope;
}

/// What the calling thread submits through routines on matrices while this object lives: a part of all work that can be
/// waited for by itself, and asked for its failures.
///
///     tessera::Submissions mine;
///     tessera::gemm<double>(...);
///     tessera::trsm<double>(...);
///     mine.wait();  // not for other threads
///
/// Within another one on the same thread, a call belongs to both. Routines on pointers wait for themselves and tell
/// their caller of failures: they do not belong to it. The program's own StarPU tasks do not, either.
///
/// To be destroyed by the thread that made it. That does not wait: the tasks run on, and whoever waits for the matrices
/// is told of failures.
class Submissions {
 public:
  /// Starts a Runtime if there is none, and keeps it.
  /// @throws RuntimeError within a StarPU task or its callback, if there is no Runtime
  Submissions();
  ~Submissions();
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  /// Waits until the tasks of all calls that were made before have run, whatever is submitted meanwhile; any thread may
  /// do so. Results may still be in a GPU's memory: `Matrix<T>::wait` writes them back.
  /// @throws RuntimeError if a tile operation of one of these calls has failed, or worked on a tile that was wrong,
  /// since
  ///         the last such wait; or within a StarPU task or its callback
  void wait();

 private:
  std::shared_ptr<detail::Scope> scope_;
};

}  // namespace tessera

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <map>
#include <tuple>

namespace tessera::scheduler {

/// How long tasks take on each kind of worker: by what it has finished of the same codelet and about the same size, and
/// before that, by the task's own performance model, if it has one.
class Pace {
 public:
  void finished(starpu_task* task, int kind, double seconds);
  /// 0: not known.
  /// @param worker  one of the kind
  double seconds(starpu_task* task, int kind, int worker, unsigned context) const;

 private:
  /// Codelet, kind of worker, binary logarithm of the bytes.
  using Key = std::tuple<const starpu_codelet*, int, int>;
  static Key key(starpu_task* task, int kind);

  struct Average {
    double seconds = 0;
    bool warm = false;  ///< has seen more than one task: the first one may have had to load a library
  };
  std::map<Key, Average> measured_;
};

}  // namespace tessera::scheduler

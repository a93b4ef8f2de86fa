// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>

#include "not_copyable.hpp"

namespace tessera::common {

/// Restores errno at the end of a scope. Programs that check errno after a call do not expect the call to open files,
/// as the start of the devices does.
class KeptErrno : NotCopyable {
 public:
  KeptErrno() : before_(errno) {}
  ~KeptErrno() { errno = before_; }

 private:
  int before_;
};

}  // namespace tessera::common

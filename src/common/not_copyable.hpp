// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::common {

/// A base for classes whose objects are neither copied nor moved.
class NotCopyable {
 public:
  NotCopyable() = default;
  NotCopyable(const NotCopyable&) = delete;
  NotCopyable& operator=(const NotCopyable&) = delete;
};

}  // namespace tessera::common

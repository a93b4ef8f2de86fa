// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <atomic>

namespace tessera::test {

/// Makes threads wait until one of them opens the gate. The gate opens by itself after a minute, because then the
/// opener must be broken.
class Gate {
 public:
  void open() { opened_ = true; }
  bool was_opened() const { return opened_; }
  void wait() {
    for (int i = 0; i < 60000 && !opened_ && !given_up_; i++) usleep(1000);
    given_up_ = !opened_;
  }

 private:
  std::atomic<bool> opened_ = false, given_up_ = false;
};

}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <thread>
#include <utility>

#include "beside.hpp"

/// Scenarios that talk with the fake engine, so that they know where a call is and how long it stays there.
namespace tessera::test {

/// Whether a thread of this process waits for something.
inline bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end + 2, 1) == "S";
}

inline pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// Returns when a thread has waited for some time: not for a lock that another thread holds for a moment.
inline void wait_until_asleep(pid_t thread) {
  for (int looks = 0; looks < 20; usleep(1000)) looks = is_asleep(thread) ? looks + 1 : 0;
}

/// The pipes to and from the fake.
class Talk {
 public:
  Talk() {
    int says[2], hears[2];
    require(pipe2(says, O_NONBLOCK) == 0 && pipe(hears) == 0, "pipe");
    setenv("FAKE_SAYS", std::to_string(says[1]).c_str(), 1);
    setenv("FAKE_HEARS", std::to_string(hears[0]).c_str(), 1);
    says_ = says[0], hears_ = hears[1];
  }
  /// Whether the fake has said this letter: s when its start begins, r when it runs a call.
  bool heard(char letter) const {
    for (char c = 0; read(says_, &c, 1) == 1;)
      if (c == letter) return true;
    return false;
  }
  void wait_for(char letter) const {
    while (!heard(letter)) usleep(1000);  // the time limit of the scenario ends this
  }
  /// What the fake waits for: each word lets one start, or one call, go on.
  void go() const { require(write(hears_, "g", 1) == 1, "write"); }
  /// Lets the fake go on when the calling thread sleeps, as it does in a fork, an exit or a call that waits.
  std::thread go_later() const {
    return std::thread([this, caller = this_thread()] {
      wait_until_asleep(caller);
      go();
    });
  }
  template <typename Compute>
  void compute_until(char letter, Compute compute) const {
    for (unsigned i = 0; i < 1000; i++) {
      require(compute(i), "a product");
      if (heard(letter)) return;
      usleep(5000);  // while the devices start, only a limited time of calls runs on the host
    }
    require(false, "no call was enough");
  }

 private:
  int says_ = -1, hears_ = -1;
};

}  // namespace tessera::test

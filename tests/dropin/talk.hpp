// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <thread>
#include <utility>

#include "beside.hpp"

/// Scenarios that communicate with the fake engine, to control when a call starts and how long it runs.
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

/// Returns once a thread has waited for some time, to exclude short waits for a lock.
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
  /// Whether the fake has sent this letter: s when its start begins, r when it runs a call.
  bool heard(char letter) const {
    for (char c = 0; read(says_, &c, 1) == 1;)
      if (c == letter) return true;
    return false;
  }
  void wait_for(char letter) const {
    while (!heard(letter)) usleep(1000);  // the time limit of the scenario ends this
  }
  /// Sends the fake a word, which lets a start or a call continue.
  void go() const { require(write(hears_, "g", 1) == 1, "write"); }
  /// Lets the fake continue once the calling thread sleeps, as it does in a fork, an exit or a call that waits.
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
      usleep(5000);  // while the devices start, calls run on the host only for a limited time
    }
    require(false, "no call was enough");
  }

 private:
  int says_ = -1, hears_ = -1;
};

}  // namespace tessera::test

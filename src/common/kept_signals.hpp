// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <set>

namespace tessera::detail {

/// Restores signal handlers at the end of a scope if a library that was loaded within the scope has replaced them. Some
/// OpenCL drivers do so when they start, because of LLVM. Handlers that another thread of the program sets within the
/// scope stay.
class KeptSignals {
 public:
  KeptSignals() {
    dl_iterate_phdr(remember, &loaded_);
    for (int signal = 1; signal < NSIG; signal++) known_[index(signal)] = sigaction(signal, nullptr, &at(signal)) == 0;
  }
  ~KeptSignals() {
    for (int signal = 1; signal < NSIG; signal++) {
      struct sigaction now {};
      if (known_[index(signal)] && sigaction(signal, nullptr, &now) == 0 && now.sa_handler != at(signal).sa_handler &&
          is_new(now.sa_handler))
        sigaction(signal, &at(signal), nullptr);
    }
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  using Addresses = std::set<std::uintptr_t>;  ///< start addresses of loaded objects

  static int remember(dl_phdr_info* object, std::size_t /*size*/, void* addresses) {
    for (int i = 0; i < object->dlpi_phnum; i++)
      if (object->dlpi_phdr[i].p_type == PT_LOAD) {
        static_cast<Addresses*>(addresses)->insert(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        break;
      }
    return 0;
  }
  bool is_new(void (*handler)(int)) const {
    Dl_info object{};
    return dladdr(reinterpret_cast<void*>(handler), &object) != 0 &&
           !loaded_.contains(reinterpret_cast<std::uintptr_t>(object.dli_fbase));
  }
  static std::size_t index(int signal) { return static_cast<std::size_t>(signal); }
  struct sigaction& at(int signal) {
    return before_[index(signal)];
  }

  Addresses loaded_;
  std::array<struct sigaction, NSIG> before_{};
  std::array<bool, NSIG> known_{};
};

}  // namespace tessera::detail

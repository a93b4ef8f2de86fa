// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tessera::test {

/// The library of stand_in_driver.c, loaded in the same way as a program that uses CUDA loads the driver.
class StandInDriver {
 public:
  StandInDriver() {
    const char* place = std::getenv("TESSERA_TEST_CUDA_DRIVER");
    library_ = place != nullptr ? dlopen(place, RTLD_NOW) : nullptr;
    if (library_ == nullptr) throw std::runtime_error(place != nullptr ? dlerror() : "TESSERA_TEST_CUDA_DRIVER");
  }

  /// A MiB of GPU memory.
  template <typename T>
  T* device_memory() const {
    return static_cast<T*>(function<void*()>("stand_in_device_memory")());
  }
  /// A MiB of managed memory.
  template <typename T>
  T* managed_memory() const {
    return static_cast<T*>(function<void*()>("stand_in_managed_memory")());
  }
  /// How many addresses have been looked up.
  int look_ups() const { return function<int()>("stand_in_look_ups")(); }

 private:
  template <typename F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }
  void* library_;
};

}  // namespace tessera::test

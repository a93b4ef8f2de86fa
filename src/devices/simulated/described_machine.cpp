// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tessera/error.hpp>

#include "machine_description.hpp"

namespace tessera::device::simulated {

bool operands_are_on_a_gpu = false, operands_are_pageable = false;

const Machine& described_machine() {
  static const Machine machine = [] {
    const char* file = std::getenv("TESSERA_PLATFORM");
    if (file == nullptr || *file == '\0')
      throw RuntimeError("this build of Tessera simulates: TESSERA_PLATFORM must name a machine description");
    return read_machine(file);
  }();
  return machine;
}

}  // namespace tessera::device::simulated

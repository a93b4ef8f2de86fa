// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/process.hpp"

/// The common base of the tests that read and write trace files.
namespace tessera::trace {

namespace fs = std::filesystem;
using namespace test;

}  // namespace tessera::trace

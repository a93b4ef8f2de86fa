// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string_view>
#include <type_traits>

#include <tessera/types.hpp>

namespace tessera::test {

// CMakeLists.txt compiles some tests once for each precision.
#ifndef TESSERA_TEST_TYPES
#define TESSERA_TEST_TYPES "sdcz"
#endif
/// The types that this program tests.
constexpr std::string_view tested_types = TESSERA_TEST_TYPES;
template <Scalar T>
constexpr bool is_tested = tested_types.find(type_letter<T>) != std::string_view::npos;

using ScalarTypes =
    std::conditional_t<!is_tested<float>, ::testing::Types<double, std::complex<double>>,
                       std::conditional_t<!is_tested<double>, ::testing::Types<float, std::complex<float>>,
                                          ::testing::Types<float, double, std::complex<float>, std::complex<double>>>>;

}  // namespace tessera::test

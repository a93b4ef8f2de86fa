// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "devices/cpu/host_blas.hpp"
#include "support/shapes.hpp"

/// All routines of src/blas/routines.def in all types, so that one test covers each of them.
namespace tessera::test {

template <Scalar T>
const std::vector<Routine<T>>& routines();

template <Scalar T>
const Routine<T>& routine(std::string_view name);

/// Calls `body(options)` for every legal combination of the options that the routine has.
template <Scalar T>
void for_all_options(const Routine<T>& routine, const std::function<void(const Options&)>& body);

/// Calls `body(extent)` for all combinations of the sizes that the routine has.
template <Scalar T>
void for_all_sizes(const Routine<T>& routine, const std::vector<Index>& sizes,
                   const std::function<void(const Extent&)>& body);

/// The factors of matrices.hpp that the routine accepts.
template <Scalar T>
std::vector<T> alphas(const Routine<T>& routine);
template <Scalar T>
std::vector<T> betas(const Routine<T>& routine);

/// A test of every routine: parameters are names with types, e.g. "strsm".
class EachRoutine : public ::testing::TestWithParam<std::string> {
 protected:
  /// Calls `body(routine)` with the routine of this test.
  template <typename Body>
  static void run(Body body) {
    const auto name = std::string_view(GetParam()).substr(1);
    if constexpr (is_tested<float>) {
      if (GetParam().front() == 's') return body(routine<float>(name));
      if (GetParam().front() == 'c') return body(routine<std::complex<float>>(name));
    }
    if constexpr (is_tested<double>) {
      if (GetParam().front() == 'd') return body(routine<double>(name));
      if (GetParam().front() == 'z') return body(routine<std::complex<double>>(name));
    }
    FAIL() << "no type " << GetParam();
  }
};

/// The names of all routines in the tested types, or of those for which `chosen` holds.
inline auto each_routine(bool (*chosen)(const Routine<std::complex<double>>&) = nullptr) {
  std::vector<std::string> names;
  for (const char type : tested_types)
    for (const auto& known : blas::routines)
      if (known.exists(type) && (chosen == nullptr || chosen(routine<std::complex<double>>(known.name))))
        names.push_back(type + std::string(known.name));
  return ::testing::ValuesIn(names);
}

inline std::string its_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace tessera::test

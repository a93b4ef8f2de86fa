// SPDX-License-Identifier: BSD-3-Clause
// Modules of NumPy and SciPy from PyPI call the drop-in, although the functions of their OpenBLAS have other names.
#include <dlfcn.h>

#include "scenario.hpp"

namespace tessera::test::wheels_cpp {
namespace {

/// A module that the program loads as Python does.
class Module {
 public:
  Module() : module_(dlopen(std::getenv("TESSERA_TEST_WHEEL"), RTLD_NOW | RTLD_LOCAL)) {
    if (module_ == nullptr) std::puts(dlerror());
    require(module_ != nullptr, "dlopen");
  }
  template <typename Function>
  Function* find(const char* name) const {
    void* const found = dlsym(module_, name);
    require(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* module_;
};

constexpr int n = 300;

/// @return  4 I
std::vector<double> four_times_identity() {
  std::vector<double> A(n * n, 0);
  for (int i = 0; i < n; i++) A[static_cast<std::size_t>(i) * (n + 1)] = 4;
  return A;
}

const Scenario program{"NumPy from PyPI", [] {
                         const Module numpy;
                         auto A = four_times_identity();
                         std::vector<double> B(n * n, 1), C(n * n, 7);
                         std::vector<std::int64_t> pivots(n);
                         using Multiply = void(std::int64_t, const double*, const double*, double*);
                         numpy.find<Multiply>("multiply")(n, A.data(), B.data(), C.data());
                         require(std::ranges::all_of(C, [](double c) { return c == 4; }), "the product");
                         numpy.find<void(int, const double*, double*)>("solve_triangle")(n, A.data(), C.data());
                         require(std::ranges::all_of(C, [](double c) { return c == 1; }), "the solve with a triangle");
                         using Solve = std::int64_t(std::int64_t, double*, std::int64_t*, double*);
                         require(numpy.find<Solve>("solve")(n, A.data(), pivots.data(), B.data()) == 0, "info");
                         require(B[0] == 0.25 && B[n - 1] == 0.25, "the solution");
                         require(pivots.front() == 1 && pivots.back() == n, "the pivots");
                         require(numpy.find<double(std::int64_t, const double*)>("sum")(n, B.data()) == 42,
                                 "a routine that the drop-in lacks");
                         return 0;
                       }};

TEST(Wheels, CallTheDropIn) {
  const auto ended = program.run({{"LD_PRELOAD", std::getenv("TESSERA_TEST_WHEELS")}});
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
  EXPECT_EQ(ended.calls("devices", "dgesv"), 1) << ended;
}

TEST(Wheels, CallTheHostWithTheirOwnWidthOfIntegers) {
  const auto ended = program.run({{"LD_PRELOAD", std::getenv("TESSERA_TEST_WHEELS")}, {"TESSERA_DEVICES", "none"}});
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("host"), 3) << ended;
}

}  // namespace
}  // namespace tessera::test::wheels_cpp

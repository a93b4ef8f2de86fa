// SPDX-License-Identifier: BSD-3-Clause
// Operands in the memory of a GPU: a message says which argument it is, and xerbla receives its position. OpenBLAS's
// xerbla returns, so the program continues.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <vector>

#include "scenario.hpp"
#include "support/stand_in_driver.hpp"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void cblas_dsyrk(int, int, int, int, int, double, const double*, int, double, double*, int);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dsgesv_(const int*, const int*, double*, const int*, int*, const double*, const int*, double*, const int*, double*,
             float*, int*, int*);
}

namespace tessera::test::device_operands_cpp {
namespace {

/// A call with one argument on a GPU, and the expected message.
struct Refused {
  const char* says;
  std::function<int(double* gpu)> call;  ///< @return info; 7 if there is none
  int info = 7;
};

const int two = 2;
const double one = 1;

std::vector<Refused> all_calls() {
  static std::array<double, 4> A{2, 0, 0, 2}, C{1, 2, 3, 4}, work;
  static std::array<float, 8> swork;
  static std::array<int, 2> ipiv{1, 2};
  static int iter;
  return {
      {"dgemm: argument 7 (A)",
       [](double* gpu) {
         dgemm_("N", "N", &two, &two, &two, &one, gpu, &two, A.data(), &two, &one, C.data(), &two);
         return 7;
       }},
      {"dgemm: argument 12 (C)",
       [](double* gpu) {
         dgemm_("N", "N", &two, &two, &two, &one, A.data(), &two, A.data(), &two, &one, gpu, &two);
         return 7;
       }},
      {"dsyrk: argument 6 (A)",
       [](double* gpu) {
         cblas_dsyrk(101, 121, 111, 2, 2, 1, gpu, 2, 1, C.data(), 2);
         return 7;
       }},
      {"dtrsm: argument 10 (B)",
       [](double* gpu) {
         dtrsm_("L", "L", "N", "N", &two, &two, &one, A.data(), &two, gpu, &two);
         return 7;
       }},
      {"dpotrf: argument 3 (A)",
       [](double* gpu) {
         int info = 0;
         dpotrf_("L", &two, gpu, &two, &info);
         return info;
       },
       -3},
      {"dpotrf: argument 5 (info)",
       [](double* gpu) {
         dpotrf_("L", &two, A.data(), &two, reinterpret_cast<int*>(gpu));
         return 7;
       }},
      {"dgetrf: argument 5 (ipiv)",
       [](double* gpu) {
         int info = 0;
         dgetrf_(&two, &two, A.data(), &two, reinterpret_cast<int*>(gpu), &info);
         return info;
       },
       -5},
      {"dgetrf: argument 3 (A)",
       [](double* gpu) {
         using Dgetrf = int(int, int, int, double*, int, int*);
         auto* const in_c = reinterpret_cast<Dgetrf*>(dlsym(RTLD_DEFAULT, "LAPACKE_dgetrf"));
         return in_c(102, 2, 2, gpu, 2, ipiv.data());
       },
       -4},
      {"dsgesv: argument 8 (X)",
       [](double* gpu) {
         int info = 0;
         dsgesv_(&two, &two, A.data(), &two, ipiv.data(), C.data(), &two, gpu, &two, work.data(), swork.data(), &iter,
                 &info);
         return info;
       },
       -8},
  };
}

const Scenario each{"a call by its number, with one argument on a GPU", [] {
                      const StandInDriver driver;
                      const auto calls = all_calls();
                      const auto number = static_cast<std::size_t>(std::atoi(std::getenv("TEST_CALL")));
                      if (number >= calls.size()) return 9;
                      const int info = calls[number].call(driver.device_memory<double>());
                      return info == calls[number].info ? 5 : 6;
                    }};

const Scenario managed{"a product in managed memory", [] {
                         const StandInDriver driver;
                         driver.device_memory<double>();
                         auto* const C = driver.managed_memory<double>();
                         std::array<double, 4> A{1, 2, 3, 4}, B{1, 0, 0, 1};
                         const double zero = 0;
                         dgemm_("N", "N", &two, &two, &two, &one, A.data(), &two, B.data(), &two, &zero, C, &two);
                         return C[0] == 1 && C[1] == 2 && C[2] == 3 && C[3] == 4 ? 5 : 6;
                       }};

// A thread that has called before CUDA was loaded.
const Scenario late{"a product on the host, then CUDA, then a product with an argument on a GPU", [] {
                      std::array<double, 4> A{1, 2, 3, 4}, C{};
                      const auto product = [&](const double* a) {
                        dgemm_("N", "N", &two, &two, &two, &one, a, &two, A.data(), &two, &one, C.data(), &two);
                      };
                      product(A.data());
                      const StandInDriver driver;
                      product(driver.device_memory<double>());
                      return C[0] == 7 ? 5 : 6;
                    }};

// A child cannot use CUDA, and does not ask it.
const Scenario forked{"a product in a child of a program that uses CUDA", [] {
                        const StandInDriver driver;
                        driver.device_memory<double>();
                        std::array<double, 4> A{1, 2, 3, 4}, C{};
                        const auto product = [&] {
                          dgemm_("N", "N", &two, &two, &two, &one, A.data(), &two, A.data(), &two, &one, C.data(),
                                 &two);
                        };
                        product();
                        require(driver.look_ups() == 3, "not one look-up of each operand");
                        if (const pid_t child = fork(); child > 0) return status_of(child);
                        product();
                        _exit(driver.look_ups() == 3 ? 5 : 6);
                      }};

void expect_refused(const Variables& variables) {
  const auto calls = all_calls();
  for (std::size_t i = 0; i < calls.size(); i++) {
    auto environment = variables;
    environment["TEST_CALL"] = std::to_string(i);
    const auto ended = each.run(environment);
    EXPECT_EQ(ended.signal, 0) << calls[i].says << ": " << ended;
    EXPECT_EQ(ended.status, 5) << calls[i].says << ": " << ended;
    EXPECT_NE(ended.err.find(std::string("tessera: ") + calls[i].says + " points to memory of a GPU"),
              std::string::npos)
        << ended;
    EXPECT_NE(ended.out.find("On entry to"), std::string::npos) << ended;
  }
}

TEST(DeviceOperands, AreRefusedWhereCallsGoToTheDevices) { expect_refused({}); }
TEST(DeviceOperands, AreRefusedWhereCallsStayOnTheHost) { expect_refused({{"TESSERA_DEVICES", "0"}}); }
TEST(DeviceOperands, AreComputedInManagedMemory) {
  for (const char* devices : {"cpu", "0"}) EXPECT_TRUE(has_ended(managed.run({{"TESSERA_DEVICES", devices}}), 5));
}
TEST(DeviceOperands, AreFoundThoughTheThreadHasCalledBefore) {
  for (const char* devices : {"cpu", "0"}) {
    const auto ended = late.run({{"TESSERA_DEVICES", devices}});
    EXPECT_EQ(ended.status, 5) << devices << ": " << ended;
    EXPECT_NE(ended.err.find("dgemm: argument 7 (A) points to memory of a GPU"), std::string::npos) << ended;
  }
}
TEST(DeviceOperands, AreNotLookedUpInAChild) { EXPECT_TRUE(has_ended(forked.run({{"TESSERA_DEVICES", "0"}}), 5)); }

}  // namespace
}  // namespace tessera::test::device_operands_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Programs that make illegal and empty calls, and have no xerbla. Their output, memory and exit status are the same
// with and without the drop-in.
#include "scenario.hpp"
#include "support/argument.hpp"
#include "symbols.hpp"

namespace tessera::test::refused_cpp {
namespace {

template <Scalar T>
void print(const std::string& symbol, const HostMatrix<T>& C) {
  std::uint64_t sum = 14695981039346656037U;
  for (Index j = 0; j < C.n(); j++)
    for (Index i = 0; i < C.m(); i++)
      for (const auto byte : std::bit_cast<std::array<unsigned char, sizeof(T)>>(C(i, j)))
        sum = (sum ^ byte) * 1099511628211U;
  std::fprintf(stderr, "%s: %016llx\n", symbol.c_str(), static_cast<unsigned long long>(sum));
}

/// Calls a routine once with each argument illegal, and once with each size zero, the latter also with leading
/// dimensions of zero.
template <Scalar T, typename Make>
void for_all_mistakes(const Routine<T>& routine, Make make) {
  for (const auto& argument : routine.arguments) {
    const auto spoiled = [&](auto spoil) {
      make([&](Arguments<T>& all) { spoil(Argument<T>(routine, argument, all), all); });
    };
    if (is_option(argument)) {
      spoiled([](Argument<T> x, Arguments<T>&) { x.set_option('X'); });
      if (argument.starts_with("op")) spoiled([](Argument<T> x, Arguments<T>&) { x.set_option('R'); });
    }
    if (is_size(argument))
      for (const Index value : {-1, 0}) spoiled([&](Argument<T> x, Arguments<T>&) { x.number() = value; });
    if (is_leading_dimension(argument))
      for (const Index value : {-1, 0, 1}) {
        spoiled([&](Argument<T> x, Arguments<T>&) { x.number() = value; });
        spoiled([&](Argument<T> x, Arguments<T>& all) { all.size = {}, x.number() = value; });
      }
  }
}

template <Scalar T>
void call_all() {
  for (const auto& routine : routines<T>())
    for (const auto& family : {families[0], families[4]})
      for (const auto layout : layouts_of(family)) {
        const auto symbol = symbol_of<T>(family, routine.name);
        void* const function = dlsym(RTLD_DEFAULT, symbol.c_str());
        if (routine.name == "gemmt") continue;  // not every BLAS has gemmt
        require(function != nullptr, symbol.c_str());
        for_all_mistakes(routine, [&](auto spoil) {
          auto call = random_call(routine, {}, {3, 4, 5}, 1);
          if (layout == Layout::RowMajor) call = row_major(call);
          auto arguments = call.arguments();
          spoil(arguments);
          call_symbol(routine, function, family, layout, arguments);
          print(symbol, call.C);
        });
      }
}

const Scenario all{"illegal and empty calls of all routines", [] {
                     call_all<float>();
                     call_all<double>();
                     call_all<std::complex<float>>();
                     call_all<std::complex<double>>();
                     return 5;
                   }};

std::string first_difference(const std::string& with_us, const std::string& without) {
  std::istringstream a(with_us), b(without);
  for (std::string ours, theirs;;) {
    const bool more = static_cast<bool>(std::getline(a, ours));
    if (static_cast<bool>(std::getline(b, theirs)) != more || (more && ours != theirs)) return ours + " / " + theirs;
    if (!more) return "";
  }
}

void expect_equal(const Ended& with_us, const Ended& without) {
  EXPECT_EQ(with_us.status, without.status) << with_us;
  EXPECT_EQ(with_us.signal, without.signal) << with_us;
  EXPECT_TRUE(with_us.out == without.out) << with_us.out.size() << " characters, not " << without.out.size();
  EXPECT_EQ(first_difference(with_us.err, without.err), "");
}

TEST(RefusedCalls, EndAsThoseOfOpenBlas) {
  const auto without = all.run({{"LD_PRELOAD", {}}});
  EXPECT_EQ(without.status, 5) << without;
  EXPECT_NE(without.out.find("On entry to"), std::string::npos);
  for (const char* devices : {"cpu", "0"}) expect_equal(all.run({{"TESSERA_DEVICES", devices}}), without);
}

using Dgemm = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                   const int*, const double*, const int*, const double*, double*, const int*);
using Dtrsm = void(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
                   const double*, const int*, double*, const int*);
using CblasDgemm = void(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                        int);

template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

int call_by_number(int number) {
  const int zero = 0, one = 1, two = 2, minus = -1;
  const double factor = 1, A[4] = {1, 2, 3, 4};
  double C[4] = {};
  auto* const dgemm = symbol<Dgemm>("dgemm_");
  auto* const cblas_dgemm = symbol<CblasDgemm>("cblas_dgemm");
  switch (number) {
  case 0: dgemm("N", "N", &minus, &two, &two, &factor, A, &two, A, &two, &factor, C, &two); break;
  case 1: dgemm("N", "N", &zero, &zero, &zero, &factor, A, &zero, A, &one, &factor, C, &one); break;
  case 2: symbol<Dtrsm>("dtrsm_")("L", "L", "N", "?", &two, &two, &factor, A, &two, C, &two); break;
  case 3: cblas_dgemm(102, 111, 111, 2, -1, 2, 1, A, 2, A, 2, 1, C, 2); break;
  case 4: cblas_dgemm(101, 111, 111, 2, 2, 2, 1, A, 1, A, 2, 1, C, 2); break;
  case 5: cblas_dgemm(7, 111, 111, 2, 2, 2, 1, A, 2, A, 2, 1, C, 2); break;
  case 6: cblas_dgemm(101, 114, 111, 2, 2, 2, 1, A, 2, A, 2, 1, C, 2); break;
  default: return 9;
  }
  std::fprintf(stderr, "went on: %g %g %g %g\n", C[0], C[1], C[2], C[3]);
  return 5;
}

const Scenario single{"an illegal call by its number",
                      [] { return call_by_number(std::atoi(std::getenv("TEST_CALL"))); }};

void expect_each_equal(const std::string& blas) {
  for (int call = 0;; call++) {
    const Variables number{{"TEST_CALL", std::to_string(call)}};
    auto without = number, with_us = number;
    without["LD_PRELOAD"] = blas;
    with_us["LD_PRELOAD"] = place_of("TESSERA_TEST_DROPIN") + (blas.empty() ? "" : ":") + blas;
    const auto plain = single.run(without);
    expect_equal(single.run(with_us), plain);
    if (plain.status == 9) return;
  }
}

TEST(RefusedCalls, EndOneByOneAsThoseOfOpenBlas) { expect_each_equal(""); }

/// The xerbla of the reference BLAS ends the program.
TEST(RefusedCalls, EndAsThoseOfTheReferenceBlas) {
  const char* reference = std::getenv("TESSERA_TEST_REFERENCE_BLAS");
  if (reference == nullptr || !std::filesystem::exists(reference)) GTEST_SKIP() << "install libblas3";
  expect_each_equal(reference);
}

}  // namespace
}  // namespace tessera::test::refused_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Illegal and empty calls have the same effect as without the drop-in: the same reports to the program's own xerbla,
// and the same memory contents. The expected effect is that of OpenBLAS, called directly by address. This process
// itself runs under the drop-in.
#include <starpu.h>

#include "dropin/symbols.hpp"
#include "dropin/xerbla.hpp"
#include "support/argument.hpp"

namespace tessera::test {
namespace {

constexpr Extent size{3, 4, 5};

/// OpenBLAS's own function with 32-bit integers; null if there is none.
template <Scalar T>
void* plain_function(const Family& family, const std::string& name) {
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return dlsym(library, (std::string(family.prefix) + type_letter<T> + name + (family.cblas() ? "" : "_")).c_str());
}

template <Scalar T>
struct Outcome {
  std::vector<Report> reports;
  HostMatrix<T> A, B, C;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// The effect of one call, after `spoil` has changed its arguments.
template <Scalar T, typename Spoil>
Outcome<T> outcome_of(const Routine<T>& routine, void* function, const Family& family, Layout layout, Spoil spoil) {
  auto call = random_call(routine, {}, size, 1);
  if (layout == Layout::RowMajor) call = row_major(call);
  auto arguments = call.arguments();
  spoil(arguments);
  reports.clear();
  call_symbol(routine, function, family, layout, arguments);
  return {reports, call.A, call.B, call.C};
}

std::string text(const std::vector<Report>& all) {
  std::string text;
  for (const auto& [by, name, position] : all) text += by + "(" + name + ", " + std::to_string(position) + ") ";
  return text.empty() ? "nothing" : text;
}

/// The expected effect. Old versions of OpenBLAS have no gemmt; then the position is that of the reference BLAS,
/// reported in OpenBLAS's form.
template <Scalar T, typename Spoil>
Outcome<T> expected(const Routine<T>& routine, const std::string& name, const Family& family, Layout layout,
                    int position, Spoil spoil) {
  auto narrow = family;
  narrow.wide = false;
  if (void* const function = plain_function<T>(family, name); function != nullptr)
    return outcome_of(routine, function, narrow, layout, spoil);
  auto call = random_call(routine, {}, size, 1);
  if (layout == Layout::RowMajor) call = row_major(call);
  std::string upper(1, type_letter<T>);
  upper += name;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  Outcome<T> outcome{{}, call.A, call.B, call.C};
  if (position >= 0) outcome.reports.push_back({"xerbla_", upper, position});
  return outcome;
}

/// @param position  position of the argument in Fortran; 0: the layout; −1: the call is legal in the reference BLAS
template <Scalar T, typename Spoil>
void expect_as_plain(const Routine<T>& routine, const std::string& name, const Family& family, Layout layout,
                     int position, Spoil spoil) {
  const auto symbol = symbol_of<T>(family, name);
  const auto plain = expected(routine, name, family, layout, position, spoil);
  const auto ours = outcome_of(routine, address_of(symbol), family, layout, spoil);
  ASSERT_TRUE(ours == plain) << symbol << ", layout " << static_cast<char>(layout) << ", position " << position
                             << ": reports " << text(ours.reports) << "instead of " << text(plain.reports)
                             << (ours.C == plain.C ? "" : ", and another result");
}

/// Illegal values of an option, including values that only OpenBLAS accepts.
template <Scalar T>
std::string illegal_values(const Routine<T>& routine, const std::string& option) {
  std::string all = "X?R";
  if (option == "side") all = "X?";
  if (option.starts_with("op"))
    for (const Op op : all_ops)
      if (std::ranges::count(routine.ops, op) == 0) all += static_cast<char>(op);
  return all;
}

/// Calls `body(name, family, layout)` for all symbols and layouts of a routine.
template <Scalar T, typename Body>
void for_all_symbols(const Routine<T>& routine, Body body) {
  for (const auto& family : families)
    for (const auto& name : names_of(routine.name))
      for (const auto layout : layouts_of(family)) {
        body(name, family, layout);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

class DropInArguments : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, DropInArguments, each_routine(), its_name);

TEST_P(DropInArguments, AreReportedAsWithoutTheDropIn) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_symbols(routine, [&](const std::string& name, const Family& family, Layout layout) {
      for (std::size_t a = 0; a < routine.arguments.size(); a++) {
        const auto& argument = routine.arguments[a];
        const auto expect = [&](auto spoil) {
          expect_as_plain(routine, name, family, layout, static_cast<int>(a) + 1,
                          [&](Arguments<T>& all) { spoil(Argument<T>(routine, argument, all), all); });
        };
        if (is_option(argument)) {
          for (const char value : illegal_values(routine, argument))
            expect([&](Argument<T> x, Arguments<T>&) { x.set_option(value); });
        } else if (is_size(argument)) {
          expect([](Argument<T> x, Arguments<T>&) { x.number() = -1; });
        } else if (is_leading_dimension(argument)) {
          expect([](Argument<T> x, Arguments<T>&) { x.number() = 2; });
          expect([](Argument<T> x, Arguments<T>&) { x.number() = -7; });
          // OpenBLAS accepts a leading dimension of zero in most routines.
          expect([](Argument<T> x, Arguments<T>& all) { all.size = {}, x.number() = 0; });
        }
        if (::testing::Test::HasFatalFailure()) return;
      }
    });
  });
}

TEST_P(DropInArguments, HaveALegalLayout) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& family : families)
      if (family.cblas()) expect_as_plain(routine, routine.name, family, Layout{'?'}, 0, [](auto&) {});
  });
}

/// Only the first illegal argument is reported.
TEST_P(DropInArguments, AreCheckedInTheirOrder) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& family : families)
      expect_as_plain(routine, routine.name, family, Layout::ColMajor, 1, [&](Arguments<T>& all) {
        for (const auto& argument : routine.arguments)
          if (is_option(argument)) Argument<T>(routine, argument, all).set_option('X');
          else if (is_size(argument) || is_leading_dimension(argument))
            Argument<T>(routine, argument, all).number() = -1;
      });
  });
}

/// An illegal argument is reported even if a size exceeds the host's 32 bits.
TEST_P(DropInArguments, AreReportedBesideSizesOf64Bits) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& family : families)
      if (family.wide) {
        const auto ours =
            outcome_of(routine, address_of(symbol_of<T>(family, routine.name)), family, Layout::ColMajor,
                       [](Arguments<T>& all) { all.lda = Index{1} << 33, all.size.n = -(Index{1} << 33); });
        ASSERT_EQ(ours.reports.size(), 1u);
        const auto n = std::ranges::find(routine.arguments, "n") - routine.arguments.begin();
        EXPECT_EQ(ours.reports[0].position, n + 1) << routine.name;
      }
  });
}

/// Sizes of zero with null pointers as matrices.
TEST_P(DropInArguments, MayBeNullIfTheResultIsEmpty) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_symbols(routine, [&](const std::string& name, const Family& family, Layout layout) {
      for_all_sizes(routine, {0, 3}, [&](const Extent& extent) {
        if (extent.n != 0 && (extent.m != 0 || !routine.has("m"))) return;
        expect_as_plain(routine, name, family, layout, -1, [&](Arguments<T>& all) {
          all.size = extent, all.A = all.B = all.C = nullptr;
          all.lda = all.ldb = all.ldc = 8;
        });
      });
    });
  });
}

TEST_P(DropInArguments, MayHaveEmptySums) {
  run([]<Scalar T>(const Routine<T>& routine) {
    if (!routine.has("k") || routine.name == "gemmt") return;
    for_all_symbols(routine, [&](const std::string& name, const Family& family, Layout layout) {
      expect_as_plain(routine, name, family, layout, -1, [&](Arguments<T>& all) {
        all.size.k = 0, all.A = all.B = nullptr, all.lda = all.ldb = 8;
        all.beta = T(2);
      });
    });
  });
}

/// Complex factors are passed by address. Empty calls do not read them.
TEST(DropInEmptyCalls, MayLackTheirFactors) {
  using Gemm =
      void(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*, int);
  using Her2k = void(int, int, int, int, int, const void*, const void*, int, const void*, int, double, void*, int);
  reports.clear();
  for (const int layout : {101, 102}) {
    reinterpret_cast<Gemm*>(address_of("cblas_zgemm"))(layout, 111, 111, 0, 0, 0, nullptr, nullptr, 1, nullptr, 1,
                                                       nullptr, nullptr, 1);
    reinterpret_cast<Her2k*>(address_of("cblas_zher2k"))(layout, 121, 111, 0, 0, nullptr, nullptr, 1, nullptr, 1, 0,
                                                         nullptr, 1);
  }
  EXPECT_EQ(text(reports), "nothing");
}

/// Checks after all tests that StarPU has not started.
class StartNothing : public ::testing::Environment {
 public:
  void TearDown() override { EXPECT_EQ(starpu_is_initialized(), 0); }
};
const auto* const nothing = ::testing::AddGlobalTestEnvironment(new StartNothing);

}  // namespace
}  // namespace tessera::test

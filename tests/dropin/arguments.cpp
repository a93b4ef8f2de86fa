// SPDX-License-Identifier: BSD-3-Clause
// Illegal arguments reach the program's own xerbla, each once, by the position and name that the reference BLAS gives
// them, and nothing else happens. This process runs under the drop-in itself.
#include <starpu.h>

#include "dropin/symbols.hpp"
#include "dropin/xerbla.hpp"
#include "support/argument.hpp"

namespace tessera::test {
namespace {

constexpr Extent size{3, 4, 5};

std::string expected_name(const Family& family, char type, const std::string& name) {
  if (family.cblas()) return std::string("cblas_") + type + name;
  std::string upper(1, type);
  upper += name;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  while (upper.size() < 6) upper += ' ';
  return upper;
}

/// One call with what `spoil` makes of its arguments.
template <Scalar T, typename Spoil>
void expect_reported(const Routine<T>& routine, const std::string& name, const Family& family, Layout layout,
                     int position, Spoil spoil) {
  auto call = random_call(routine, {}, size, 1);
  auto rows = layout == Layout::RowMajor ? in_rows(call) : call;
  const auto before = rows;
  auto arguments = rows.arguments();
  spoil(arguments);
  reports.clear();
  const auto symbol = symbol_of<T>(family, name);
  call_symbol(routine, address_of(symbol), family, layout, arguments);
  ASSERT_EQ(reports.size(), 1u) << symbol << ", position " << position << ", layout " << static_cast<char>(layout);
  EXPECT_EQ(reports[0].by, family.cblas() ? "cblas_xerbla" : "xerbla_") << symbol;
  EXPECT_EQ(reports[0].name, expected_name(family, type_letter<T>, name)) << symbol;
  EXPECT_EQ(reports[0].position, position) << symbol << ", layout " << static_cast<char>(layout);
  EXPECT_TRUE(rows.A == before.A && rows.B == before.B && rows.C == before.C) << symbol << " has computed";
}

/// Values that this option may not have.
template <Scalar T>
std::string illegal_values(const Routine<T>& routine, const std::string& option) {
  std::string all = "X?";
  if (option.starts_with("op"))
    for (const Op op : all_ops)
      if (std::ranges::count(routine.ops, op) == 0) all += static_cast<char>(op);
  return all;
}

template <Scalar T>
void expect_each_reported(const Routine<T>& routine, const std::string& name, const Family& family, Layout layout) {
  const int shift = family.cblas() ? 2 : 1;  // the layout is the first
  for (std::size_t a = 0; a < routine.arguments.size(); a++) {
    const auto& argument = routine.arguments[a];
    const int position = static_cast<int>(a) + shift;
    const auto expect = [&](auto spoil) {
      expect_reported(routine, name, family, layout, position,
                      [&](Arguments<T>& arguments) { spoil(Argument<T>(routine, argument, arguments), arguments); });
    };
    if (is_option(argument)) {
      for (const char value : illegal_values(routine, argument))
        expect([&](Argument<T> x, Arguments<T>&) { x.set_option(value); });
    } else if (is_size(argument)) {
      expect([](Argument<T> x, Arguments<T>&) { x.number() = -1; });
    } else if (is_leading_dimension(argument)) {
      // Of empty matrices it must be at least one; of others, at least as many as a column has, or by rows, a row.
      expect([](Argument<T> x, Arguments<T>& all) { all.size = {}, x.number() = 0; });
      expect([](Argument<T> x, Arguments<T>&) { x.number() = 2; });
      expect([](Argument<T> x, Arguments<T>&) { x.number() = -7; });
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

class DropInArguments : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, DropInArguments, each_routine(), its_name);

TEST_P(DropInArguments, ReachTheProgramsXerblaIfIllegal) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& family : families)
      for (const auto& name : names_of(routine.name))
        for (const auto layout : layouts_of(family)) {
          expect_each_reported(routine, name, family, layout);
          if (::testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST_P(DropInArguments, HaveALegalLayout) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& family : families)
      if (family.cblas()) expect_reported(routine, routine.name, family, Layout{'?'}, 1, [](auto&) {});
  });
}

/// The first that is illegal is reported, and no other.
TEST_P(DropInArguments, AreCheckedInTheirOrder) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for (const auto& family : families)
      expect_reported(routine, routine.name, family, Layout::ColMajor, family.cblas() ? 2 : 1, [&](Arguments<T>& all) {
        for (const auto& argument : routine.arguments)
          if (is_option(argument)) Argument<T>(routine, argument, all).set_option('X');
          else if (is_size(argument) || is_leading_dimension(argument))
            Argument<T>(routine, argument, all).number() = -1;
      });
  });
}

/// After all tests.
class StartNothing : public ::testing::Environment {
 public:
  void TearDown() override { EXPECT_EQ(starpu_is_initialized(), 0); }
};
const auto* const nothing = ::testing::AddGlobalTestEnvironment(new StartNothing);

}  // namespace
}  // namespace tessera::test

// SPDX-License-Identifier: BSD-3-Clause
#include "support/kinds_of_memory.hpp"

#include "dropin/symbols.hpp"

namespace tessera::test {
namespace {

TEST(DropInKindsOfMemory, GiveTheSameResults) {
  expect_right_with_all_kinds_of_memory([]<Scalar T>(const Routine<T>& routine, const Arguments<T>& arguments) {
    call_symbol(routine, address_of(symbol_of<T>(families[0], routine.name)), families[0], Layout::ColMajor, arguments);
  });
}

}  // namespace
}  // namespace tessera::test

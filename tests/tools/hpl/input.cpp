// SPDX-License-Identifier: BSD-3-Clause
// What tessera-hpl accepts in an HPL.dat, and what it refuses.
#include "tools/hpl/hpl_input.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "sample_input.hpp"
#include "support/files.hpp"
#include "tools/shared/exit_code.hpp"

namespace tessera::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

hpl::Input input_from(const std::string& text) {
  std::istringstream file(text);
  return hpl::read_input(file, "some.dat");
}

std::string refusal_of(const std::string& text) {
  try {
    input_from(text);
  } catch (const tools::BadArgument& error) {
    return error.what();
  }
  return "not refused";
}

TEST(HplInput, HasSizesPanelsAndThreshold) {
  const auto input = input_from(sample_input);
  EXPECT_EQ(input.device, hpl::Input::Device::StandardOutput);
  EXPECT_EQ(input.output, "HPL.out");
  EXPECT_THAT(input.sizes, ElementsAre(200, 333));
  EXPECT_THAT(input.panel_sizes, ElementsAre(64, 0, 100));
  EXPECT_EQ(input.threshold, 16);
}

TEST(HplInput, SaysMoreIfItHasAnotherGridOrVariants) {
  EXPECT_TRUE(input_from(sample_input).says_more);
  const std::string text = sample_input, grid = text.substr(0, text.find("1            # of panel fact"));
  EXPECT_TRUE(input_from(grid).says_more);
  EXPECT_FALSE(input_from(replaced(replaced(grid, "2            Ps", "1 Ps"), "2            Qs", "1 Qs")).says_more);
}

TEST(HplInput, HasProcessGrids) {
  std::istringstream file(replaced(
      replaced(replaced(sample_input, "1            # of process grids", "2 # grids"), "2            Ps", "1 3 Ps"),
      "2            Qs", "4 5 Qs"));
  const auto grids = hpl::read_grids(file, "some.dat");
  ASSERT_EQ(grids.size(), 2u);
  EXPECT_EQ(grids[0].p, 1);
  EXPECT_EQ(grids[0].q, 4);
  EXPECT_EQ(grids[1].p, 3);
  EXPECT_EQ(grids[1].q, 5);
  std::istringstream wrong(replaced(sample_input, "2            Qs", "x Qs"));
  EXPECT_THROW(hpl::read_grids(wrong, "some.dat"), tools::BadArgument);
}

TEST(HplInput, ChoosesTheOutput) {
  const auto device = [](const char* number) {
    return input_from(replaced(sample_input, "6            device", std::string(number) + " device")).device;
  };
  EXPECT_EQ(device("7"), hpl::Input::Device::StandardError);
  EXPECT_EQ(device("8"), hpl::Input::Device::File);
}

// HPL, too, looks at the name only if it opens the file.
TEST(HplInput, NeedsNoNameOfAFileThatIsNotWritten) {
  const auto with = [](const char* line, const char* number) {
    const auto text = replaced(sample_input, "HPL.out      output file name (if any)", line);
    return replaced(text, "6            device", std::string(number) + " device");
  };
  for (const char* line : {"", "   \t", "\r"}) {
    const auto input = input_from(with(line, "6"));
    EXPECT_EQ(input.device, hpl::Input::Device::StandardOutput);
    EXPECT_EQ(input.output, "");
    EXPECT_THAT(input.sizes, ElementsAre(200, 333));
    EXPECT_EQ(input_from(with(line, "7")).device, hpl::Input::Device::StandardError);
    EXPECT_THAT(refusal_of(with(line, "8")), HasSubstr("some.dat, line 4, device out: 8 is a file, but line 3 has no"));
  }
}

TEST(HplInput, MayComeFromAnotherSystem) {
  std::string text = sample_input;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
  text = replaced(replaced(text, "200 333", "\t+200   +333"), "16.0 ", "+16.0 ");
  EXPECT_THAT(input_from(text).sizes, ElementsAre(200, 333));
  EXPECT_EQ(input_from(text).threshold, 16);
}

TEST(HplInput, ThatIsNoTextGetsAReadableMessage) {
  const std::string bytes(
      "\xff\xfe"
      "2\0\x1b[2J",
      8),
      many(100000, 'x');
  EXPECT_THAT(refusal_of(replaced(sample_input, "200 333", bytes)), HasSubstr("N: '\\xff\\xfe2\\x00\\x1b[2J' is not"));
  EXPECT_LT(refusal_of(replaced(sample_input, "200 333", many)).size(), 200u);
  EXPECT_THAT(refusal_of(replaced(sample_input, "200 333", "+-5")), HasSubstr("'+-5' is not a number"));
  EXPECT_THAT(refusal_of(replaced(sample_input, "200 333", "+")), HasSubstr("'+' is not a number"));
}

TEST(HplInput, IgnoresTheRestOfALine) {
  const auto input = input_from(replaced(sample_input, "200 333      Ns", "200 333 500 7 Ns"));
  EXPECT_THAT(input.sizes, ElementsAre(200, 333));
}

TEST(HplInput, IsRefusedWithTheLine) {
  const struct {
    const char *what, *by, *message;
  } cases[] = {
      {"6            device", "stdout device", "some.dat, line 4, device out: 'stdout' is not a number from 0 to 2147"},
      {"2            # of problems", "0 # of problems",
       "some.dat, line 5, number of problem sizes: '0' is not a number from 1 to 20"},
      {"2            # of problems", "21 # of problems", "line 5, number of problem sizes: '21'"},
      {"200 333      Ns", "200 Ns", "some.dat, line 6, N: 'Ns' is not a number from 1 to 2147483647"},
      {"200 333      Ns", "200 ", "some.dat, line 6, N: the line has too few values"},
      {"200 333      Ns", "200 0 Ns", "some.dat, line 6, N: '0' is not a number from 1"},
      {"200 333      Ns", "200 33x3 Ns", "some.dat, line 6, N: '33x3' is not a number"},
      {"200 333      Ns", "200 3e5 Ns", "some.dat, line 6, N: '3e5' is not a number"},
      {"200 333      Ns", "200 4294967296 Ns", "some.dat, line 6, N: '4294967296' is not a number"},
      {"64 0 100     NBs", "64 -1 100", "some.dat, line 8, NB: '-1' is not a number from 0"},
      {"16.0         threshold", "high threshold", "some.dat, line 13, threshold: 'high' is not a number"},
      {"16.0         threshold", "nan threshold", "some.dat, line 13, threshold: 'nan' is not a number"},
  };
  for (const auto& [what, by, message] : cases)
    EXPECT_THAT(refusal_of(replaced(sample_input, what, by)), HasSubstr(message));
}

TEST(HplInput, IsRefusedIfItEndsTooEarly) {
  const std::string text = sample_input;
  EXPECT_THAT(refusal_of(""), HasSubstr("some.dat, line 1, output file name: the file ends before it"));
  EXPECT_THAT(refusal_of(text.substr(0, text.find("200 333"))), HasSubstr("some.dat, line 6, N: the file ends before"));
  EXPECT_THAT(refusal_of(text.substr(0, text.find("16.0"))),
              HasSubstr("some.dat, line 13, threshold: the file ends before it"));
}

}  // namespace
}  // namespace tessera::test

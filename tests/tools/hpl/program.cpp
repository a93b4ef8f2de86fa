// SPDX-License-Identifier: BSD-3-Clause
// The program tessera-hpl: what it computes on this machine, and how it refuses bad input.
#include <gmock/gmock.h>

#include <cstdlib>
#include <stdexcept>

#include "sample_input.hpp"
#include "support/environment.hpp"
#include "support/files.hpp"
#include "support/process.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// Runs it on an HPL.dat. TESSERA_TEST_HPL names the program.
Ended run_hpl(const std::filesystem::path& folder, const std::string& input, std::vector<std::string> options = {}) {
  const char* const program = std::getenv("TESSERA_TEST_HPL");
  if (program == nullptr) throw std::runtime_error("TESSERA_TEST_HPL must name tessera-hpl");
  write_file(folder / "some.dat", input);
  std::vector<std::string> words{program};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(folder / "some.dat");
  return run_program(words, 200);
}

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) count++;
  return count;
}

TEST(Hpl, SolvesEverySizeWithEveryPanel) {
  const Scratch scratch;
  const auto ended = run_hpl(scratch.path(), sample_input, {"--policy", "tessera"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(count_of(ended.out, "\nWR"), 6) << ended.out;
  EXPECT_EQ(count_of(ended.out, "PASSED"), 6);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("         200    64     1     1 "), HasSubstr("         333   100     1     1 "),
                    HasSubstr("     6 tests completed and passed residual checks")));
}

TEST(Hpl, ExitsWith1IfAResidualReachesTheThreshold) {
  const Scratch scratch;
  const auto ended = run_hpl(scratch.path(), replaced(sample_input, "16.0 ", "1e-9 "), {"--tile", "50"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_EQ(count_of(ended.out, "FAILED"), 2) << ended.out;
}

TEST(Hpl, WritesToTheFileOfTheInput) {
  const Scratch scratch;
  const auto file = scratch.path() / "HPL.out";
  auto input = replaced(sample_input, "HPL.out", file.string());
  input = replaced(input, "6            device", "8 device");
  const auto ended = run_hpl(scratch.path(), input, {"--tile", "50"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(count_of(read_file(file), "PASSED"), 2);
}

TEST(Hpl, RefusesWhatItCannotSolve) {
  const Scratch scratch;
  const auto expect_refused = [&](const std::string& input, const std::vector<std::string>& options,
                                  const std::string& message) {
    const auto ended = run_hpl(scratch.path(), input, options);
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr(message));
  };
  expect_refused(replaced(sample_input, "200 333 ", "200 x "), {}, "some.dat, line 6, N: 'x' is not a number");
  expect_refused(replaced(sample_input, "200 333 ", "200 20000000 "), {},
                 "N = 20000000 needs 3200000.2 GB of host memory, but only ");
  expect_refused(sample_input, {"--memory", "fast"}, "--memory: 'fast' is not one of pinned, pageable");
  expect_refused(sample_input, {"--gpus", "1000"}, "--gpus: '1000' exceeds the ");
  expect_refused(sample_input, {"another"}, "/some.dat; --help lists the options\n");
  const auto missing = run_program({std::getenv("TESSERA_TEST_HPL"), scratch.path() / "HPL.dat"}, 200);
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("HPL.dat: no such file; docs/hpl.md has one to begin with"));
  const Environment two{{"OMPI_COMM_WORLD_SIZE", "2"}};
  const auto many = run_hpl(scratch.path(), sample_input);
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.err, AnyOf(HasSubstr("start it without mpirun or srun"),  // without MPI
                              HasSubstr("P = 2 and Q = 2 need 4 processes, but 2 are started")));
}

}  // namespace
}  // namespace tessera::test

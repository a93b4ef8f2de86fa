// SPDX-License-Identifier: BSD-3-Clause
// The options of the policy: the values that TESSERA_SCHED may have, and the messages about others.
#include "scheduler/ideas/options.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "../../support/environment.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

scheduler::Options options_of(const std::string& text) {
  const Environment environment{{"TESSERA_SCHED", text.c_str()}};
  return scheduler::options_from_environment();
}

std::string refusal_of(const std::string& text) {
  try {
    options_of(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Options, HaveDefaults) {
  for (const char* text : {"", "steal", "+steal,slots=64"}) {
    const auto options = options_of(text);
    EXPECT_TRUE(options.steal) << text;
    EXPECT_EQ(options.slots, 64) << text;
  }
}

TEST(Options, AreSetInAList) {
  const auto options = options_of("-write-back,slots=3,+wait,results=0,window=1024");
  EXPECT_FALSE(options.write_back);
  EXPECT_TRUE(options.wait);
  EXPECT_TRUE(options.steal) << "not named";
  EXPECT_EQ(options.slots, 3);
  EXPECT_EQ(options.results, 0);
  EXPECT_EQ(options.window, 1024);
  EXPECT_EQ(options.lookahead, 55) << "not named";
}

TEST(Options, LocalityNamesAWay) {
  using scheduler::Locality;
  for (const char* text : {"", "locality", "+locality", "locality=time"})
    EXPECT_EQ(options_of(text).locality, Locality::Time) << text;
  for (const char* text : {"-locality", "locality=off"}) EXPECT_EQ(options_of(text).locality, Locality::Off) << text;
  EXPECT_EQ(options_of("slots=8,locality=hits").locality, Locality::Hits);
}

struct Wrong {
  const char *word, *problem;
};

const Wrong wrong_words[] = {{"slots=0", "must be slots=N with a number from 1 to 1024"},
                             {"slots=1025", "a number from 1 to 1024"},
                             {"slots=many", "a number from 1 to 1024"},
                             {"slots=8x", "a number from 1 to 1024"},
                             {"slots=", "a number from 1 to 1024"},
                             {"slots", "must be slots=N"},
                             {"-slots", "must be slots=N"},
                             {"+slots=8", "must be slots=N"},
                             {"window=-1", "a number from 1 to 1024"},
                             {"lookahead=101", "must be lookahead=N with a number from 0 to 100"},
                             {"lookahead=99999999999", "a number from 0 to 100"},
                             {"prefetch=off", "must be prefetch or -prefetch"},
                             {"locality=on", "must be locality=time, locality=hits or locality=off"},
                             {"-locality=hits", "must be locality=time, locality=hits or locality=off"},
                             {"-steal=off", "must be steal or -steal"},
                             {"stealing", "not an option of the policy"},
                             {"STEAL", "not an option of the policy"},
                             {"-write_back", "not an option of the policy"},
                             {" -steal", "not an option of the policy"},
                             {"=8", "not an option of the policy"},
                             {"+-steal", "not an option of the policy"},
                             {"-", "not an option of the policy"}};

TEST(Options, ThatAreWrongAreNamedWithWhatIsAllowed) {
  for (const auto& wrong : wrong_words)
    for (const std::string before : {"", "-wait,"}) {
      const auto refusal = refusal_of(before + wrong.word);
      EXPECT_THAT(refusal, StartsWith("TESSERA_SCHED has '" + std::string(wrong.word) + "', "));
      EXPECT_THAT(refusal, HasSubstr(wrong.problem));
    }
}

TEST(Options, OfUnknownNamesNameTheKnownOnes) {
  EXPECT_THAT(refusal_of("stealing"),
              HasSubstr("its options are slots=N, window=N, locality, chains, prefetch, lookahead=N, results=N, wait, "
                        "relay, steal, decline, models, write-back"));
}

TEST(Options, MayNotBeRepeatedNorEmpty) {
  EXPECT_EQ(refusal_of("steal,slots=8,-steal"), "TESSERA_SCHED has '-steal', but steal may be given only once");
  EXPECT_THAT(refusal_of("slots=8,slots=8"), HasSubstr("slots may be given only once"));
  for (const char* text : {",", "-steal,", ",-steal", "-steal,,-wait"})
    EXPECT_THAT(refusal_of(text), HasSubstr("TESSERA_SCHED has '', which is not an option")) << text;
}

TEST(Options, OldNamesAreRefusedWithTheirNewNames) {
  for (const auto& [old, now] : {std::pair{"TESSERA_SCHED_SLOTS", "TESSERA_SCHED=slots=N"},
                                 {"TESSERA_SCHED_WRITE_BACK", "TESSERA_SCHED=-write-back"}}) {
    const Environment environment{{old, "8"}};
    EXPECT_EQ(refusal_of("-steal"), std::string(old) + " is no longer read: use " + now);
    const Environment empty{{old, ""}};
    EXPECT_EQ(refusal_of("-steal"), "");
  }
}

}  // namespace
}  // namespace tessera::test

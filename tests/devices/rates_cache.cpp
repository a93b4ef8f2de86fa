// SPDX-License-Identifier: BSD-3-Clause
// The cache of measured GPU rates in a file.
#include "devices/rates_cache.hpp"

#include <gmock/gmock.h>

#include "common/cache.hpp"
#include "common/whole_file.hpp"

namespace tessera::device::rates_cache_cpp {
namespace {

namespace fs = std::filesystem;

class Rates : public ::testing::Test {
 protected:
  RatesCache cache(const std::string& conditions = "driver 1, CUDA 13.0, 700 W") const {
    return {folder_.path(), "NVIDIA H200/141GB", conditions};
  }
  fs::path file() const { return folder_.path() / "rates-of-NVIDIA-H200-141GB.json"; }

  common::PrivateFolder folder_{::testing::TempDir()};
  const CostCurve curve_{{{1e6, 1.25e-4}, {8e6, 5e-4}}};
};

TEST_F(Rates, AreFoundAgain) {
  EXPECT_TRUE(cache().find("d").empty());
  cache().keep("d", curve_);
  cache().keep("s", CostCurve({{2, 1}}));
  EXPECT_TRUE(fs::exists(file()));
  const auto found = cache().find("d");
  ASSERT_EQ(found.points().size(), 2U);
  EXPECT_EQ(found.points()[1].amount, 8e6);
  EXPECT_EQ(found.points()[1].seconds, 5e-4);
  EXPECT_EQ(cache().find("s").points().size(), 1U);
  EXPECT_TRUE(cache().find("z").empty());
}

TEST_F(Rates, DependOnTheConditions) {
  cache().keep("d", curve_);
  for (const char* other : {"driver 2, CUDA 13.0, 700 W", "driver 1, CUDA 13.1, 700 W", "driver 1, CUDA 13.0, 350 W"}) {
    EXPECT_TRUE(cache(other).find("d").empty());
    cache(other).keep("d", CostCurve({{2, 1}}));
  }
  EXPECT_EQ(cache().find("d").points().size(), 2U) << "still there";
}

TEST_F(Rates, ThatMakeNoSenseAreIgnored) {
  std::vector<std::string> damaged{"", "{", std::string(3, '\0'), "[1]", R"({"d": [[1, 1]]})"};
  for (const char* curves : {"3", R"({"d": 3})", R"({"d": [3]})", R"({"d": [[1]]})", R"({"d": [[1, "x"]]})",
                             R"({"d": [[1, 0]]})", R"({"d": [[1, -1]]})", R"({"d": [[2, 1], [1, 1]]})", R"({"d": []})"})
    damaged.push_back(R"({"driver 1, CUDA 13.0, 700 W": )" + std::string(curves) + "}");
  for (const auto& text : damaged) {
    common::write_whole(file(), text);
    EXPECT_TRUE(cache().find("d").empty()) << text;
    cache().keep("d", curve_);
    EXPECT_EQ(cache().find("d").points().size(), 2U) << "made anew after: " << text;
  }
}

TEST_F(Rates, WithoutACacheAreNotKept) {
  const RatesCache none({}, "GPU", "");
  none.keep("d", curve_);
  EXPECT_TRUE(none.find("d").empty());
  EXPECT_NO_THROW(RatesCache("/proc", "GPU", "").keep("d", curve_));
}

}  // namespace
}  // namespace tessera::device::rates_cache_cpp

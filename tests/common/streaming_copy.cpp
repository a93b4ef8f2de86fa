// SPDX-License-Identifier: BSD-3-Clause
#include "common/streaming_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tessera::test::streaming_copy_cpp {
namespace {

TEST(StreamingCopy, AllPlacesAndLengths) {
  constexpr std::size_t most = 400, around = 80;
  std::vector<std::byte> source(most + 2 * around), target(source.size());
  for (std::size_t i = 0; i < source.size(); i++) source[i] = static_cast<std::byte>(1 + i % 251);
  const auto untouched = [](std::byte x) { return x == std::byte{}; };
  for (std::size_t to = 1; to < 65; to++)
    for (const std::size_t from : {std::size_t{0}, to, std::size_t{5}})
      for (std::size_t count = 0; count <= most; count++) {
        std::fill(target.begin(), target.end(), std::byte{});
        common::copy_streaming(target.data() + to, source.data() + from, count);
        const auto begin = target.begin() + static_cast<std::ptrdiff_t>(to),
                   end = begin + static_cast<std::ptrdiff_t>(count);
        ASSERT_TRUE(std::equal(begin, end, source.begin() + static_cast<std::ptrdiff_t>(from)))
            << count << " bytes from " << from << " to " << to;
        ASSERT_TRUE(std::all_of(target.begin(), begin, untouched) && std::all_of(end, target.end(), untouched))
            << count << " bytes from " << from << " to " << to;
      }
}

}  // namespace
}  // namespace tessera::test::streaming_copy_cpp

// SPDX-License-Identifier: BSD-3-Clause
// Bytes by link and by operand, their compulsory minimum, and where tasks found their tiles.
#include <gmock/gmock.h>

#include "small_run.hpp"
#include "trace/analysis/analysis.hpp"

namespace tessera::trace::traffic_cpp {
namespace {

constexpr int gpu_0 = 0, gpu_1 = 1, host = 0, node_0 = 1, node_1 = 2;

OperandTraffic of(const Analysis& analysis, char operand) {
  for (const auto& traffic : analysis.operands)
    if (traffic.operand == operand) return traffic;
  return {};
}

void expect_hits(const Hits& hits, std::size_t own, std::size_t peer, std::size_t from_host) {
  EXPECT_EQ(hits.own, own);
  EXPECT_EQ(hits.peer, peer);
  EXPECT_EQ(hits.host, from_host);
}

TEST(Links, BytesCountAndUnion) {
  SmallRun small(2);
  const int a = small.tile('A', 0, 0, 3 * megabyte), b = small.tile('B', 0, 0, 5 * megabyte);
  small.transfer(a, host, node_0, 0, 4);
  small.transfer(a, host, node_1, 0, 1);
  small.transfer(b, host, node_0, 1, 2);  // within the first transfer
  small.transfer(b, host, node_0, 3, 5);  // overlaps the first transfer
  small.transfer(a, host, node_0, 7, 8);
  small.transfer(a, node_0, node_1, 7, 8);
  const auto links = analyse(small.run).links;
  ASSERT_EQ(links.size(), 3);
  EXPECT_EQ(links[0].to, node_0);
  EXPECT_EQ(links[0].transfers, 4);
  EXPECT_EQ(links[0].bytes, 16 * megabyte);
  EXPECT_EQ(links[0].busy, 6);
  EXPECT_EQ(links[0].by_operand, (std::map<char, std::uint64_t>{{'A', 6 * megabyte}, {'B', 10 * megabyte}}));
  EXPECT_EQ(links[1].to, node_1);
  EXPECT_EQ(links[1].busy, 1);
  EXPECT_EQ(links[2].from, node_0);
}

TEST(Operands, MinimumCountsUpdatedAndWrittenTiles) {
  SmallRun small(2);
  const int a = small.tile('A', 0, 0, 1 * megabyte), c = small.tile('C', 0, 0, 2 * megabyte),
            d = small.tile('C', 1, 0, 4 * megabyte);
  small.task(gpu_0, 0, 1, {small.read(a), small.update(c)});  // beta = 1: C is read
  small.task(gpu_1, 0, 1, {small.read(a), small.write(d)});   // beta = 0: it is not read
  small.task(gpu_1, 1, 2, {small.read(a), small.update(d)});  // the next term reads it from this GPU
  const auto analysis = analyse(small.run);
  EXPECT_EQ(of(analysis, 'A').least_in, 1 * megabyte) << "once for all GPUs together";
  EXPECT_EQ(of(analysis, 'A').least_out, 0);
  EXPECT_EQ(of(analysis, 'C').least_in, 2 * megabyte);
  EXPECT_EQ(of(analysis, 'C').least_out, 6 * megabyte) << "once a tile";
}

TEST(Operands, TilesOfTwoOperandsComeOnce) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0), c = small.tile('C', 0, 0);
  auto as_b = small.read(a);
  as_b.operand = 'B';
  small.task(gpu_0, 1, 2, {small.read(a), as_b, small.write(c)});
  small.transfer(a, host, node_0, 0, 1);
  const auto analysis = analyse(small.run);
  EXPECT_EQ(of(analysis, 'A').least_in, 100 * megabyte);
  EXPECT_EQ(of(analysis, 'A').in, 100 * megabyte);
  EXPECT_EQ(of(analysis, 'B').least_in, 0);
  expect_hits(analysis.hits, 1, 0, 1);
}

TEST(Operands, TemporaryAndScratchTilesNeedNothing) {
  SmallRun small(1);
  const int t = small.temporary(), s = small.tile('-', none, none);
  const Access scratch{s, '-', true, true, true};
  small.task(gpu_0, 0, 1, {small.write(t), scratch});
  small.task(gpu_0, 1, 2, {small.update(t), scratch});
  small.transfer(t, node_0, host, 2, 3, Transfer::Reason::WriteBack);
  const auto analysis = analyse(small.run);
  ASSERT_EQ(analysis.operands.size(), 1) << "scratch is no operand";
  EXPECT_EQ(of(analysis, 'C').least_in, 0);
  EXPECT_EQ(of(analysis, 'C').least_out, 0);
  EXPECT_EQ(of(analysis, 'C').out, 100 * megabyte) << "it was copied nevertheless";
  expect_hits(analysis.hits, 1, 0, 0);
}

TEST(Operands, WithoutGpusNothingMustMove) {
  SmallRun small(0, 1);
  const int a = small.tile('A', 0, 0), c = small.tile('C', 0, 0);
  small.task(0, 0, 1, {small.read(a), small.update(c)});
  for (const auto& operand : analyse(small.run).operands) {
    EXPECT_EQ(operand.least_in, 0);
    EXPECT_EQ(operand.least_out, 0);
  }
}

TEST(Operands, TilesWrittenByCoresNeedNotEnterTheGPUs) {
  SmallRun small(1, 1);
  const int c = small.tile('C', 0, 0);
  const int first = small.task(1, 0, 1, {small.write(c)});
  small.transfer(c, host, node_0, 1, 2);
  small.task(gpu_0, 2, 3, {small.update(c)}, {first});
  const auto analysis = analyse(small.run);
  EXPECT_EQ(of(analysis, 'C').least_in, 0);
  EXPECT_EQ(of(analysis, 'C').in, 100 * megabyte);
  EXPECT_EQ(of(analysis, 'C').least_out, 100 * megabyte);
}

TEST(Operands, InOutAndBetween) {
  SmallRun small(2);
  const int c = small.tile('C', 0, 0, 7 * megabyte);
  small.transfer(c, host, node_0, 0, 1);
  small.transfer(c, node_0, node_1, 1, 2);
  small.transfer(c, node_1, node_0, 2, 3);
  small.transfer(c, node_1, host, 3, 4);
  const auto traffic = of(analyse(small.run), 'C');
  EXPECT_EQ(traffic.in, 7 * megabyte);
  EXPECT_EQ(traffic.between_gpus, 14 * megabyte);
  EXPECT_EQ(traffic.out, 7 * megabyte);
}

TEST(Hits, HostPeerAndOwn) {
  SmallRun small(2);
  const int a = small.tile('A', 0, 0), c = small.tile('C', 0, 0);
  small.transfer(a, host, node_0, 0, 1);
  const int first = small.task(gpu_0, 1, 2, {small.read(a), small.write(c)});  // A from the host; C is not read
  small.task(gpu_0, 2, 3, {small.read(a), small.update(c)}, {first});          // both on the GPU itself
  small.transfer(c, node_0, node_1, 3, 4);
  small.task(gpu_1, 4, 5, {small.read(c)});  // peer
  expect_hits(analyse(small.run).hits, 2, 1, 1);
}

TEST(Hits, EvictedTilesCountAgain) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.transfer(a, host, node_0, 0, 1);
  small.task(gpu_0, 1, 2, {small.read(a)});
  small.transfer(a, host, node_0, 2, 3);
  small.task(gpu_0, 3, 4, {small.read(a)});
  expect_hits(analyse(small.run).hits, 0, 0, 2);
}

TEST(Hits, ATransferWithoutAUser) {
  SmallRun small(1);
  const int a = small.tile('A', 0, 0);
  small.transfer(a, host, node_0, 0, 1);
  small.task(gpu_0, 1, 2, {small.read(a)});
  small.transfer(a, host, node_0, 2, 3);
  expect_hits(analyse(small.run).hits, 0, 0, 1);
}

TEST(Hits, OnlyOfGpus) {
  SmallRun small(1, 1);
  const int c = small.tile('C', 0, 0);
  const int first = small.task(gpu_0, 0, 1, {small.write(c)});
  small.transfer(c, node_0, host, 1, 2);
  small.task(1, 2, 3, {small.read(c)}, {first});
  expect_hits(analyse(small.run).hits, 0, 0, 0);
}

}  // namespace
}  // namespace tessera::trace::traffic_cpp

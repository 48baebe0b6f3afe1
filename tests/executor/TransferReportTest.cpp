// What of the attributes of a message a wire executes, and how that is counted.
#include "executor/TransferReport.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr TransferSite kShared{.bytes = 5000, .isShared = true};
constexpr TransferSite kOwn{.bytes = 5000};
constexpr TransferSite kLong{.bytes = 20000};

/// As between ranks of a machine.
TransferCaps caps() {
  TransferCaps caps;
  caps.eagerUpTo = 32000;
  caps.defaultEagerUpTo = 8000;
  caps.rendezvousFrom = 41;
  caps.staticFrom = caps.readerFrom = caps.writerFrom = 16000;
  caps.sharedStaticFrom = caps.sharedCanaryFrom = 1;
  caps.sharedWriterFrom = 0;
  caps.staticReader = caps.announced = true;
  caps.streamedFrom = 513;
  return caps;
}

TEST(Transfers, areExecutedWhereTheWireReaches) {
  constexpr Transfer kStatic{.protocol = Protocol::Static};
  EXPECT_EQ(executedOf(kStatic, caps(), kShared), kStatic);
  EXPECT_EQ(executedOf(kStatic, caps(), kLong), kStatic);
  EXPECT_EQ(executedOf(kStatic, caps(), kOwn), Transfer());
  EXPECT_EQ(executedOf({.protocol = Protocol::Eager}, caps(), {.bytes = 32001}), Transfer());
  EXPECT_EQ(executedOf({.protocol = Protocol::Rendezvous}, caps(), {.bytes = 40}), Transfer());
  EXPECT_EQ(executedOf({.mover = Mover::Writer}, caps(), kLong), Transfer{.mover = Mover::Writer});
  EXPECT_EQ(executedOf({.mover = Mover::Writer}, caps(), kShared), Transfer()); // it is eager
  Transfer asked{.protocol = Protocol::Rendezvous, .mover = Mover::Writer};
  EXPECT_EQ(executedOf(asked, caps(), kShared), asked);
}

// A canary lies in memory that both ends have mapped, and its sender copies.
TEST(Transfers, haveACanaryInSharedMemory) {
  constexpr Transfer kCanary{.protocol = Protocol::Static, .canary = true, .announced = true};
  EXPECT_EQ(executedOf(kCanary, caps(), kShared), kCanary);
  EXPECT_EQ(executedOf(kCanary, caps(), kLong), Transfer());
  Transfer put = kCanary;
  put.mover = Mover::Writer;
  Transfer without = put;
  without.canary = false;
  EXPECT_EQ(executedOf(put, caps(), kLong), without);
  Transfer got = put;
  got.mover = without.mover = Mover::Reader;
  EXPECT_EQ(executedOf(got, caps(), kShared), without);
}

TEST(Transfers, areStreamedIntoACombine) {
  constexpr Transfer kStreamed{.streamed = true};
  TransferSite site = kOwn;
  EXPECT_EQ(executedOf(kStreamed, caps(), site), Transfer());
  site.isCombined = true;
  EXPECT_EQ(executedOf(kStreamed, caps(), site), kStreamed);
  site.bytes = 512;
  EXPECT_EQ(executedOf(kStreamed, caps(), site), Transfer());
}

// A wire that says nothing executes nothing but that short messages are eager.
TEST(Transfers, ofAWireWithoutCapabilitiesAreItsOwn) {
  Transfer asked{.protocol = Protocol::Static,
                 .mover = Mover::Writer,
                 .canary = true,
                 .announced = true,
                 .streamed = true,
                 .multicast = true};
  EXPECT_EQ(executedOf(asked, {}, kShared), Transfer());
}

TEST(Transfers, areCounted) {
  TransferReport report;
  EXPECT_EQ(report.inWords(), "");
  EXPECT_TRUE(report.isExecuted());
  Transfer asked{.protocol = Protocol::Static, .canary = true};
  report.add(asked, asked);
  EXPECT_TRUE(report.isExecuted());
  report.add(asked, {.protocol = Protocol::Static});
  EXPECT_FALSE(report.isExecuted());
  EXPECT_EQ(report.inWords(), "via static 2 of 2, canary 1 of 2");
  report.add(report);
  EXPECT_EQ(report.inWords(), "via static 4 of 4, canary 2 of 4");
}

} // namespace
} // namespace colldsl::test

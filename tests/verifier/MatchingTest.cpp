#include "tests/verifier/ScheduleBuilder.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Matching, sizesDiffer) {
  ScheduleBuilder b(2);
  b.sendBytes(0, 100, 1);
  b.recvBytes(1, 8, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching,
                    {"rank 0's send 100 bytes to 1", "sends 100 bytes", "receives 8 bytes"}))
      << b.verdict();
}

TEST(Matching, peerOutOfRange) {
  ScheduleBuilder b(2);
  b.sendBytes(1, 8, 2);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching,
                    {"rank 1's send 8 bytes to 2 (line 1)", "names rank 2", "there are 2 ranks"}))
      << b.verdict();
}

TEST(Matching, sendAlone) {
  ScheduleBuilder b(3);
  b.sendBytes(0, 8, 1);
  b.recvBytes(1, 8, 2);
  VerifyReport report = b.verify();
  EXPECT_TRUE(fails(report, Proof::Matching, {"rank 0's send", "no matching receive on rank 1"}));
  EXPECT_TRUE(fails(report, Proof::Matching, {"rank 1's recv", "no matching send on rank 2"}));
  EXPECT_EQ(report.skipped.size(), 4u);
}

TEST(Matching, tagsDiffer) {
  ScheduleBuilder b(2);
  b.signal(0, 1, {}, 7);
  b.wait(1, 0, {}, 8);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"alone too: it has", "tag"})) << b.verdict();
}

TEST(Matching, twoSendsForOneReceive) {
  ScheduleBuilder b(2);
  b.sendBytes(0, 8, 1);
  b.sendBytes(0, 8, 1);
  b.schedule().ranks[0].ops[1].message = makeMessageId(0, 0);
  b.recvBytes(1, 8, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"2 sending ends and 1 receiving end"}))
      << b.verdict();
}

TEST(Matching, signalMeetsReceive) {
  ScheduleBuilder b(2);
  b.signal(0, 1);
  b.recvBytes(1, 0, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"a signal meets a wait"})) << b.verdict();
}

TEST(Matching, copyOfAnotherSize) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.elementsOf(x, 0, 4)}, {b.elementsOf(y, 0, 8)});
  EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"takes 16 bytes to 32 bytes"})) << b.verdict();
}

TEST(Matching, sizesOfTooFewRanks) {
  ScheduleBuilder b(3);
  VerifyReport report = verify(b.schedule(), {Sizes{8, {}}, Sizes{8, {}}});
  EXPECT_TRUE(fails(report, Proof::Matching, {"3 ranks", "sizes of 2"}));
}

TEST(Matching, sizeOutsideTheClass) {
  ScheduleBuilder b(1, 8);
  VerifyReport report = verify(b.schedule(), {Sizes{9, {}}});
  EXPECT_TRUE(fails(report, Proof::Matching, {"sizes 8, not for 9"}));
}

TEST(Matching, failuresAreLimitedButNeverNone) {
  ScheduleBuilder b(2);
  for (int i = 0; i < 20; ++i)
    b.sendBytes(0, 8, 1);
  EXPECT_EQ(b.verify({8, 3}).failures.size(), 3u);
  EXPECT_EQ(b.verify({8, 0}).failures.size(), 1u);
}

} // namespace
} // namespace colldsl::test

#include "tests/verifier/Collectives.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

struct Writes : testing::Test {
  Writes() : b(1), x(b.param("x", BufferRole::In)), y(b.param("y", BufferRole::Out)) {}

  ScheduleBuilder b;
  BufferId x, y;
};

TEST_F(Writes, aPromisedByteThatIsNotWritten) {
  b.copy(0, {b.elementsOf(x, 0, 7)}, {b.elementsOf(y, 0, 7)});
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"rank 0: y[7..8] is promised, but nothing writes"}))
      << b.verdict();
}

TEST_F(Writes, aReadOfAnUnwrittenTemporary) {
  BufferId t = b.temp(0, "t");
  b.copy(0, {b.elementsOf(x, 0, 4)}, {b.elementsOf(t, 0, 4)});
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(y, 0)});
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  VerifyReport report = b.verify();
  EXPECT_TRUE(fails(report, Proof::Writes,
                    {"copy t[0..8] to y[0..8] (line 2) reads t[4..8], which nothing has written"}))
      << b.verdict();
  EXPECT_EQ(report.failures.size(), 1u); // the promise fails for the same reason
}

TEST_F(Writes, aCombineIntoNothing) {
  b.combine(0, b.blockOf(x, 0), b.blockOf(y, 0));
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"reads y[0..8], which nothing has written"}))
      << b.verdict();
}

TEST_F(Writes, anOutParameterHoldsNothingAtEntry) {
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(y, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"y[0..8] is promised, but nothing writes it"}))
      << b.verdict();
}

TEST_F(Writes, outsideTheContract) {
  b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  b.ensure(0, b.elementsOf(y, 0, 4), 0, b.elementsOf(x, 0, 4));
  b.ensure(0, b.elementsOf(y, 4, 6), 0, b.elementsOf(x, 4, 6));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes,
                    {"copy x[0..8] to y[0..8] (line 1) writes y[6..8], of which no `ensures`"}))
      << b.verdict();
}

TEST_F(Writes, anInParameter) {
  b.copy(0, {b.elementsOf(x, 0, 4)}, {b.elementsOf(x, 4, 8)});
  b.ensure(0, b.elementsOf(x, 4, 8), 0, b.elementsOf(x, 0, 4));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"writes x[4..8], which is an `in` parameter"}))
      << b.verdict();
}

TEST_F(Writes, beyondABuffer) {
  b.copy(0, {b.elementsOf(x, 0, 2)}, {b.elementsOf(y, 7, 9)});
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"copy x[0..2] to y", "leaves its buffer y"}))
      << b.verdict();
}

TEST_F(Writes, beforeABuffer) {
  b.copy(0, {b.elementsOf(x, -1, 1)}, {b.elementsOf(y, 0, 2)});
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"leaves its buffer x"})) << b.verdict();
}

TEST_F(Writes, aBufferThatDoesNotExist) {
  b.followsData = false;
  b.copy(0, {b.elementsOf(BufferId{77}, 0, 1)}, {b.elementsOf(y, 0, 1)});
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"names a buffer that does not exist"}))
      << b.verdict();
}

TEST_F(Writes, aBufferOfOtherRanksOnly) {
  b.schedule().ranks[0].buffers[index(y)].significant = false;
  b.copy(0, {b.elementsOf(x, 0, 1)}, {b.elementsOf(y, 0, 1)});
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"touches y, which is significant on other ranks"}))
      << b.verdict();
}

TEST(WritesInOut, theEntryValueMayStay) {
  ScheduleBuilder b(2);
  BufferId buf = b.param("buf", BufferRole::InOut);
  b.send(0, {b.blockOf(buf, 0)}, 1);
  b.recv(1, {b.blockOf(buf, 0)}, 0);
  for (uint32_t r = 0; r < 2; ++r)
    b.ensure(r, b.blockOf(buf, 0), 0, b.blockOf(buf, 0));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST(WritesInOut, whatIsClobberedHoldsAnything) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), buf = b.param("buf", BufferRole::InOut);
  b.copy(0, {b.elementsOf(x, 0, 4)}, {b.elementsOf(buf, 2, 6)});
  b.ensure(0, b.elementsOf(buf, 0, 2), 0, b.elementsOf(buf, 0, 2));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"writes buf[2..6], of which no `ensures`"}))
      << b.verdict();
  Ensure clobber;
  clobber.target = b.elementsOf(buf, 2, 5);
  b.schedule().ranks[0].contract.ensures.push_back(clobber);
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"writes buf[5..6], of which no `ensures`"}))
      << b.verdict();
  b.schedule().ranks[0].contract.ensures.back().target = b.elementsOf(buf, 2, 8);
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
  EXPECT_EQ(b.verify().compared.size(), 1u);
}

TEST(WritesInOut, butNotAnotherRanks) {
  ScheduleBuilder b(2);
  BufferId buf = b.param("buf", BufferRole::InOut);
  for (uint32_t r = 0; r < 2; ++r)
    b.ensure(r, b.blockOf(buf, 0), 0, b.blockOf(buf, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"rank 1: buf[0..8] holds buf[0..8]@1, but buf[0..8]@0 was promised"}))
      << b.verdict();
}

TEST(WritesAlias, partOfAPromisedBufferMayBeWritten) {
  ScheduleBuilder b(1);
  BufferId y = b.param("y", BufferRole::Out, 2);
  BufferId x = b.alias("x", BufferRole::In, [&](uint32_t) { return b.blockOf(y, 1); });
  b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
  b.copy(0, {b.blockOf(y, 0)}, {b.blockOf(y, 1)});
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"writes y[8..16], of which no `ensures`"}))
      << b.verdict();
  b.ensure(0, b.blockOf(y, 1), 0, b.blockOf(x, 0));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

} // namespace
} // namespace colldsl::test

// Blocks whose sizes come with the call, or with the message.
#include "tests/verifier/Collectives.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Blocks, sizesMustBeGiven) {
  ScheduleBuilder b = raggedAllgather(3);
  std::vector<Sizes> none(3, Sizes{8, {}});
  EXPECT_TRUE(fails(verify(b.schedule(), none), Proof::Writes, {"sizes of whose blocks were not"}));
}

TEST(Blocks, ranksThatDisagreeOnALength) {
  ScheduleBuilder b(2);
  BufferId x = b.ragged("x", BufferRole::In, {4, 5});
  BufferId y = b.ragged("y", BufferRole::Out, {6});
  b.send(0, {b.raggedBlock(x, 1)}, 1);
  b.recv(1, {b.raggedBlock(y, 0)}, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching,
                    {"send x[block 1] to 1", "sends 20 bytes", "receives 24 bytes"}))
      << b.verdict();
}

TEST(Blocks, aBlockThatIsNotThere) {
  ScheduleBuilder b(1);
  b.followsData = false;
  BufferId x = b.ragged("x", BufferRole::In, {4, 5});
  b.send(0, {b.raggedBlock(x, 2)}, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"names a block that x does not have"}))
      << b.verdict();
}

TEST(Blocks, moreArrivesThanABlockMayHold) {
  ScheduleBuilder b(2);
  BufferId x = b.capacity("x", BufferRole::In, 25, {25});
  BufferId y = b.capacity("y", BufferRole::Out, 2, {2});
  b.send(0, {b.raggedBlock(x, 0)}, 1);
  b.recv(1, {b.raggedBlock(y, 0)}, 0);
  b.ensure(1, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"gets 100 bytes, but has room for 8 bytes"}))
      << b.verdict();
}

TEST(Blocks, aBlockWithoutALengthIsNotSent) {
  ScheduleBuilder b(2);
  BufferId y = b.capacity("y", BufferRole::Out, 8, {8});
  b.send(0, {b.raggedBlock(y, 0)}, 1);
  b.recv(1, {b.raggedBlock(y, 0)}, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"length of y[block 0], where nothing has arrived"}))
      << b.verdict();
}

TEST(Blocks, aPromisedBlockThatNeverArrives) {
  ScheduleBuilder b(1);
  BufferId x = b.ragged("x", BufferRole::In, {4});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {8});
  b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"y[block 0] is promised, but nothing arrives"}))
      << b.verdict();
}

TEST(Blocks, aListOfBlocksKeepsEachLength) {
  ScheduleBuilder b(2);
  BufferId x = b.capacity("x", BufferRole::In, 8, {3, 5});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {8, 8});
  b.send(0, {b.raggedBlock(x, 0), b.raggedBlock(x, 1)}, 1);
  b.recv(1, {b.raggedBlock(y, 0), b.raggedBlock(y, 1)}, 0);
  for (uint32_t i = 0; i < 2; ++i)
    b.ensure(1, b.raggedBlock(y, i), 0, b.raggedBlock(x, i));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST(Blocks, aListOfOtherBlocksThanWereSent) {
  ScheduleBuilder b(2);
  BufferId x = b.capacity("x", BufferRole::In, 8, {8});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {8, 8});
  b.send(0, {b.raggedBlock(x, 0)}, 1);
  b.recv(1, {b.raggedBlock(y, 0), b.raggedBlock(y, 1)}, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Matching,
                    {"sends the lengths of 1 block", "takes the lengths of 2 blocks"}))
      << b.verdict();
}

TEST(Blocks, aCopyToMoreBlocksThanItTakes) {
  ScheduleBuilder b(1);
  BufferId x = b.capacity("x", BufferRole::In, 8, {8});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {8, 8});
  b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(y, 0), b.raggedBlock(y, 1)});
  EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"cannot tell how long each of its blocks is"}))
      << b.verdict();
}

// Neither side knows the other: a side without lengths would not expect a message of no bytes,
// nor the lengths that precede a list.
TEST(Blocks, lengthsTravelBetweenTwoSidesThatHaveThem) {
  for (bool sends : {false, true}) {
    ScheduleBuilder b(2);
    BufferId x = b.ragged("x", BufferRole::In, {8});
    BufferId y = b.capacity("y", BufferRole::InOut, 8, {8});
    b.send(0, {b.raggedBlock(sends ? y : x, 0)}, 1);
    b.recv(1, {b.raggedBlock(sends ? x : y, 0)}, 0);
    const char *sender = sends ? "sends the lengths of 1 block, but" : "sends no lengths, but";
    const char *receiver = sends ? "takes no lengths" : "takes the lengths of 1 block";
    EXPECT_TRUE(fails(b.verify(), Proof::Matching, {sender, receiver})) << b.verdict();
  }
}

// The lengths in the list say where each part goes: a total that fits is not enough.
TEST(Blocks, aListThatIsCutElsewhereThanItsTargets) {
  for (int64_t cut : {3, 4}) {
    ScheduleBuilder b(2);
    BufferId x = b.param("x", BufferRole::In);
    BufferId v = b.capacity("v", BufferRole::InOut, 8, {5});
    b.send(0, {b.elementsOf(x, 0, 3), b.elementsOf(x, 3, 7), b.raggedBlock(v, 0)}, 1);
    BufferId t = b.temp(1, "t");
    b.recv(1, {b.elementsOf(t, 0, cut), b.elementsOf(t, cut, 7), b.raggedBlock(v, 0)}, 0);
    b.ensure(1, b.raggedBlock(v, 0), 0, b.raggedBlock(v, 0));
    if (cut == 3)
      EXPECT_TRUE(b.verify().proved()) << b.verdict();
    else
      EXPECT_TRUE(fails(b.verify(), Proof::Matching, {"gets 12 bytes, but has room for 16 bytes"}))
          << b.verdict();
  }
}

TEST(Blocks, aParameterThatLiesInABlockGivesItsLength) {
  ScheduleBuilder b(2, 8);
  BufferId y = b.capacity("y", BufferRole::Out, 8, {8, 8});
  BufferId x = b.alias("x", BufferRole::In, [&](uint32_t rank) { return b.raggedBlock(y, rank); });
  for (uint32_t r = 0; r < 2; ++r) {
    b.send(r, {b.raggedBlock(y, r)}, 1 - r);
    b.recv(r, {b.raggedBlock(y, 1 - r)}, 1 - r);
    for (uint32_t i = 0; i < 2; ++i)
      b.ensure(r, b.raggedBlock(y, i), i, b.blockOf(x, 0));
  }
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

// What it holds at entry is as long as it is itself, not as the block is in the end.
TEST(Blocks, aParameterGivesItsOwnLength) {
  ScheduleBuilder b(1, 8);
  BufferId z = b.capacity("z", BufferRole::In, 8, {5});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {5, 3});
  BufferId x = b.capacity("x", BufferRole::In, 8, {3});
  b.setAlias(0, x, b.raggedBlock(y, 0));
  b.copy(0, {b.raggedBlock(y, 0)}, {b.raggedBlock(y, 1)});
  b.copy(0, {b.raggedBlock(z, 0)}, {b.raggedBlock(y, 0)});
  b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(z, 0));
  b.ensure(0, b.raggedBlock(y, 1), 0, b.raggedBlock(x, 0));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

// A block has one length, under both names.
TEST(Blocks, aParameterThatLiesInABlockIsAsLong) {
  ScheduleBuilder b(1, 8);
  BufferId z = b.capacity("z", BufferRole::In, 8, {5});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {5});
  BufferId v = b.capacity("v", BufferRole::Out, 8, {5});
  BufferId x = b.capacity("x", BufferRole::In, 8, {3});
  b.setAlias(0, x, b.raggedBlock(y, 0));
  b.copy(0, {b.raggedBlock(z, 0)}, {b.raggedBlock(y, 0)});
  b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(v, 0)});
  b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(z, 0));
  b.ensure(0, b.raggedBlock(v, 0), 0, b.raggedBlock(z, 0));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST(Blocks, bytesBeyondTheLengthStayUntouched) {
  for (uint64_t before : {2, 3, 4}) {
    ScheduleBuilder b(1);
    BufferId z = b.capacity("z", BufferRole::In, 8, {before});
    BufferId x = b.capacity("x", BufferRole::In, 8, {3});
    BufferId y = b.capacity("y", BufferRole::Out, 8, {3});
    b.copy(0, {b.raggedBlock(z, 0)}, {b.raggedBlock(y, 0)});
    b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(y, 0)});
    b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
    if (before <= 3)
      EXPECT_TRUE(b.verify().proved()) << b.verdict();
    else
      EXPECT_TRUE(fails(b.verify(), Proof::Writes,
                        {"copy z[block 0] to y[block 0]", "writes y[3..4]",
                         "beyond the length that y[block 0] has in the end"}))
          << b.verdict();
  }
}

// What it held at entry there is none of the run's.
TEST(Blocks, aBlockMayGetShorter) {
  ScheduleBuilder b(1);
  BufferId x = b.capacity("x", BufferRole::In, 8, {3});
  BufferId y = b.capacity("y", BufferRole::InOut, 8, {6});
  b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(y, 0)});
  b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST(Blocks, partsOfABlockWhoseLengthTravels) {
  ScheduleBuilder b(1);
  BufferId x = b.capacity("x", BufferRole::In, 8, {4});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {4});
  Slice half = b.raggedBlock(x, 0);
  half.denominator = 2;
  b.copy(0, {half}, {b.raggedBlock(y, 0)});
  EXPECT_TRUE(fails(b.verify(), Proof::Writes, {"touches a part of a block of x"})) << b.verdict();
}

// A block of capacity has a length to be written even where no byte arrives.
TEST(Blocks, unorderedArrivalsRaceEvenIfEmpty) {
  ScheduleBuilder b(2);
  b.followsData = false;
  BufferId x = b.capacity("x", BufferRole::In, 8, {0});
  BufferId y = b.capacity("y", BufferRole::Out, 8, {0});
  for (int i = 0; i < 2; ++i) {
    b.send(0, {b.raggedBlock(x, 0)}, 1);
    b.recv(1, {b.raggedBlock(y, 0)}, 0);
  }
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"neither waits"})) << b.verdict();
}

} // namespace
} // namespace colldsl::test

// What the text form can say, and that it keeps it.

#include "tests/ir/DescribeErrors.h"
#include "tests/ir/Schedules.h"

#include "ir/Image.h"
#include "ir/TextForm.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace colldsl {
namespace {

void expectRoundTrip(const Schedule &schedule) {
  std::string text = printText(schedule);
  ParsedText back = parseText(text, "test");
  ASSERT_TRUE(back.errors.empty()) << describeErrors(back.errors, "test") << text;
  EXPECT_EQ(difference(schedule, back.schedule), "") << text;
  EXPECT_EQ(printText(back.schedule), text);
}

TEST(Text, KeepsEverything) { expectRoundTrip(everythingSchedule()); }
TEST(Text, KeepsRing) { expectRoundTrip(ringSchedule(5)); }
TEST(Text, KeepsNothing) { expectRoundTrip({}); }

TEST(Text, KeepsRandomSchedules) {
  for (uint64_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expectRoundTrip(randomSchedule(seed));
  }
}

TEST(Text, IsMadeToBeRead) {
  EXPECT_EQ(printText(ringSchedule(2)), R"(schedule "allgather_ring" contract
num_ranks 2
size n = 1000 in 1..4000
file "ring.coll"

rank 0 {
in x: i32[n]
out y: i32[2n]
l0: copy 4000b from x into y[0..n]
l1: send 4000b to 1 tag 0 from y[0..n]
l1 requires l0
l2: recv 4000b from 1 tag 0 into y[n..2n]
ensures y[0..n] == x@0
ensures y[n..2n] == x@1
}

rank 1 {
in x: i32[n]
out y: i32[2n]
l0: copy 4000b from x into y[n..2n]
l1: send 4000b to 0 tag 0 from y[n..2n]
l1 requires l0
l2: recv 4000b from 0 tag 0 into y[0..n]
ensures y[0..n] == x@0
ensures y[n..2n] == x@1
}
)");
}

// Ranks have a parameter under one name, but in sizes of their own, and in places of their own.
TEST(Text, PromisesOfBuffersThatDiffer) {
  std::string text = R"(schedule "s" contract
num_ranks 2
size n = 4 in 4..
file "f"

rank 0 {
in x: i32[n]
out y: i32[2n]
l0: recv 32b from 1 tag 0 into y
ensures y == x@1
ensures y[0..n] == x#2[n..2n]@1
ensures x == x@0
}

rank 1 {
out y: i32[0]
in x: i32[2n]
in x#2: i32[3n]
l0: send 32b to 0 tag 0 from x
}
)";
  ParsedText parsed = parseText(text, "test");
  EXPECT_EQ(describeErrors(parsed.errors, "test"), "");
  EXPECT_EQ(printText(parsed.schedule), text);
  const std::vector<EntryValue> &operands = parsed.schedule.ranks[0].contract.operands;
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_EQ(operands[0].slice.buffer, BufferId{1});
  EXPECT_EQ(operands[0].slice.endScale, 2);
  EXPECT_EQ(operands[1].slice.buffer, BufferId{2});
  EXPECT_EQ(operands[2].slice.buffer, BufferId{0});
}

// Which parts of a parameter hold anything at exit.
TEST(Text, ClobbersPrintThemselves) {
  std::string text = R"(schedule "s" contract
num_ranks 1
size n = 4 in 4..
file "f"

rank 0 {
inout x: i32[2n]
out y: i32[n]
l0: copy 16b from x[0..n] into y
ensures y == x[0..n]@0
clobbers x[n..2n] @2:7
}
)";
  ParsedText parsed = parseText(text, "test");
  EXPECT_EQ(describeErrors(parsed.errors, "test"), "");
  EXPECT_EQ(printText(parsed.schedule), text);
  std::vector<std::byte> bytes = encodeImage(parsed.schedule);
  std::vector<std::byte> aligned(bytes.size() + 64);
  auto shift = (64 - reinterpret_cast<uintptr_t>(aligned.data()) % 64) % 64;
  std::copy(bytes.begin(), bytes.end(), aligned.begin() + static_cast<ptrdiff_t>(shift));
  Result<Image> image = Image::load(std::span(aligned).subspan(shift, bytes.size()));
  ASSERT_TRUE(image) << image.message();
  EXPECT_EQ(printText(image->decode()), text);
}

// The example of docs/textform.md.
TEST(Text, SamplePrintsItself) {
  std::ifstream file(COLLDSL_GOAL_FILES "/sample.goal");
  std::string text(std::istreambuf_iterator<char>(file), {});
  ParsedText parsed = parseText(text, "sample.goal");
  EXPECT_EQ(describeErrors(parsed.errors, "sample.goal"), "");
  EXPECT_EQ(parsed.schedule.numOps(), 8u);
  EXPECT_EQ(printText(parsed.schedule), text);
}

/// The text between the braces of a single rank, at n == 12, as it prints.
std::string reprint(const std::string &body) {
  std::string head =
      "schedule \"s\" contract\nnum_ranks 1\nsize n = 12 in 0..\nfile \"f\"\n\nrank 0 {\n";
  ParsedText parsed = parseText(head + body + "}\n", "test");
  EXPECT_EQ(describeErrors(parsed.errors, "test"), "");
  std::string text = printText(parsed.schedule);
  EXPECT_EQ(text.substr(0, head.size()), head);
  return text.substr(head.size(), text.size() - head.size() - 2);
}

void expectPrintsItself(const std::string &body) { EXPECT_EQ(reprint(body), body); }

TEST(Text, Positions) {
  const std::string x = "in x: i32[9n+9]\n";
  for (const char *range :
       {"0..n", "1..7", "n..2n+3", "2n-3..2n", "0..n/3", "n/3..2n/3", "0..3n/3", "n..3n/3",
        "(2n-3)/5..(2n+3)/5", "7/2..n", "0..0/3", "-n+12..n", "(-n+12)/5..n"}) {
    SCOPED_TRACE(range);
    std::string body = x + "l0: copy 0b from x[" + range + "]\n";
    EXPECT_EQ(reprint(body).substr(0, body.size() - 1), body.substr(0, body.size() - 1));
  }
}

// Terms add up, and different denominators meet at the least common one.
TEST(Text, PositionsAreSums) {
  const std::string x = "in x: i32[9n+9]\n";
  EXPECT_EQ(reprint(x + "copy from x[2+n+1-n..2n + n] into x[n/2..2n/3]\n"),
            x + "l0: copy 8b from x[3..3n] into x[3n/6..4n/6]\n");
}

TEST(Text, Buffers) {
  expectPrintsItself("in x: i32[n]\n"
                     "out y: f64[2n+1]\n"
                     "inout z: u8[n/3..(2n+1)/3]\n"
                     "in open: i64[4][*]\n"
                     "in open#2: i64[4][*][3n]\n"
                     "out capacity: u16[8][<=][8n]\n"
                     "in \"any \\\"name\\\"\": i8[0]\n"
                     "in elsewhere: f32[n] insignificant\n"
                     "in early: i32[n] aliases late[n..2n] insignificant\n"
                     "temp late: i32[2n] aliases x\n");
}

// Keywords of one place are names in another.
TEST(Text, NamesMayBeKeywords) {
  expectPrintsItself("in from: i32[n]\n"
                     "in n: i32[n]\n"
                     "in requires: i32[n]\n"
                     "in sum: i32[n]\n"
                     "out into: i32[3n]\n"
                     "l0: copy 144b from from, n, requires into into\n"
                     "ensures into[0..n] == sum@0\n"
                     "ensures into[0..n] == sum(sum@0, n[0..n/2]@0)\n");
  EXPECT_EQ(reprint("in: calc 1\nsend: calc 2\nensures: calc 3\nrequires: calc 4\n"
                    "send requires in\nrequires irequires requires_not\nrequires_not: calc 5\n"),
            "l0: calc 1\nl1: calc 2\nl1 requires l0\nl2: calc 3\nl3: calc 5\nl4: calc 4\n"
            "l4 irequires l3\n");
}

TEST(Text, Ops) {
  expectPrintsItself("in x: i32[2n]\n"
                     "in open: i32[4][*]\n"
                     "l0: send 8b to 0 tag 4294967295 nth 3 cpu 1 nic 2 @3:14\n"
                     "l1: send 96b to 0 tag 0 from x\n"
                     "l2: send 4b to 0 tag 0 nth 7 from x[0..1]\n"
                     "l3: send to 0 tag 0 from open[3], open[2][1..n/2]\n"
                     "l4: recv 48b from 0 tag 0 into x[0..n]\n"
                     "l5: signal to 0 tag 1 cpu 3\n"
                     "l6: wait from 0 tag 1\n"
                     "l6 requires l5\n"
                     "l6 irequires l5\n"
                     "l7: copy 48b from x[0..n] into x[n..2n]\n"
                     "l8: combine 48b by matmul u32 before from x[0..n] into x[n..2n] @1:0\n"
                     "l9: calc 18446744073709551615 cpu 1\n"
                     "l10: copy 0b\n");
}

// An end stands one behind the end before it in its line, so hashes of ids print too.
TEST(Text, CountsMessagesOfATag) {
  EXPECT_EQ(reprint("send 1b to 0 tag 7\nsend 1b to 0 tag 7 nth 1\nsend 1b to 0 tag 7 nth 5\n"
                    "send 1b to 0 tag 7\nsend 1b to 0 tag 8\nrecv 1b from 0 tag 7\n"),
            "l0: send 1b to 0 tag 7\nl1: send 1b to 0 tag 7\nl2: send 1b to 0 tag 7 nth 5\n"
            "l3: send 1b to 0 tag 7\nl4: send 1b to 0 tag 8\nl5: recv 1b from 0 tag 7\n");
}

TEST(Text, SizesMayBeLeftOut) {
  EXPECT_EQ(reprint("in x: i32[n]\nsend to 0 from x\n"),
            "in x: i32[n]\nl0: send 48b to 0 tag 0 from x\n");
}

TEST(Text, LongListsWrap) {
  std::string body = "in x: i32[n]\nl0: send 240b to 0 tag 0 from x[0..1]";
  for (int i = 1; i < 60; ++i)
    body += ", x[0..1]";
  std::string printed = reprint(body + "\n");
  for (size_t begin = 0, end; (end = printed.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    EXPECT_LT(end - begin, 110u);
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Text, CommentsMayStandAnywhere) {
  EXPECT_EQ(reprint("// one\ncalc /* two */ 5 // three\n/* four\n */ calc 6\n"),
            "l0: calc 5\nl1: calc 6\n");
}

TEST(Text, BrokenSchedulesPrintToo) {
  Schedule s = everythingSchedule();
  s.ranks[0].slices[1].buffer = BufferId{99};
  s.ranks[0].slices[2].denominator = 0;
  s.ranks[0].buffers[0].name = 99;
  s.ranks[0].buffers[0].denominator = 0;
  s.ranks[0].ops[2].loc.file = 99;
  EXPECT_NE(printText(s).find("?99"), std::string::npos);
}

} // namespace
} // namespace colldsl

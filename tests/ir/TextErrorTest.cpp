// What the reader refuses, in which words and where; and that hostile text ends soon.

#include "ir/TextForm.h"
#include "tests/ir/DescribeErrors.h"

#include <gtest/gtest.h>

#include <string>

namespace colldsl {
namespace {

std::string errorsOf(std::string_view text, TextLimits limits = {}) {
  ParsedText parsed = parseText(text, "t", limits);
  return describeErrors(parsed.errors, "t");
}

/// Statements of rank 0 begin on line 4.
std::string errorsIn(const std::string &body) {
  return errorsOf("num_ranks 2\nsize n = 100 in 50..200\nrank 0 {\n" + body + "}\nrank 1 {\n}\n");
}

TEST(TextErrors, NameBothSides) {
  EXPECT_EQ(errorsIn("send 8b from 1\n"), "t:4:9: error: expected 'to', found 'from'\n");
  EXPECT_EQ(errorsIn("send 8 to 1\n"), "t:4:8: error: expected 'b', found 'to'\n");
  EXPECT_EQ(errorsIn("calc\n"),
            "t:4:5: error: expected the time in ns, found the end of the line\n");
  EXPECT_EQ(errorsIn("calc 5 6\n"), "t:4:8: error: expected the end of the line, found '6'\n");
  EXPECT_EQ(errorsIn("sned 8b to 1\n"),
            "t:4:1: error: expected an op, a buffer, a dependency or a promise, found 'sned'\n");
  EXPECT_EQ(errorsIn("send 8b to 2\n"), "t:4:1: error: send with rank 2, num_ranks is 2\n");
  EXPECT_EQ(errorsIn("1: calc 5\n"), "t:4:1: error: a label must be a word, not '1'\n");
}

TEST(TextErrors, AreAllFound) {
  EXPECT_EQ(errorsIn("calc x\nsend 1b to 1\nrecv 1b to 1\ncalc 1\nwait from 9\n"),
            "t:4:6: error: expected the time in ns, found 'x'\n"
            "t:6:9: error: expected 'from', found 'to'\n"
            "t:8:1: error: wait with rank 9, num_ranks is 2\n");
}

// What follows from one error is not told as another.
TEST(TextErrors, DoNotCascade) {
  EXPECT_EQ(errorsIn("a: calc x\nb: calc 1\nb requires a\n"),
            "t:4:9: error: expected the time in ns, found 'x'\n");
  EXPECT_EQ(errorsIn("in x: i33[n]\nsend to 1 from x[0..5]\n"),
            "t:4:7: error: expected an element type, found 'i33'\n");
}

TEST(TextErrors, Numbers) {
  EXPECT_EQ(errorsIn("calc 99999999999999999999\n"),
            "t:4:6: error: the time in ns is '99999999999999999999', at most "
            "18446744073709551615 is possible\n");
  EXPECT_EQ(errorsIn("send 1b to 1 tag 4294967296\n"),
            "t:4:18: error: tag is '4294967296', at most 4294967295 is possible\n");
  EXPECT_EQ(errorsIn("send 1b to 1 cpu 256\n"),
            "t:4:18: error: cpu is '256', at most 255 is possible\n");
  EXPECT_EQ(errorsIn("send 1b to 4294967296\n"),
            "t:4:12: error: the peer's rank is '4294967296', at most 4294967294 is possible\n");
}

TEST(TextErrors, WildcardsCannotBeMatched) {
  EXPECT_EQ(errorsIn("recv 8b from -1\n"),
            "t:4:14: error: '-1' stands for any sender: matching is static, it needs the sender's "
            "rank\n");
  EXPECT_EQ(
      errorsIn("recv 8b from 1 tag -1\n"),
      "t:4:20: error: '-1' stands for any tag: matching is static, it needs the tag itself\n");
}

TEST(TextErrors, Labels) {
  EXPECT_EQ(errorsIn("a: calc 1\nb: calc 2\na: calc 3\n"),
            "t:6:1: error: label 'a' is declared twice, before on line 4\n");
  EXPECT_EQ(errorsIn("a: calc 1\na requires b\n"),
            "t:5:12: error: no op of this rank has the label 'b'\n");
}

TEST(TextErrors, CyclesNameTheirOps) {
  EXPECT_EQ(errorsIn("a: calc 1\nb: send 1b to 1\nc: calc 3\nd: calc 4\n"
                     "b requires c\nc irequires a\na requires b\nd requires a\n"),
            "t:4:4: error: 'a' (calc, line 4) waits for itself, in a cycle of 3 ops\n"
            "t:10:1: note: 'a' (calc, line 4) requires 'b' (send, line 5)\n"
            "t:8:1: note: 'b' (send, line 5) requires 'c' (calc, line 6)\n"
            "t:9:1: note: 'c' (calc, line 6) irequires 'a' (calc, line 4)\n");
  EXPECT_EQ(errorsIn("a: calc 1\na requires a\n"),
            "t:4:4: error: 'a' (calc, line 4) waits for itself, in a cycle of 1 op\n"
            "t:5:1: note: 'a' (calc, line 4) requires 'a' (calc, line 4)\n");
}

TEST(TextErrors, LongCyclesAreCutShort) {
  std::string body;
  for (int i = 0; i < 1000; ++i)
    body += "a" + std::to_string(i) + ": calc 1\n";
  for (int i = 0; i < 1000; ++i)
    body += "a" + std::to_string(i) + " requires a" + std::to_string((i + 1) % 1000) + "\n";
  std::string errors = errorsIn(body);
  EXPECT_NE(errors.find("in a cycle of 1000 ops"), std::string::npos) << errors;
  EXPECT_NE(errors.find("and 988 more"), std::string::npos) << errors;
  EXPECT_LT(errors.size(), 2000u);
}

TEST(TextErrors, Ranks) {
  EXPECT_EQ(errorsOf(""), "t:1:1: error: num_ranks is missing\n");
  EXPECT_EQ(errorsOf("num_ranks 2\nrank 0 {\n}\n"),
            "t:4:1: error: num_ranks is 2, the text has 1 ranks\n");
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n"),
            "t:4:6: error: rank 1 stands here, num_ranks is 1\n");
  EXPECT_EQ(errorsOf("num_ranks 2\nrank 1 {\n}\nrank 1 {\n}\n"),
            "t:2:6: error: rank 1 stands here, rank 0 must come next\n");
  EXPECT_EQ(errorsOf("num_ranks 1\nnum_ranks 2\nrank 0 {\n}\n"),
            "t:2:11: error: num_ranks is given twice, as 1 and 2\n");
  EXPECT_EQ(errorsOf("rank 0 {\n}\nnum_ranks 1\n"),
            "t:3:1: error: 'num_ranks' must stand before the first rank\n"
            "t:4:1: error: num_ranks is missing\n");
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\ncalc 1\n"),
            "t:4:1: error: rank 0 is not closed by '}'\n");
  EXPECT_EQ(errorsOf("num_ranks 0\n}\n"), "t:2:1: error: this '}' closes no rank\n");
}

TEST(TextErrors, SizeClass) {
  EXPECT_EQ(errorsOf("num_ranks 0\nsize n = 5 in 6..9\n"), "t:2:6: error: n = 5 is not in 6..9\n");
}

TEST(TextErrors, Buffers) {
  EXPECT_EQ(errorsIn("in x: i32[n]\nin x: i32[n]\n"),
            "t:5:4: error: number 1 of the buffers named 'x' stands here, number 2 must come next\n"
            "t:5:4: note: write x#2\n");
  EXPECT_EQ(errorsIn("in x: i32[n-101]\n"),
            "t:4:4: error: the buffer begins at element 0 and ends before it, at -1\n");
  EXPECT_EQ(errorsIn("in x: i32[9223372036854775808]\n"),
            "t:4:11: error: a position has 9223372036854775808, at most 9223372036854775807 is "
            "possible\n");
  EXPECT_EQ(errorsIn("in x: i32[n/0]\n"), "t:4:12: error: a position is divided by zero\n");
  EXPECT_EQ(errorsIn("in x: i32[n+1/2]\n"), "t:4:14: error: it is not clear what is divided\n"
                                            "t:4:14: note: put the sum in parentheses\n");
  EXPECT_EQ(errorsIn("in x: i32[n/4294967291..2n/4294967279]\n"),
            "t:4:11: error: the range has no common denominator that fits\n");
  EXPECT_EQ(errorsIn("in \"\\q\": i32[n]\n"),
            "t:4:4: error: the buffer's name has an unknown escape\n"
            "t:4:4: note: known are \\\" \\\\ \\n \\t \\xHH\n");
}

TEST(TextErrors, Aliases) {
  EXPECT_EQ(errorsIn("in x: i32[n] aliases y\n"), "t:4:22: error: this rank has no buffer 'y'\n");
  EXPECT_EQ(errorsIn("in x: i32[n] aliases y\nin y: i32[n] aliases x\n"),
            "t:4:22: error: the buffer is an alias of itself\n");
}

TEST(TextErrors, Slices) {
  const std::string x = "in x: i32[n]\nin open: i32[2][*]\n";
  EXPECT_EQ(errorsIn(x + "send to 1 from z\n"), "t:6:16: error: this rank has no buffer 'z'\n");
  EXPECT_EQ(errorsIn(x + "send to 1 from x#2\n"),
            "t:6:16: error: this rank has no buffer 'x', number 2\n");
  EXPECT_EQ(errorsIn(x + "send to 1 from x[0..n+1]\n"),
            "t:6:16: error: the slice of 'x' covers elements 0..101, the buffer has 0..100\n");
  EXPECT_EQ(errorsIn(x + "send to 1 from x[1]\n"),
            "t:6:16: error: the slice of 'x' names block 1 of a buffer without blocks\n");
  EXPECT_EQ(errorsIn(x + "send to 1 from open[2]\n"),
            "t:6:16: error: the slice of 'open' names block 2, the buffer has 2 blocks\n");
  EXPECT_EQ(errorsIn(x + "send to 1 from open[4294967295]\n"),
            "t:6:21: error: the block is '4294967295', at most 4294967294 is possible\n");
}

TEST(TextErrors, Sizes) {
  const std::string x = "in x: i32[n]\nin open: i32[2][*]\n";
  EXPECT_EQ(errorsIn(x + "send 8b to 1 from x\n"),
            "t:6:6: error: the size says 8b, the slices have 400b at n = 100\n");
  EXPECT_EQ(errorsIn(x + "send 8b to 1 from open[0]\n"),
            "t:6:6: error: the size says 8b, that of the blocks is known at call time only\n");
  EXPECT_EQ(errorsIn("send to 1\n"), "t:4:6: error: a send needs a size or slices\n");
  EXPECT_EQ(errorsIn("signal 1b to 1\n"), "t:4:8: error: a signal has no size\n");
}

TEST(TextErrors, Places) {
  EXPECT_EQ(errorsIn("calc 1 @3:5:2\n"), "t:4:8: error: file 3 is not one of the 1 files\n");
  EXPECT_EQ(errorsIn("calc 1 @0:5\n"), "t:4:8: error: line 0, column 5 is not a place\n");
}

/// A postcondition of rank 0 stands on line 7.
std::string errorsInContract(const std::string &ensures, const std::string &rank1 = "") {
  return errorsOf("schedule \"s\" contract\nnum_ranks 2\nsize n = 4 in 4..\nrank 0 {\n"
                  "in x: i32[2n]\nin v: f32[2n]\n" +
                  ensures + "\n}\nrank 1 {\n" + rank1 + "}\n");
}

TEST(TextErrors, Promises) {
  EXPECT_EQ(errorsInContract("ensures x == x@2"),
            "t:7:14: error: rank 2 is not one of the 2 ranks\n");
  EXPECT_EQ(errorsInContract("ensures x == x@1"), "t:7:14: error: rank 1 has no buffer 'x'\n");
  EXPECT_EQ(errorsInContract("ensures x == x#2@0"),
            "t:7:14: error: rank 0 has no buffer 'x', number 2\n");
  EXPECT_EQ(errorsInContract("ensures x == z@0"), "t:7:14: error: rank 0 has no buffer 'z'\n");
  EXPECT_EQ(errorsInContract("ensures x == x[0..2n]@1", "in x: i32[n]\n"),
            "t:7:14: error: on rank 1 the slice covers elements 0..8, the buffer has 0..4\n");
  EXPECT_EQ(errorsInContract("ensures x == sum()"),
            "t:7:18: error: expected a buffer, found ')'\n");
}

TEST(TextErrors, ElementsOfOtherTypes) {
  const char *why = "a postcondition compares elements of i32 with elements of f32\n";
  EXPECT_EQ(errorsInContract("ensures x == v@0"), std::string("t:7:14: error: ") + why);
  EXPECT_EQ(errorsInContract("ensures x == sum(x@0, v@0)"), std::string("t:7:23: error: ") + why);
  EXPECT_EQ(errorsInContract("ensures x == x@1", "in x: f32[2n]\n"),
            std::string("t:7:14: error: ") + why);
  EXPECT_EQ(errorsInContract("ensures v == bor(v@0, v@0)"),
            "t:7:14: error: there is no bor of f32; bor is for integers\n");
  EXPECT_EQ(errorsInContract("combine by matmul u8 after from x into x"),
            "t:7:12: error: there is no matmul of u8; matmul is for types of 4 bytes\n");
}

// Nothing would be proved of them.
TEST(TextErrors, PartsOfAContractWithoutOne) {
  const std::string rest = "num_ranks 1\nrank 0 {\n}\n";
  EXPECT_EQ(errorsOf("schedule \"s\" contract deterministic synchronizes\n" + rest), "");
  EXPECT_EQ(errorsOf("schedule \"s\" synchronizes contract\n" + rest), "");
  EXPECT_EQ(errorsOf("schedule \"s\" synchronizes\n" + rest),
            "t:1:14: error: 'synchronizes' belongs to a contract, and there is none\n"
            "t:1:14: note: write 'contract' as well\n");
  EXPECT_EQ(errorsOf("schedule \"s\" deterministic\n" + rest),
            "t:1:14: error: 'deterministic' belongs to a contract, and there is none\n"
            "t:1:14: note: write 'contract' as well\n");
  EXPECT_EQ(errorsIn("in x: i32[n]\nensures x == x@0\n"),
            "t:5:9: error: 'ensures' belongs to a contract, and there is none\n"
            "t:5:9: note: write 'contract' into the line 'schedule \"name\"'\n");
}

// The second would take the place of the first.
TEST(TextErrors, HeaderLinesGivenTwice) {
  const std::string rest = "num_ranks 1\nrank 0 {\n}\n";
  EXPECT_EQ(errorsOf("schedule \"s\" contract\nschedule \"t\"\n" + rest),
            "t:2:10: error: the schedule's name is given twice, as \"s\" and \"t\"\n");
  EXPECT_EQ(errorsOf("schedule \"s\" contract contract\n" + rest),
            "t:1:23: error: 'contract' is given twice\n");
  EXPECT_EQ(errorsOf("size n = 4 in 4..\nsize n = 5 in 4..\n" + rest),
            "t:2:6: error: the size is given twice\n");
}

// They stand for no rank, and for any tag.
TEST(TextErrors, NumbersThatStandForSomethingElse) {
  EXPECT_EQ(errorsIn("send 1b to 4294967295\n"),
            "t:4:12: error: the peer's rank is '4294967295', at most 4294967294 is possible\n");
  TextLimits limits;
  limits.allowWildcards = true;
  const std::string rest = "num_ranks 1\nrank 0 {\nrecv 1b from 0 tag 4294967295\n}\n";
  EXPECT_EQ(errorsOf(rest, limits),
            "t:3:20: error: tag is '4294967295', at most 4294967294 is possible\n");
  EXPECT_EQ(errorsOf("schedule \"s\"\n" + rest, limits), "");
  EXPECT_EQ(errorsOf("num_ranks 1\nsize n = 4 in 5..\nrank 0 {\n}\n"),
            "t:2:6: error: n = 4 is not in 5..\n");
}

TEST(TextErrors, PartsOfBlocksWhoseLengthsTravel) {
  const std::string v = "in v: i32[4][<=][4n]\n";
  EXPECT_EQ(errorsIn(v + "send to 1 from v[3], v[2][0..n]\n"), "");
  EXPECT_EQ(errorsIn(v + "send to 1 from v[3][0..n/2]\n"),
            "t:5:16: error: the slice of 'v' is a part of block 3, whose length travels with its "
            "messages\n");
}

TEST(TextErrors, StrangeCharacters) {
  using namespace std::string_literals;
  EXPECT_EQ(errorsIn("calc 1 \0\n"s),
            "t:4:8: error: expected the end of the line, found '\\x00'\n");
  EXPECT_EQ(errorsIn("calc 1 \r calc\n"),
            "t:4:8: error: expected the end of the line, found '\\x0d'\n");
  EXPECT_EQ(errorsIn("in \"x: i32[n]\n"),
            "t:4:4: error: the string that begins here does not end on its line\n");
  EXPECT_EQ(errorsIn("/* calc\n"), "t:4:1: error: the comment that begins here does not end\n");
}

// Limits, each with its own words.

TEST(TextLimits, Bytes) {
  TextLimits limits;
  limits.maxBytes = 10;
  EXPECT_EQ(errorsOf("num_ranks 0\n", limits),
            "t:1:1: error: the text has 12 bytes, the limit is 10 (--max-source-bytes)\n");
}

TEST(TextLimits, Ops) {
  TextLimits limits;
  limits.maxOps = 2;
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\ncalc 1\ncalc 2\n}\n", limits), "");
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\ncalc 1\ncalc 2\ncalc 3\ncalc 4\n}\n", limits),
            "t:5:1: error: there are more ops than the limit of 2 (--max-total-ops)\n");
}

TEST(TextLimits, Ranks) {
  TextLimits limits;
  limits.maxRanks = 1;
  EXPECT_EQ(errorsOf("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n", limits),
            "t:1:11: error: num_ranks is 2, the limit is 1\n");
  EXPECT_EQ(errorsOf("rank 0 {\n}\nrank 1 {\n}\n", limits),
            "t:3:6: error: there are more ranks than the limit of 1\n");
}

TEST(TextLimits, LineBytes) {
  TextLimits limits;
  limits.maxLineBytes = 20;
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\ncalc 1 // 01234567890123456789\n}\n", limits),
            "t:3:1: error: line is longer than the limit of 20 bytes (--max-line-bytes)\n");
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\n/*\n01234567890123456789012345\n*/\n}\n", limits),
            "t:4:1: error: line is longer than the limit of 20 bytes (--max-line-bytes)\n");
}

TEST(TextLimits, LabelBytes) {
  TextLimits limits;
  limits.maxLabelBytes = 4;
  EXPECT_EQ(errorsOf("num_ranks 1\nrank 0 {\nabcd: calc 1\nabcde: calc 1\n}\n", limits),
            "t:4:1: error: the label has 5 bytes, the limit is 4\n");
}

TEST(TextLimits, Errors) {
  std::string body;
  for (int i = 0; i < 100; ++i)
    body += "nonsense\n";
  ParsedText parsed = parseText("num_ranks 1\nrank 0 {\n" + body + "}\n", "t");
  EXPECT_EQ(parsed.errors.size(), 20u);
  ASSERT_EQ(parsed.errors.back().notes.size(), 1u);
  EXPECT_EQ(parsed.errors.back().notes[0].message,
            "too many errors, the rest was not read (--max-errors)");
}

// Hostile text. Each of these takes milliseconds; the test's time limit is the check.

TEST(HostileText, OneLineWithoutEnd) {
  EXPECT_EQ(errorsOf(std::string(10'000'000, 'a')),
            "t:1:1: error: line is longer than the limit of 1048576 bytes (--max-line-bytes)\n");
}

TEST(HostileText, ZerosOnly) {
  std::string errors = errorsOf(std::string(10'000'000, '\0'));
  EXPECT_NE(errors.find("line is longer"), std::string::npos) << errors;
}

TEST(HostileText, ManyShortLines) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i)
    text += "{\n";
  EXPECT_LT(errorsOf(text).size(), 3000u);
}

// Memory follows the text, not the number in it.
TEST(HostileText, ManyRanksThatDoNotCome) {
  EXPECT_EQ(errorsOf("num_ranks 16777216\n"),
            "t:2:1: error: num_ranks is 16777216, the text has 0 ranks\n");
  EXPECT_EQ(errorsOf("num_ranks 4294967295\n"),
            "t:1:11: error: num_ranks is 4294967295, the limit is 16777216\n");
}

TEST(HostileText, ManyBlocks) {
  EXPECT_EQ(errorsIn("in x: i32[4294967295][*]\n"),
            "t:4:4: error: the buffer has 4294967295 blocks, the limit is 16777216\n");
}

TEST(HostileText, DeepParentheses) {
  std::string errors = errorsIn("in x: i32[" + std::string(100'000, '(') + "n]\n");
  EXPECT_EQ(errors, "t:4:12: error: expected a position, found '('\n");
}

TEST(HostileText, LongChain) {
  std::string body;
  for (int i = 0; i < 200'000; ++i)
    body += "a" + std::to_string(i) + ": calc 1\n";
  for (int i = 0; i + 1 < 200'000; ++i)
    body += "a" + std::to_string(i) + " requires a" + std::to_string(i + 1) + "\n";
  EXPECT_EQ(errorsIn(body), "");
}

TEST(HostileText, ManyLabelsThatAreMissing) {
  std::string body = "a: calc 1\n";
  for (int i = 0; i < 200'000; ++i)
    body += "a requires b" + std::to_string(i) + "\n";
  EXPECT_LT(errorsIn(body).size(), 3000u);
}

} // namespace
} // namespace colldsl

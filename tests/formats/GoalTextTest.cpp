// Plain GOAL, in and out.

#include "tests/ir/DescribeErrors.h"
#include "tests/ir/Schedules.h"

#include "formats/GoalText.h"

#include "ir/TextForm.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace colldsl {
namespace {

std::string readGoal(const std::string &name) {
  std::ifstream file(std::string(COLLDSL_GOAL_FILES) + "/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Schedule parseGoal(const std::string &name) {
  ParsedText parsed = parseText(readGoal(name), name);
  EXPECT_EQ(describeErrors(parsed.errors, name), "");
  return parsed.schedule;
}

std::string depsOf(const Dag &dag) {
  std::string out;
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      out += std::to_string(i) + (dep.kind == DepKind::Requires ? "<" : "~") +
             std::to_string(index(dep.op)) + " ";
  return out;
}

TEST(GoalText, ReadsPingPong) {
  Schedule s = parseGoal("pingpong.goal");
  ASSERT_EQ(s.numRanks(), 2u);
  EXPECT_EQ(s.name, "pingpong.goal");
  EXPECT_FALSE(s.hasContract);
  const Op &send = s.ranks[0].ops[0];
  EXPECT_EQ(send.kind, OpKind::Send);
  EXPECT_EQ(send.amount, 8u);
  EXPECT_EQ(send.peer, Rank{1});
  EXPECT_EQ(send.message, makeMessageId(3, 0));
  EXPECT_EQ(s.ranks[1].ops[0].message, send.message);
  EXPECT_EQ(depsOf(s.ranks[0]), "1<0 ");
}

// Diagnostics of a plain file name its lines.
TEST(GoalText, OpsStandWhereTheFileHasThem) {
  Schedule s = parseGoal("pingpong.goal");
  ASSERT_EQ(s.files.size(), 1u);
  EXPECT_EQ(s.files[0], "pingpong.goal");
  EXPECT_EQ(s.ranks[0].ops[1].loc, (SourceLoc{5, 5, 0}));
  EXPECT_EQ(s.ranks[1].ops[0].loc, (SourceLoc{10, 5, 0}));
}

TEST(GoalText, ReadsFormsThatTheGrammarLeavesOpen) {
  Schedule s = parseGoal("loose.goal");
  ASSERT_EQ(s.numRanks(), 3u);
  const std::vector<Op> &ops = s.ranks[0].ops;
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_EQ(ops[0].message, makeMessageId(0, 0));
  EXPECT_EQ(ops[1].message, makeMessageId(0, 1));
  EXPECT_EQ(ops[2].message, makeMessageId(9, 0));
  EXPECT_EQ(ops[2].cpu, 255);
  EXPECT_EQ(ops[2].nic, 7);
  EXPECT_EQ(ops[3].kind, OpKind::Calc);
  EXPECT_EQ(ops[3].amount, 500u);
  EXPECT_EQ(ops[3].cpu, 2);
  EXPECT_EQ(ops[4].amount, 16u);
  EXPECT_EQ(depsOf(s.ranks[0]), "3~0 4<3 ");
  EXPECT_EQ(s.ranks[1].ops[2].message, makeMessageId(0, 1));
  EXPECT_EQ(depsOf(s.ranks[1]), "4<1 4<2 4<3 ");
  EXPECT_EQ(s.ranks[2].size(), 0u);
}

TEST(GoalText, ReadsWindowsLines) {
  Schedule s = parseGoal("crlf.goal");
  ASSERT_EQ(s.numRanks(), 2u);
  EXPECT_EQ(s.ranks[1].ops[0].kind, OpKind::Recv);
}

TEST(GoalText, NumRanksMayStandBeforeTheFirstBrace) {
  EXPECT_EQ(parseGoal("inside.goal").numRanks(), 1u);
}

// An op that requires a later one moves behind it, and no further.
TEST(GoalText, SortsOpsThatRequireLaterOnes) {
  Schedule s = parseGoal("forward.goal");
  std::vector<uint64_t> times;
  for (const Op &op : s.ranks[0].ops)
    times.push_back(op.amount);
  EXPECT_EQ(times, (std::vector<uint64_t>{4, 1, 2, 3}));
  EXPECT_EQ(depsOf(s.ranks[0]), "2<1 3<2 ");
}

// The k-th send of a tag is the k-th in the file, even if sorting moves it.
TEST(GoalText, SortingKeepsMatches) {
  ParsedText p = parseText("num_ranks 1\nrank 0 {\n"
                           "a: send 1b to 0\nb: send 2b to 0\nrecv 1b from 0\nrecv 2b from 0\n"
                           "a requires b\n}\n",
                           "x");
  ASSERT_EQ(describeErrors(p.errors, "x"), "");
  for (const Op &op : p.schedule.ranks[0].ops)
    EXPECT_EQ(op.message, makeMessageId(0, static_cast<uint32_t>(op.amount - 1)));
  std::string text = printText(p.schedule);
  EXPECT_NE(text.find("nth 1"), std::string::npos) << text;
  ParsedText back = parseText(text, "x");
  EXPECT_EQ(difference(p.schedule, back.schedule), "");
}

TEST(GoalText, RoundTrips) {
  Result<std::string> goal = printGoal(parseGoal("pingpong.goal"));
  ASSERT_TRUE(goal) << goal.message();
  EXPECT_EQ(*goal, "num_ranks 2\n"
                   "\n"
                   "rank 0 {\n"
                   "l0: send 8b to 1 tag 3\n"
                   "l1: recv 8b from 1 tag 4\n"
                   "l1 requires l0\n"
                   "}\n"
                   "\n"
                   "rank 1 {\n"
                   "l0: recv 8b from 0 tag 3\n"
                   "l1: send 8b to 0 tag 4\n"
                   "l1 requires l0\n"
                   "}\n");
}

// Other tools match messages of one tag as they happen to come.
TEST(GoalText, GivesEachMessageATagOfItsOwn) {
  Result<std::string> goal = printGoal(parseGoal("loose.goal"));
  ASSERT_TRUE(goal) << goal.message();
  EXPECT_NE(goal->find("l0: send 4b to 1 tag 0\n"
                       "l1: send 4b to 1 tag 1\n"
                       "l2: send 4b to 1 tag 2 cpu 255 nic 7\n"
                       "l3: calc 500 cpu 2\n"
                       "l3 irequires l0\n"
                       "l4: recv 16b from 1 tag 0\n"),
            std::string::npos)
      << *goal;
}

Schedule parseBody(const std::string &body) {
  ParsedText p = parseText("schedule \"s\"\nnum_ranks 1\nsize n = 100 in 0..\nrank 0 {\n"
                           "in x: i32[n]\nin open: i32[2][*]\nout y: i32[n]\n" +
                               body + "}\n",
                           "s");
  EXPECT_EQ(describeErrors(p.errors, "s"), "");
  return p.schedule;
}

// A signal travels, so it has a byte; a message of no bytes does not.
TEST(GoalText, PrintsOurOps) {
  Schedule s = parseBody("signal to 0 tag 4\nwait from 0 tag 4\n"
                         "a: send to 0 tag 5 from x[0..2], x[n-1..n]\nrecv 12b from 0 tag 5\n"
                         "b: send to 0 tag 6 from x[n..n]\nrecv 0b from 0 tag 6\nb requires a\n");
  Result<std::string> goal = printGoal(s);
  ASSERT_TRUE(goal) << goal.message();
  EXPECT_NE(goal->find("l0: send 1b to 0 tag 4\nl1: recv 1b from 0 tag 4\n"
                       "l2: send 12b to 0 tag 5\nl3: recv 12b from 0 tag 5\n"
                       "l4: calc 0\nl4 requires l2\nl5: calc 0\n"),
            std::string::npos)
      << *goal;
}

TEST(GoalText, RefusesOpsThatItLacks) {
  Result<std::string> copy = printGoal(parseBody("calc 1\ncopy from x into y\n"));
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.message(), "rank 0, op l1: GOAL cannot say a copy");
  Result<std::string> combine = printGoal(parseBody("combine by sum i32 after from x into y\n"));
  ASSERT_FALSE(combine);
  EXPECT_EQ(combine.message(), "rank 0, op l0: GOAL cannot say a combine");
  Result<std::string> open = printGoal(parseBody("send to 0 from open[1]\n"));
  ASSERT_FALSE(open);
  EXPECT_EQ(open.message(),
            "rank 0, op l0: GOAL cannot say a send whose size is known at call time only");
}

TEST(GoalText, LocalOpsBecomeCalcOnRequest) {
  Schedule s = parseBody("a: copy cpu 3 from x into y\n"
                         "b: combine by sum i32 after from x[0..n/2] into y[0..n/2]\n"
                         "b requires a\n");
  Result<std::string> goal = printGoal(s, {.localOpsAsCalc = true});
  ASSERT_TRUE(goal) << goal.message();
  EXPECT_NE(goal->find("l0: calc 400 cpu 3\nl1: calc 200\nl1 requires l0\n"), std::string::npos)
      << *goal;
}

} // namespace
} // namespace colldsl

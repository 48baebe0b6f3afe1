// From schedules to algorithms of MSCCL: the steps that ops become, and what is refused.

#include "formats/MscclExport.h"
#include "ir/TextForm.h"
#include "tests/formats/MscclMachine.h"
#include "tests/formats/StdlibSchedules.h"
#include "tests/ir/DescribeErrors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace colldsl::msccl {
namespace {

Schedule parse(const std::string &text) {
  ParsedText parsed = parseText(text, "test");
  EXPECT_EQ(describeErrors(parsed.errors, "test"), "");
  return parsed.schedule;
}

/// Two ranks with these statements and an x and a y of two elements each.
Schedule pairOf(const std::string &rank0, const std::string &rank1,
                const std::string &size = "size n = 2 in 0..\n") {
  std::string buffers = "in x: i32[n]\nout y: i32[n]\n";
  return parse("schedule \"pair\"\nnum_ranks 2\n" + size + "rank 0 {\n" + buffers + rank0 +
               "}\nrank 1 {\n" + buffers + rank1 + "}\n");
}

std::string errorOf(const Schedule &schedule) {
  Result<Algorithm> algorithm = fromSchedule(schedule);
  return algorithm ? "" : algorithm.message();
}

/// The steps of a gpu, a word each: "s i0-o1x2".
std::string stepsOf(const Schedule &schedule, uint32_t gpu = 0) {
  Result<Algorithm> algorithm = fromSchedule(schedule);
  if (!algorithm)
    return "error: " + algorithm.message();
  std::string text;
  auto place = [](Place p) { return std::string(spelling(p.memory)) + std::to_string(p.offset); };
  for (const Threadblock &block : algorithm->gpus[gpu].blocks) {
    text += "[" + std::to_string(block.sendPeer) + " " + std::to_string(block.recvPeer) + "]";
    for (const Step &step : block.steps) {
      text += " " + std::string(spelling(step.kind));
      if (step.kind != StepKind::Nop)
        text += " " + place(step.source) + "-" + place(step.target);
      text += step.count > 1 ? "x" + std::to_string(step.count) : "";
      if (step.waitBlock >= 0)
        text += "<" + std::to_string(step.waitBlock) + "." + std::to_string(step.waitStep);
      text += step.isAwaited ? "!" : "";
    }
    text += "\n";
  }
  return text;
}

TEST(MscclExport, MessagesAndCopies) {
  Schedule s = pairOf("send to 1 from x[0..n/2]\ncopy from x[n/2..n] into y[0..n/2]\n",
                      "recv from 0 into y[n/2..n]\n");
  EXPECT_EQ(stepsOf(s, 0), "[1 -1] s i0-o1\n[-1 -1] cpy i1-o0\n");
  EXPECT_EQ(stepsOf(s, 1), "[-1 0] r i0-o1\n");
}

TEST(MscclExport, ListsAreCut) {
  Schedule s = pairOf("send to 1 from x[n/2..n], x[0..n/2]\n", "recv from 0 into y\n");
  EXPECT_EQ(stepsOf(s, 0), "[1 -1] s i1-o0 s i0-o1\n");
  EXPECT_EQ(stepsOf(s, 1), "[-1 0] r i1-o0 r i0-o1\n");
}

TEST(MscclExport, LongMessagesAreCut) {
  Schedule s = pairOf("send to 1 from x[0..144]\n", "recv from 0 into y[0..144]\n",
                      "size n = 145 in 145..145\n");
  EXPECT_EQ(stepsOf(s, 0), "[1 -1] s i0-o0x71 s i71-o71x71 s i142-o142x2\n");
}

// Without a fraction of n that all positions share, chunks are counted at n itself.
TEST(MscclExport, ChunksAreElementsIfNothingElse) {
  Schedule s = pairOf("send to 1 from x[0..10]\n", "recv from 0 into y[20..30]\n",
                      "size n = 40 in 40..40\n");
  EXPECT_EQ(stepsOf(s, 0), "[1 -1] s i0-o2\n");
}

TEST(MscclExport, ReceivesAreFusedWithReductions) {
  std::string send = "send to 1 from x\n";
  std::string fused = "temp t: i32[n]\na: copy from x into y\nr: recv from 0 into t\n"
                      "c: combine by sum i32 after from t into y\nc requires r\nc requires a\n";
  EXPECT_EQ(stepsOf(pairOf(send, fused), 1), "[-1 0] rrc o0-o0<1.0\n[-1 -1] cpy i0-o0!\n");
  EXPECT_EQ(stepsOf(pairOf(send, "r: recv from 0 into y\n"
                                 "c: combine by sum i32 after from x into y\nc requires r\n"),
                    1),
            "[-1 0] rrc i0-o0\n");
  std::string seen = fused + "d: copy from t into y\nd requires c\n";
  EXPECT_EQ(stepsOf(pairOf(send, seen), 1),
            "[-1 0] r i0-s0!\n[-1 -1] cpy i0-o0 re s0-o0<0.0 cpy s0-o0\n");
}

TEST(MscclExport, ReceivesSendOn) {
  std::string buffers = "in x: i32[n]\nout y: i32[n]\n";
  auto line = [&](const std::string &middle) {
    return parse("schedule \"line\"\nnum_ranks 3\nsize n = 2 in 0..\nrank 0 {\n" + buffers +
                 "send to 1 from x\n}\nrank 1 {\n" + buffers + middle + "}\nrank 2 {\n" + buffers +
                 "recv from 1 into y\n}\n");
  };
  EXPECT_EQ(stepsOf(line("r: recv from 0 into y\ns: send to 2 from y\ns requires r\n"), 1),
            "[2 0] rcs i0-o0\n");
  EXPECT_EQ(stepsOf(line("r: recv from 0 into y\nc: combine by sum i32 after from x into y\n"
                         "c requires r\ns: send to 2 from y\ns requires c\n"),
                    1),
            "[2 0] rrcs i0-o0\n");
  Schedule passed = line("temp t: i32[n]\nr: recv from 0 into t\n"
                         "c: combine by sum i32 after from x into t\nc requires r\n"
                         "s: send to 2 from t\ns requires c\n");
  EXPECT_EQ(stepsOf(passed, 1), "[2 0] rrs i0-o0\n");
  EXPECT_EQ(fromSchedule(passed)->gpus[1].scratchChunks, 0u);
}

// An op that reads what came before it is reduced needs it unreduced.
TEST(MscclExport, ReceivesThatOthersWaitForAreNotFused) {
  EXPECT_EQ(stepsOf(pairOf("send to 1 from x\n", "temp t: i32[n]\nr: recv from 0 into y\n"
                                                 "d: copy from y into t\nd requires r\n"
                                                 "c: combine by sum i32 after from x into y\n"
                                                 "c requires r\nc requires d\n"),
                    1),
            "[-1 0] r i0-o0 cpy o0-s0 re i0-o0\n");
}

// A step of several chunks stops in the middle when a channel is full: around a ring, all of
// them would.
TEST(MscclExport, OnlySingleChunksAreSentOn) {
  std::string text = "schedule \"ring\"\nnum_ranks 3\nsize n = 4 in 0..\n";
  for (int r = 0; r < 3; ++r) {
    std::string next = std::to_string((r + 1) % 3), last = std::to_string((r + 2) % 3);
    text += "rank " + std::to_string(r) + " {\nin x: i32[n]\nout y: i32[n]\ntemp t: i32[n/4]\n" +
            "send to " + next + " tag 0 from x\nr: recv from " + last + " tag 0 into y\n" +
            "s: send to " + next + " tag 1 from y\ns requires r\n" + "temp z: i32[n]\nrecv from " +
            last + " tag 1 into z\n}\n";
  }
  Schedule schedule = parse(text);
  EXPECT_EQ(stepsOf(schedule), "[1 -1] s i0-o0x4 s o0-s0x4<1.0\n[-1 2] r i0-o0x4! r o0-s0x4\n");
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(runMachine(*fromSchedule(schedule), seed), "");
}

// The receive would have to wait for what comes later, and with it all behind it.
TEST(MscclExport, SendsThatWaitForMoreAreNotJoined) {
  std::string buffers = "in x: i32[n]\nout y: i32[n]\ntemp z: i32[n]\n";
  Schedule s = parse("schedule \"line\"\nnum_ranks 3\nsize n = 2 in 0..\nrank 0 {\n" + buffers +
                     "send to 1 from x\n}\nrank 1 {\n" + buffers +
                     "r: recv from 0 into y\nk: recv from 2 into z\ns: send to 2 from y\n"
                     "s requires r\ns requires k\n}\nrank 2 {\n" +
                     buffers + "send to 1 from x\nrecv from 1 into y\n}\n");
  EXPECT_EQ(stepsOf(s, 1), "[2 0] r i0-o0 s o0-o0<1.0\n[-1 2] r i0-s0!\n");
}

TEST(MscclExport, BothEndsHaveOneOrder) {
  Schedule s = pairOf("send to 1 tag 0 from x[0..n/2]\nsend to 1 tag 1 from x[n/2..n]\n",
                      "recv from 0 tag 1 into y[n/2..n]\nrecv from 0 tag 0 into y[0..n/2]\n");
  EXPECT_EQ(stepsOf(s, 0), "[1 -1] s i0-o0 s i1-o1\n");
  EXPECT_EQ(stepsOf(s, 1), "[-1 0] r i0-o0 r i1-o1\n");
}

TEST(MscclExport, DependenciesAreStatedOnce) {
  std::string recvs = "a: recv from 1 into y[0..n/2]\nb: recv from 1 into y[n/2..n]\n";
  std::string other = "send to 0 from x[0..n/2]\nsend to 0 from x[n/2..n]\n"
                      "recv from 0 into y[0..n/2]\nrecv from 0 into y[n/2..n]\n";
  EXPECT_EQ(stepsOf(pairOf(recvs + "c: send to 1 from x[0..n/2]\nc requires a\n"
                                   "d: send to 1 from x[n/2..n]\nd requires b\n",
                           other)),
            "[1 -1] s i0-o0<1.0 s i1-o1<1.1\n[-1 1] r i0-o0! r i1-o1!\n");
  EXPECT_EQ(stepsOf(pairOf(recvs + "c: send to 1 from x[0..n/2]\nc requires b\n"
                                   "d: send to 1 from x[n/2..n]\nd requires a\nd requires c\n",
                           other)),
            "[1 -1] s i0-o0<1.1 s i1-o1\n[-1 1] r i0-o0 r i1-o1!\n");
}

TEST(MscclExport, FurtherDependenciesStandOnNops) {
  Schedule s = pairOf("a: recv from 1 into y[0..n/2]\nb: send to 1 from x[0..n/2]\n"
                      "c: copy from x[n/2..n] into y[n/2..n]\nd: copy from x into y\n"
                      "d requires a\nd requires b\nd requires c\n",
                      "send to 0 from x[0..n/2]\nrecv from 0 into y[0..n/2]\n");
  EXPECT_EQ(stepsOf(s), "[1 -1] s i0-o0!\n[-1 1] r i0-o0!\n"
                        "[-1 -1] cpy i1-o1 nop<0.0 cpy i0-o0x2<1.0\n");
}

// Reductions into one place become one in MSCCL, which then takes the last one's count.
TEST(MscclExport, ReductionsOfOtherLengthsAreKeptApart) {
  Schedule s = pairOf("a: combine by sum i32 after from x into y\n"
                      "b: combine by sum i32 after from x[0..n/2] into y[0..n/2]\nb requires a\n",
                      "");
  EXPECT_EQ(stepsOf(s), "[-1 -1] re i0-o0x2! re i0-o0\n");
}

TEST(MscclExport, ManyPeersTakeMoreChannels) {
  Result<Schedule> schedule = stdlibSchedule("alltoall_pairwise", {40});
  Result<Algorithm> algorithm = fromSchedule(*schedule);
  ASSERT_TRUE(algorithm) << algorithm.message();
  EXPECT_EQ(algorithm->channels, 2u);
  for (const Gpu &gpu : algorithm->gpus)
    for (uint32_t channel : {0u, 1u}) {
      EXPECT_LE(std::ranges::count_if(
                    gpu.blocks,
                    [&](const Threadblock &b) { return b.channel == channel && b.sendPeer >= 0; }),
                32);
    }
}

TEST(MscclExport, ManyStepsTakeMoreChannels) {
  Result<Schedule> schedule = stdlibSchedule("allreduce_ring", {130, true, 130});
  Result<Algorithm> algorithm = fromSchedule(*schedule);
  ASSERT_TRUE(algorithm) << algorithm.message();
  EXPECT_EQ(algorithm->channels, 2u);
  for (const Threadblock &block : algorithm->gpus[0].blocks)
    EXPECT_LE(block.steps.size(), 256u);
}

TEST(MscclExport, RefusesOps) {
  EXPECT_EQ(errorOf(pairOf("signal to 1\n", "wait from 0\n")),
            "rank 0, op l0: MSCCL XML cannot say a signal: messages have chunks");
  EXPECT_EQ(errorOf(pairOf("", "calc 5\n")), "rank 1, op l0: MSCCL XML cannot say a calc of 5 ns");
  EXPECT_EQ(errorOf(pairOf("calc 0\n", "")), "");
  EXPECT_EQ(errorOf(pairOf("send to 0 from x\nrecv from 0 into y\n", "")),
            "rank 0, op l0: MSCCL XML cannot say a send of a rank with itself");
  EXPECT_EQ(errorOf(pairOf("send 8b to 1\n", "recv 8b from 0\n")),
            "rank 0, op l0: MSCCL XML cannot say a send of 8 bytes of no buffer");
  EXPECT_EQ(errorOf(pairOf("copy cpu 1 from x into y\n", "")),
            "rank 0, op l0: MSCCL XML cannot say on which cpu or nic an op runs");
  EXPECT_EQ(
      errorOf(pairOf("combine by max i32 after from x into y\n", "")),
      "rank 0, op l0: MSCCL XML cannot say a combine by max, its callers choose the operator");
  EXPECT_EQ(errorOf(pairOf("combine by sum i32 after from y into y\n", "")),
            "rank 0, op l0: MSCCL XML cannot say a combine of chunks with themselves");
  EXPECT_EQ(errorOf(pairOf("a: copy from x into y\nb: copy from x into y\nb irequires a\n", "")),
            "rank 0, op l1: MSCCL XML cannot say that it irequires l0, a copy: steps wait for "
            "ends alone");
  EXPECT_EQ(errorOf(pairOf("send to 1 from x\n", "")),
            "rank 0, op l0: MSCCL XML cannot say a send that meets no recv");
  EXPECT_EQ(errorOf(pairOf("recv from 1 into y\n", "")),
            "rank 0, op l0: MSCCL XML cannot say a recv that meets no send");
  EXPECT_EQ(
      errorOf(pairOf("send to 1 from x\n", "recv from 0 into y[0..n/2]\n")),
      "rank 0, op l0: MSCCL XML cannot say a send of 2 chunks to a recv of 1 (rank 1, op l0)");
}

TEST(MscclExport, RefusalsNameThePlace) {
  Result<Algorithm> algorithm = fromSchedule(
      pairOf("signal to 1 @12:5\n", "wait from 0\n", "size n = 2 in 0..\nfile \"a\"\n"));
  ASSERT_FALSE(algorithm);
  EXPECT_EQ(algorithm.status().diagnostic().loc, (SourceLoc{12, 5, 0}));
}

TEST(MscclExport, RefusesOrdersThatDoNotExist) {
  Schedule s = pairOf("r: recv from 1 into y\ns: send to 1 from x\ns requires r\n",
                      "r: recv from 0 into y\ns: send to 0 from x\ns requires r\n");
  EXPECT_EQ(errorOf(s), "rank 0, op l1: MSCCL XML cannot say a step that no order of messages lets "
                        "begin");
}

TEST(MscclExport, RefusesParameters) {
  EXPECT_EQ(errorOf(parse("schedule \"s\"\nnum_ranks 0\n")),
            "a schedule without ranks is no algorithm of MSCCL");
  EXPECT_EQ(errorOf(parse("schedule \"s\"\nnum_ranks 1\nsize n = 1 in 0..\nrank 0 {\n"
                          "in x: i32[n]\nout y: i32[n]\nout z: i32[n]\n}\n")),
            "MSCCL's collectives have one input and one output, 's' has 3 parameters: in x, out "
            "y, out z");
  EXPECT_EQ(errorOf(parse("schedule \"s\"\nnum_ranks 1\nsize n = 1 in 0..\nrank 0 {\n"
                          "in x: i32[n]\nout y: i32[2n]\n}\n")),
            "'s' is none of MSCCL's collectives, and a custom one has an input and an output of "
            "one size, here 1 and 2 chunks");
  EXPECT_EQ(errorOf(parse("schedule \"s\"\nnum_ranks 1\nsize n = 1 in 0..\nrank 0 {\n"
                          "in x: i32[n]\nout y: i64[n]\n}\n")),
            "rank 0: MSCCL XML cannot say out y, which has another element type than the first "
            "buffer");
  EXPECT_EQ(errorOf(parse("schedule \"s\"\nnum_ranks 1\nsize n = 1 in 0..\nrank 0 {\n"
                          "in x: i32[2][*]\nout y: i32[n]\n}\n")),
            "MSCCL XML cannot say in x, whose blocks have lengths of their own");
  EXPECT_EQ(
      errorOf(pairOf("copy from x[0..1] into y[0..1]\n", "", "size n = 100000 in 100000..\n")),
      "a buffer would have 100000 chunks, the largest unit of all its parts, and MSCCL "
      "counts to 32767");
  EXPECT_EQ(errorOf(pairOf("", "", "size n = 0 in 0..0\n")),
            "its parts have no common size, and it was made for no elements");
}

TEST(MscclExport, RefusesParametersThatDifferFromRankToRank) {
  auto twoRanks = [](const std::string &first, const std::string &second) {
    return parse("schedule \"s\"\nnum_ranks 2\nsize n = 1 in 0..\nrank 0 {\n" + first +
                 "}\nrank 1 {\n" + second + "}\n");
  };
  EXPECT_EQ(errorOf(twoRanks("in x: i32[0]\nout y: i32[3n]\n", "in x: i32[3n]\nout y: i32[3n]\n")),
            "MSCCL's collectives have parameters of one size on all ranks, 'x' has 0 chunks on "
            "rank 0 and 1 on rank 1");
  EXPECT_EQ(errorOf(twoRanks("in x: i32[n]\nout y: i32[n]\n", "")),
            "rank 1: MSCCL's collectives have one input and one output, 's' has 0 parameters");
  EXPECT_EQ(errorOf(twoRanks("in x: i32[n]\nout y: i32[n]\n",
                             "temp t: i32[n]\nin x: i32[n]\nout y: i32[n]\n")),
            "rank 1: the parameters stand elsewhere than on rank 0");
}

TEST(MscclExport, RefusesTooManyThreadblocks) {
  Result<Schedule> schedule = stdlibSchedule("alltoall_pairwise", {70});
  EXPECT_EQ(errorOf(*schedule), "rank 0: needs 139 threadblocks, the limit is 128");
}

} // namespace
} // namespace colldsl::msccl

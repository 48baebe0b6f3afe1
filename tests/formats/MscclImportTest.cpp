// From algorithms of MSCCL to schedules.

#include "formats/MscclImport.h"
#include "ir/TextForm.h"

#include <gtest/gtest.h>

namespace colldsl::msccl {
namespace {

Step stepOf(StepKind kind, Place source, Place target, uint32_t count = 1) {
  Step step;
  step.kind = kind;
  step.source = source;
  step.target = target;
  step.count = count;
  step.loc = {7, 3, 0};
  return step;
}

constexpr Place in(int32_t offset) { return {Memory::Input, offset}; }
constexpr Place out(int32_t offset) { return {Memory::Output, offset}; }
constexpr Place scratch(int32_t offset) { return {Memory::Scratch, offset}; }

/// Two gpus without steps.
Algorithm pairOf(Collective collective, uint32_t chunks = 2) {
  Algorithm algorithm;
  algorithm.name = "pair";
  algorithm.collective = collective;
  algorithm.chunksPerLoop = chunks;
  algorithm.gpus.resize(2);
  for (Gpu &gpu : algorithm.gpus)
    gpu.scratchChunks = 2;
  return algorithm;
}

/// Adds a threadblock on gpu 0 that exchanges with gpu 1.
Threadblock &addBlock(Algorithm &algorithm, std::vector<Step> steps, uint32_t channel = 0) {
  Threadblock block;
  block.sendPeer = block.recvPeer = 1;
  block.channel = channel;
  block.steps = std::move(steps);
  algorithm.gpus[0].blocks.push_back(block);
  return algorithm.gpus[0].blocks.back();
}

std::string errorOf(const Algorithm &algorithm) {
  Result<Schedule> schedule = toSchedule(algorithm, "test.xml");
  return schedule ? "" : schedule.message();
}

/// The statements of a rank in the text form, without places.
std::string rankText(const Algorithm &algorithm, uint32_t rank = 0) {
  Result<Schedule> schedule = toSchedule(algorithm, "test.xml");
  if (!schedule)
    return "error: " + schedule.message();
  for (Dag &dag : schedule->ranks)
    for (Op &op : dag.ops)
      op.loc = {};
  std::string text = printText(*schedule);
  std::string head = "rank " + std::to_string(rank) + " {\n";
  size_t begin = text.find(head) + head.size();
  return text.substr(begin, text.find("}\n", begin) - begin);
}

/// ... its ops and dependencies only.
std::string opsText(const Algorithm &algorithm) {
  std::string all = rankText(algorithm), ops;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    end = all.find('\n', begin) + 1;
    if (all[begin] == 'l')
      ops += all.substr(begin, end - begin);
  }
  return all.starts_with("error") ? all : ops;
}

TEST(MscclImport, BuffersAndPromises) {
  EXPECT_EQ(rankText(pairOf(Collective::Allreduce)),
            "in x: i32[2n]\nout y: i32[2n]\ntemp s: i32[2n]\n"
            "ensures y == sum(x@0, x@1)\n");
  EXPECT_EQ(rankText(pairOf(Collective::Allgather, 4), 1),
            "in x: i32[2n]\nout y: i32[4n]\ntemp s: i32[2n]\n"
            "ensures y[0..2n] == x@0\nensures y[2n..4n] == x@1\n");
  EXPECT_EQ(rankText(pairOf(Collective::ReduceScatter, 4), 1),
            "in x: i32[4n]\nout y: i32[2n]\ntemp s: i32[2n]\n"
            "ensures y == sum(x[2n..4n]@0, x[2n..4n]@1)\n");
  EXPECT_EQ(rankText(pairOf(Collective::Alltoall), 1),
            "in x: i32[2n]\nout y: i32[2n]\ntemp s: i32[2n]\n"
            "ensures y[0..n] == x[n..2n]@0\nensures y[n..2n] == x[n..2n]@1\n");
}

TEST(MscclImport, RootsAreStatedOrInferred) {
  Algorithm broadcast = pairOf(Collective::Broadcast);
  EXPECT_EQ(errorOf(broadcast), "broadcast has no single root: gpus that read their input: none");
  addBlock(broadcast, {stepOf(StepKind::Send, in(0), out(0))});
  EXPECT_NE(rankText(broadcast, 1).find("ensures y == x@0\n"), std::string::npos);
  broadcast.root = 1;
  EXPECT_NE(rankText(broadcast, 1).find("ensures y == x@1\n"), std::string::npos);
  Algorithm reduce = pairOf(Collective::Reduce);
  reduce.inPlace = true;
  EXPECT_EQ(errorOf(reduce), "reduce has no single root: gpus that send nothing: 0, 1");
  addBlock(reduce, {stepOf(StepKind::Send, in(0), out(0))});
  EXPECT_EQ(rankText(reduce, 0).find("ensures"), std::string::npos);
  EXPECT_NE(rankText(reduce, 1).find("ensures y == sum(x@0, x@1)\n"), std::string::npos);
}

TEST(MscclImport, InPlaceBuffersShareStorage) {
  Algorithm gather = pairOf(Collective::Allgather, 4);
  gather.inPlace = true;
  addBlock(gather, {stepOf(StepKind::Send, in(1), out(0))});
  EXPECT_NE(rankText(gather, 1).find("in x: i32[2n] aliases y[2n..4n]\n"), std::string::npos);
  EXPECT_EQ(opsText(gather), "l0: send 4096b to 1 tag 0 from y[n..2n]\n");
  Algorithm scatter = pairOf(Collective::ReduceScatter, 4);
  scatter.inPlace = true;
  EXPECT_NE(rankText(scatter, 1).find("out y: i32[2n] aliases x[2n..4n]\n"), std::string::npos);
}

TEST(MscclImport, ElementsHaveTheRequestedType) {
  Result<Schedule> schedule =
      toSchedule(pairOf(Collective::Allreduce), "test.xml", {.type = ElementType::F32});
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->ranks[0].buffers[0].type, ElementType::F32);
}

TEST(MscclImport, EachKindOfStep) {
  auto ops = [](StepKind kind, Place source, Place target) {
    Algorithm algorithm = pairOf(Collective::Allreduce);
    addBlock(algorithm, {stepOf(kind, source, target)});
    return opsText(algorithm);
  };
  EXPECT_EQ(ops(StepKind::Send, in(1), out(0)), "l0: send 4096b to 1 tag 0 from x[n..2n]\n");
  EXPECT_EQ(ops(StepKind::Recv, in(0), scratch(1)), "l0: recv 4096b from 1 tag 0 into s[n..2n]\n");
  EXPECT_EQ(ops(StepKind::RecvCopySend, in(0), out(1)),
            "l0: recv 4096b from 1 tag 0 into y[n..2n]\n"
            "l1: send 4096b to 1 tag 0 from y[n..2n]\nl1 requires l0\n");
  EXPECT_EQ(ops(StepKind::RecvReduceCopy, out(0), out(0)),
            "l0: recv 4096b from 1 tag 0 into incoming\n"
            "l1: combine 4096b by sum i32 after from incoming into y[0..n]\nl1 requires l0\n");
  EXPECT_EQ(ops(StepKind::RecvReduceCopy, in(0), out(1)),
            "l0: recv 4096b from 1 tag 0 into y[n..2n]\n"
            "l1: combine 4096b by sum i32 after from x[0..n] into y[n..2n]\nl1 requires l0\n");
  EXPECT_EQ(ops(StepKind::RecvReduceSend, in(0), out(1)),
            "l0: recv 4096b from 1 tag 0 into incoming\n"
            "l1: combine 4096b by sum i32 after from x[0..n] into incoming\nl1 requires l0\n"
            "l2: send 4096b to 1 tag 0 from incoming\nl2 requires l1\n");
  EXPECT_EQ(ops(StepKind::RecvReduceCopySend, out(0), out(0)),
            "l0: recv 4096b from 1 tag 0 into incoming\n"
            "l1: combine 4096b by sum i32 after from incoming into y[0..n]\nl1 requires l0\n"
            "l2: send 4096b to 1 tag 0 from y[0..n]\nl2 requires l1\n");
  EXPECT_EQ(ops(StepKind::Copy, in(1), out(0)), "l0: copy 4096b from x[n..2n] into y[0..n]\n");
  EXPECT_EQ(ops(StepKind::Copy, in(1), in(1)), "");
  EXPECT_EQ(ops(StepKind::Reduce, scratch(0), out(1)),
            "l0: combine 4096b by sum i32 after from s[0..n] into y[n..2n]\n");
}

// A send is over for its threadblock when it has begun; a step that overwrites its source waits.
TEST(MscclImport, StepsFollowEachOther) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  addBlock(algorithm,
           {stepOf(StepKind::Send, out(0), out(0)), stepOf(StepKind::Recv, in(0), out(1)),
            stepOf(StepKind::Recv, in(0), out(0))});
  EXPECT_EQ(opsText(algorithm), "l0: send 4096b to 1 tag 0 from y[0..n]\n"
                                "l1: recv 4096b from 1 tag 0 into y[n..2n]\nl1 irequires l0\n"
                                "l2: recv 4096b from 1 tag 0 into y[0..n]\n"
                                "l2 requires l0\nl2 requires l1\n");
}

// Across threadblocks, and over a nop.
TEST(MscclImport, StepsWaitForOthers) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  addBlock(algorithm, {stepOf(StepKind::Send, out(0), out(0))}).steps[0].isAwaited = true;
  addBlock(algorithm, {stepOf(StepKind::Recv, in(0), out(1))}, 1).steps[0].isAwaited = true;
  Threadblock local;
  local.steps = {stepOf(StepKind::Nop, in(-1), out(-1), 0), stepOf(StepKind::Copy, in(0), out(0))};
  local.steps[0].waitBlock = 0, local.steps[0].waitStep = 0;
  local.steps[1].waitBlock = 1, local.steps[1].waitStep = 0;
  algorithm.gpus[0].blocks.push_back(local);
  EXPECT_EQ(opsText(algorithm), "l0: send 4096b to 1 tag 0 from y[0..n]\n"
                                "l1: recv 4096b from 1 tag 1 into y[n..2n]\n"
                                "l2: copy 4096b from x[0..n] into y[0..n]\n"
                                "l2 requires l0\nl2 requires l1\n");
}

TEST(MscclImport, RefusesChunksThatDoNotExist) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  Threadblock &block = addBlock(algorithm, {stepOf(StepKind::Send, in(1), out(0), 2)});
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 0, step 0: s reads chunks 1 to 3 of 'i', which has 2");
  block.steps[0] = stepOf(StepKind::Recv, in(0), scratch(-1));
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 0, step 0: r writes chunks -1 to 0 of 's', which has 2");
  block.steps[0] = stepOf(StepKind::Recv, in(9), out(1));
  EXPECT_EQ(errorOf(algorithm), "") << "the source is the other gpu's";
  block.steps[0] = stepOf(StepKind::Reduce, in(0), in(0));
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 0, step 0: re reads and writes chunks that overlap");
  Algorithm wide = pairOf(Collective::Allreduce, 4);
  addBlock(wide, {stepOf(StepKind::RecvReduceCopy, out(0), out(1), 2)});
  EXPECT_EQ(errorOf(wide), "gpu 0, tb 0, step 0: rrc reads and writes chunks that overlap");
  EXPECT_EQ(toSchedule(wide, "x").status().diagnostic().loc, (SourceLoc{7, 3, 0}));
}

TEST(MscclImport, RefusesNumbersOfChunks) {
  Algorithm algorithm = pairOf(Collective::Allgather, 3);
  EXPECT_EQ(errorOf(algorithm), "nchunksperloop is 3, allgather divides them among 2 gpus");
  algorithm = pairOf(Collective::ReduceScatter, 4);
  algorithm.gpus[1].outputChunks = 4;
  EXPECT_EQ(errorOf(algorithm), "gpu 1: o_chunks is 4, reduce_scatter with nchunksperloop 4 has 2");
  algorithm = pairOf(Collective::Custom);
  algorithm.inPlace = true;
  algorithm.gpus[0].inputChunks = 1;
  algorithm.gpus[0].outputChunks = 2;
  EXPECT_EQ(errorOf(algorithm), "gpu 0: in place, i_chunks is 1 and o_chunks is 2");
}

TEST(MscclImport, InPlaceOneNumberOfChunksIsThatOfBoth) {
  Algorithm algorithm = pairOf(Collective::Custom);
  algorithm.inPlace = true;
  algorithm.gpus[0].inputChunks = algorithm.gpus[1].outputChunks = 8;
  addBlock(algorithm,
           {stepOf(StepKind::Send, in(7), out(7)), stepOf(StepKind::Send, out(7), out(7))});
  EXPECT_EQ(rankText(algorithm).substr(0, 37), "in x: i32[8n] aliases y\nout y: i32[8n");
  EXPECT_EQ(rankText(algorithm, 1).substr(0, 37), "in x: i32[8n] aliases y\nout y: i32[8n");
}

TEST(MscclImport, InitialCopiesComeBeforeTheStepsThatTouchThem) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  algorithm.gpus[0].copies = {{0, 1, {}}, {1, 0, {}}};
  addBlock(algorithm,
           {stepOf(StepKind::Send, out(1), out(0)), stepOf(StepKind::Recv, out(0), in(1)),
            stepOf(StepKind::Send, in(0), out(0))});
  EXPECT_EQ(opsText(algorithm), "l0: copy 4096b from x[0..n] into y[n..2n]\n"
                                "l1: copy 4096b from x[n..2n] into y[0..n]\n"
                                "l2: send 4096b to 1 tag 0 from y[n..2n]\nl2 requires l0\n"
                                "l3: recv 4096b from 1 tag 0 into x[n..2n]\nl3 requires l1\n"
                                "l3 irequires l2\n"
                                "l4: send 4096b to 1 tag 0 from x[0..n]\nl4 requires l3\n");
  algorithm.gpus[0].copies = {{0, 2, {}}};
  EXPECT_EQ(errorOf(algorithm), "gpu 0: copy writes chunks 2 to 3 of 'o', which has 2");
  algorithm.inPlace = true; // both places are one
  algorithm.gpus[0].copies = {{1, 1, {}}};
  EXPECT_EQ(opsText(algorithm).find("copy"), std::string::npos);
}

TEST(MscclImport, RefusesWaits) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  Step &step = addBlock(algorithm, {stepOf(StepKind::Send, in(0), out(0))}).steps[0];
  step.waitBlock = 1, step.waitStep = 0;
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 0, step 0: waits for tb 1, the gpu has 1");
  step.waitBlock = 0, step.waitStep = 1;
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 0, step 0: waits for step 1 of tb 0, which has 1");
  step.waitStep = 0;
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 0, step 0: waits for step 0 of tb 0, which has "
                                "hasdep=\"0\" and signals no other threadblock");
  step.isAwaited = true;
  EXPECT_EQ(errorOf(algorithm),
            "gpu 0, tb 0, step 0: can never start: what it waits for waits for itself");
}

TEST(MscclImport, RefusesTwoUsersOfAConnection) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  addBlock(algorithm, {});
  addBlock(algorithm, {});
  EXPECT_EQ(errorOf(algorithm), "gpu 0, tb 1: tb 0 sends to gpu 1 on channel 0 already");
}

TEST(MscclImport, RefusesTooManyOps) {
  Algorithm algorithm = pairOf(Collective::Allreduce);
  addBlock(algorithm, {stepOf(StepKind::RecvReduceCopy, out(0), out(0))});
  Result<Schedule> schedule = toSchedule(algorithm, "test.xml", {.maxOps = 1});
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.message(), "there are more ops than the limit of 1 (--max-total-ops)");
}

} // namespace
} // namespace colldsl::msccl

// Work for requests without a terminal: messages go to the sink, progress to the watch, which can
// stop it.

#include "driver/choice/ExplainedChoice.h"
#include "driver/choice/Functions.h"
#include "driver/library/MakeLibrary.h"
#include "driver/proofs/ProveTarget.h"
#include "driver/proofs/SmallestCounterexample.h"
#include "driver/schedule/MakeWorkload.h"

#include <gtest/gtest.h>

namespace colldsl::driver {
namespace {

constexpr const char *kGather = R"(collective gather(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
  for k in 0..ranks - 1 {
    send y[(rank - k + ranks) % ranks] to (rank + 1) % ranks;
    recv y[(rank - k - 1 + ranks) % ranks] from (rank + ranks - 1) % ranks;
  }
}
)";

class Work : public ::testing::Test {
protected:
  std::unique_ptr<Source> sourceOf(const char *text) {
    std::unique_ptr<Source> source = Source::ofText(session, "gather", text, ScheduleRequest());
    EXPECT_TRUE(source) << messages.text();
    return source;
  }

  SinkText messages;
  Session session{messages};
};

TEST_F(Work, MistakesGoToTheSink) {
  EXPECT_FALSE(Source::ofText(session, "wrong", "collective wrong(", ScheduleRequest()));
  std::string text = messages.release();
  EXPECT_NE(text.find("wrong:1:17: error: "), std::string::npos) << text;
  EXPECT_FALSE(Source::read(session, {"no/such/file"}, ScheduleRequest()));
  EXPECT_EQ(messages.text(),
            "colldsl: error: cannot read 'no/such/file': No such file or directory\n"
            "colldsl: note: `colldsl explain unreadable-file` explains this\n");
}

TEST_F(Work, ProofsCountTheirSteps) {
  std::unique_ptr<Source> source = sourceOf(kGather);
  ASSERT_TRUE(source);
  ProofRequest request;
  request.ranks = {1, 2, 3};
  std::vector<Source::Target> targets = chooseToProve(*source, request);
  ASSERT_EQ(targets.size(), 1u);
  std::mutex mutex;
  uint64_t most = 0, total = 0;
  Watch watch{nullptr, [&](const Reached &reached) {
                std::lock_guard lock(mutex);
                EXPECT_EQ(reached.what, "gather");
                most = std::max(most, reached.done);
                total = reached.total;
              }};
  Proofs proofs(*source, request, watch);
  Result<Summary> summary = proveTarget(proofs, *source, targets.front(), watch);
  ASSERT_TRUE(summary) << summary.message();
  EXPECT_TRUE(summary->ok());
  EXPECT_EQ(total, summary->tasks.size());
  EXPECT_EQ(most, total);
  EXPECT_EQ(messages.text(), "");
}

// Rank 4 sends nothing, so that 6 ranks, the first even number beyond 4, are wrong; odd ones are
// excluded.
TEST_F(Work, TheSearchEndsAtTheSmallestCounterexample) {
  std::unique_ptr<Source> source = sourceOf(R"(collective gather(in x: T[n], out y: T[n])
  where ranks % 2 == 0
  ensures y == x@((rank - 1) % ranks)
{
  if rank != 4 { send x to (rank + 1) % ranks; }
  recv y from (rank - 1) % ranks;
}
)");
  ASSERT_TRUE(source) << messages.text();
  ProofRequest request;
  Source::Target target = chooseToProve(*source, request).front();
  std::atomic<size_t> steps{0};
  auto found =
      findSmallestCounterexample(*source, target, request, {}, [&](const Reached &) { ++steps; });
  ASSERT_TRUE(found) << found.message();
  ASSERT_TRUE(found->refused);
  EXPECT_EQ(found->provedRanks, (std::vector<uint32_t>{2, 4}));
  for (const ProofTask &task : found->refused->tasks)
    EXPECT_EQ(task.shape.ranks, 6u);
  EXPECT_FALSE(found->refused->counterexamples().empty());
  EXPECT_FALSE(found->isOutOfTime);
  EXPECT_GE(steps, found->refused->tasks.size());

  found = findSmallestCounterexample(*source, target, request, {5});
  ASSERT_TRUE(found) << found.message();
  EXPECT_FALSE(found->refused);
  EXPECT_EQ(found->provedRanks, (std::vector<uint32_t>{2, 4}));
}

TEST_F(Work, TheSearchEndsWithItsTime) {
  std::unique_ptr<Source> source = sourceOf(kGather);
  ASSERT_TRUE(source);
  ProofRequest request;
  Source::Target target = chooseToProve(*source, request).front();
  auto found = findSmallestCounterexample(*source, target, request,
                                          {1'000'000, std::chrono::milliseconds(50)});
  ASSERT_TRUE(found) << found.message();
  EXPECT_FALSE(found->refused);
  EXPECT_TRUE(found->isOutOfTime);
  EXPECT_LT(found->provedRanks.size(), 100'000u);
}

TEST_F(Work, TheWatchStopsProofsAndSimulations) {
  std::unique_ptr<Source> source = sourceOf(kGather);
  ASSERT_TRUE(source);
  std::atomic<bool> stop{true};
  Watch watch{&stop};
  ProofRequest request;
  Proofs proofs(*source, request, watch);
  Result<Summary> summary =
      proveTarget(proofs, *source, chooseToProve(*source, request).front(), watch);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.message(), "the proofs were stopped");

  SimulationRequest run;
  run.single.ranks = 300; // enough events that the simulator asks
  ChosenTarget choice = chooseOne(*source, run.single);
  ASSERT_TRUE(choice.target);
  const sim::SimulateOptions model = run.model();
  Result<SimulatedJob> job =
      makeWorkload(*source, *choice.target, run.single, model, /*contract=*/false);
  ASSERT_TRUE(job) << job.message();
  EXPECT_FALSE(simulateJob(*job, model, "gather", watch));
  stop = false;
  EXPECT_TRUE(simulateJob(*job, model, "gather", watch));
}

TEST_F(Work, SeveralTargetsAreARefusal) {
  std::string two = kGather;
  two += "collective other(in x: T[n], out y: T[n]) ensures y == x { copy x to y; }\n";
  std::unique_ptr<Source> source = sourceOf(two.c_str());
  ASSERT_TRUE(source);
  SingleRequest request;
  ChosenTarget choice = chooseOne(*source, request);
  EXPECT_FALSE(choice.target);
  EXPECT_EQ(choice.refusal, "one schedule at a time: choose among 2 with --name: gather, other");
  request.schedule.names = {"other"};
  EXPECT_TRUE(chooseOne(*source, request).target);
  request.schedule.names = {"nothing"};
  choice = chooseOne(*source, request);
  EXPECT_FALSE(choice.target);
  EXPECT_EQ(choice.refusal, "");
  EXPECT_NE(messages.text().find("there is no collective 'nothing'"), std::string::npos);
}

TEST_F(Work, AChoiceIsExplainedOrRefused) {
  ChoiceRequest request;
  request.single.ranks = 8;
  std::string refusal;
  std::optional<ExplainedChoice> explained = chooseExplained(session, {"bcast"}, request, refusal);
  ASSERT_TRUE(explained) << messages.text();
  EXPECT_EQ(explained->situation.function, "bcast");
  EXPECT_EQ(explained->place.rfind("stdlib/selection.rules:", 0), 0u) << explained->place;
  EXPECT_TRUE(explained->choice.chosen.why.empty());
  EXPECT_EQ(messages.text() + refusal, "");
  EXPECT_FALSE(chooseExplained(session, {"bcast", "reduce"}, request, refusal));
  EXPECT_EQ(refusal, "name one function, such as bcast, and no schedule");
  refusal = "";
  request.root = 8;
  EXPECT_FALSE(chooseExplained(session, {"bcast"}, request, refusal));
  EXPECT_EQ(messages.text() + refusal, "colldsl: error: --root 8: there are 8 ranks\n");
}

TEST_F(Work, ALibraryHasProvedImages) {
  LibraryRequest request;
  request.proofs.ranks = {2, 3};
  LibraryInput input{sourceOf(kGather), {}, request.proofs.schedule, ""};
  input.targets = input.source->choose(ScheduleRequest());
  std::optional<LibraryContent> content = makeLibrary(input, request);
  ASSERT_TRUE(content) << messages.text();
  EXPECT_EQ(content->identity.exports.size(), 1u);
  ASSERT_EQ(content->images.size(), 2u);
  EXPECT_NE(content->images.front().proof, ImageProof::None);
  std::atomic<bool> stop{true};
  EXPECT_FALSE(makeLibrary(input, request, {&stop}));
  EXPECT_EQ(messages.text(), "colldsl: error: the library was stopped\n");
}

} // namespace
} // namespace colldsl::driver

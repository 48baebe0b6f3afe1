// A plan that is tried out before it is committed: its schedule is made once, unless the plan is
// described otherwise in between.
#include "compiler/Compile.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"
#include "tests/protocol/AttachAlone.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

constexpr uint64_t kElements = 100;
using Ints = std::vector<int32_t>;

/// A sum over all ranks, which may be tried out.
struct Sum {
  Sum(Communicator &communicator, Library &library)
      : plan(communicator, library, "allreduce_recursive_doubling"), x(2 * kElements, 1),
        y(x.size()) {}

  /// A sum of n elements, of at most twice as many as it is described with.
  Status resize(uint64_t n) {
    Status s = plan.setElements(n);
    if (s)
      s = plan.bind("x", BoundBuffer::in(x.data(), n * 4));
    return s ? plan.bind("y", {y.data(), n * 4}) : s;
  }

  Status describe() {
    Status s = plan.setType(ElementType::I32);
    return s ? resize(kElements) : s;
  }
  Status commitAndRun() {
    if (Status s = plan.commit(); !s)
      return s;
    if (Status s = plan.start(); !s)
      return s;
    return plan.plan().wait(std::chrono::seconds(20));
  }
  /// Differs between schedules of which one was there when the other one was made.
  const void *schedule() const { return plan.view().ops.data(); }

  CollectivePlan plan;
  Ints x, y;
};

using Change = Status (*)(Sum &);

/// "": as expected.
std::string runChanged(Communicator &communicator, Library &library, Change change, bool isSame) {
  Sum sum(communicator, library);
  Status s = sum.describe();
  if (s)
    s = sum.plan.tryOut();
  const void *made = sum.schedule();
  if (s && change)
    s = change(sum);
  if (s)
    s = sum.commitAndRun();
  if (!s)
    return s.message();
  if (sum.y[0] != static_cast<int32_t>(communicator.numRanks()))
    return "the sum is " + std::to_string(sum.y[0]);
  if ((sum.schedule() == made) != isSame)
    return isSame ? "its schedule was made twice" : "its schedule is that of before";
  return "";
}

void expectChanged(Change change, bool isSame) {
  Compilation compilation = compileFiles({COLLDSL_ALONG});
  ASSERT_TRUE(compilation.ok());
  std::vector<std::byte> bytes =
      encodeLibrary({{"test", 1, {}}, compilation.program(), {}, {}, {}, {}, {}, {}});
  LocalOptions local;
  local.numRanks = 2;
  local.timeout = std::chrono::seconds(60);
  local.attach = [](shm::World &world, Rank rank) { return test::attachAlone(world, rank, {}); };
  auto outcomes = runLocalRanks(local, [&](Endpoint &e) -> Result<std::vector<std::byte>> {
    auto library = Library::view(bytes);
    if (!library)
      return library.status();
    Communicator communicator(e, Topology());
    std::string why = runChanged(communicator, **library, change, isSame);
    return why.empty() ? Result(std::vector<std::byte>()) : Status::error(why);
  });
  ASSERT_TRUE(outcomes.ok());
  Status s = firstFailure(*outcomes);
  EXPECT_TRUE(s.ok()) << s.message();
}

TEST(TryOut, whatWasTriedOutIsCommitted) { expectChanged(nullptr, true); }

TEST(TryOut, otherMemoryNeedsNoOtherSchedule) {
  expectChanged(
      [](Sum &sum) {
        if (Status s = sum.plan.bind("x", BoundBuffer::in(sum.x.data() + 1, kElements * 4)); !s)
          return s;
        if (Status s = sum.plan.move("x", 4); !s)
          return s;
        return sum.plan.setElements(kElements);
      },
      true);
}

TEST(TryOut, anotherDescriptionNeedsAnotherSchedule) {
  const Change changes[] = {
      [](Sum &sum) { return sum.resize(kElements + 1); },
      [](Sum &sum) { return sum.plan.setType(ElementType::I32); },
      [](Sum &sum) { return sum.plan.setValue("op", static_cast<int64_t>(Reduction::Sum)); },
      [](Sum &sum) { return sum.plan.setInPlace(false); },
      [](Sum &sum) { return sum.plan.setCompiler(*PlanCompiler::make({.passes = ""})); },
      [](Sum &sum) { return sum.plan.forget("op"); },
  };
  for (Change change : changes)
    expectChanged(change, false);
}

TEST(TryOut, aBufferThatIsNotThereIsAnErrorOfTheCommit) {
  expectChanged(
      [](Sum &sum) {
        Status s = sum.plan.bind("z", {sum.y.data(), 4});
        if (s)
          s = sum.plan.commit();
        if (s || s.message().find("has no buffer 'z'") == std::string::npos)
          return Status::error("committed with a buffer 'z': " + s.message());
        return sum.plan.forget("z");
      },
      false);
}

TEST(TryOut, aCommitUsesWhatWasTriedOutOnce) {
  expectChanged(
      [](Sum &sum) {
        const void *made = sum.schedule();
        if (Status s = sum.plan.commit(); !s)
          return s;
        sum.plan.uncommit();
        return sum.schedule() == made ? Status() : Status::error("the first commit made it anew");
      },
      false);
}

} // namespace
} // namespace colldsl

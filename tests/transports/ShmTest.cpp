// What is special about shared memory and single copy.
#include "runtime/job/LocalRanks.h"
#include "transports/cma/RemoteMemory.h"
#include "transports/shm/Arena.h"
#include "transports/shm/OpenPlans.h"
#include "transports/shm/Sleep.h"
#include "transports/shm/World.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using shm::Arena;
using Bytes = std::vector<std::byte>;

TEST(Sleep, anOversubscribedMachineHasFewerCoresThanRanks) {
  auto cores = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_FALSE(shm::isOversubscribed(cores));
  EXPECT_TRUE(shm::isOversubscribed(cores + 1));
  EXPECT_LT(shm::spinBudgetAmong(cores + 1).polls, shm::spinBudgetAmong(cores).polls);
}

TEST(Sleep, theFirstRankOfAWorldDecidesWhetherRanksShareCores) {
  shm::Options options;
  options.ranksOnMachine = shm::numCores() + 1;
  auto made = shm::World::create(1, options);
  ASSERT_TRUE(made.ok()) << made.message();
  auto opened = shm::World::open((*made)->descriptor(), 1);
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_TRUE((*made)->sharesCores());
  EXPECT_TRUE((*opened)->sharesCores());
}

// Both ways in which a rank sleeps, of ranks with cores of their own and on an oversubscribed
// machine.
class Sleepers : public ::testing::TestWithParam<std::tuple<uint32_t, bool>> {
protected:
  static constexpr std::chrono::seconds kForGood{60};

  Sleepers() {
    auto [how, isOversubscribed] = GetParam();
    how_ = how;
    world_ = shm::World::create(isOversubscribed ? shm::numCores() + 1 : 1).take();
    world_->control(kSelf).pid = getpid();
    if (how == shm::RankControl::kOnFd)
      world_->wakeupPipes().create(world_->control(kSelf));
  }
  WakeupEpoch arm() { return world_->armSleep(kSelf, how_); }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost = kForGood) {
    if (how_ == shm::RankControl::kOnFd)
      world_->sleepOnFd(kSelf, epoch, -1, atMost);
    else
      world_->sleepOnWord(kSelf, epoch, atMost);
  }
  void sleepUntil(const std::atomic<int> &word, int value) {
    while (word < value) {
      WakeupEpoch epoch = arm();
      if (word < value)
        sleep(epoch);
    }
  }

  static constexpr Rank kSelf{0};
  uint32_t how_;
  std::shared_ptr<shm::World> world_;
};
INSTANTIATE_TEST_SUITE_P(All, Sleepers,
                         ::testing::Combine(::testing::Values(shm::RankControl::kOnWord,
                                                              shm::RankControl::kOnFd),
                                            ::testing::Bool()));

TEST_P(Sleepers, aWakeUpIsForAllThreadsThatWereToSleep) {
  auto begin = std::chrono::steady_clock::now();
  WakeupEpoch first = arm();
  world_->wake(kSelf);
  WakeupEpoch second = arm(); // of another thread
  sleep(first);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kForGood / 2);
  sleep(second, std::chrono::milliseconds(1));
}

TEST_P(Sleepers, noThreadTakesTheWakeUpOfAnother) {
  constexpr int kRounds = 500;
  std::array<std::atomic<int>, 2> events = {}, seen = {};
  auto sleeper = [&](size_t i) {
    for (int round = 1; round <= kRounds; ++round) {
      sleepUntil(events[i], round);
      seen[i] = round;
    }
  };
  auto begin = std::chrono::steady_clock::now();
  std::thread first(sleeper, 0), second(sleeper, 1);
  auto isLate = [&] { return std::chrono::steady_clock::now() - begin > kForGood / 2; };
  for (int round = 1; round <= kRounds; ++round)
    for (size_t i : {0, 1}) {
      events[i] = round;
      world_->wake(kSelf);
      while (round % 2 == 0 && seen[i] < round && !isLate())
        std::this_thread::yield();
    }
  first.join();
  second.join();
  EXPECT_FALSE(isLate());
}

TEST(Arena, blocksAreAlignedAndApart) {
  Arena arena(4096, 1000);
  uint64_t a = arena.allocate(1), b = arena.allocate(100), c = arena.allocate(64);
  EXPECT_EQ(a, 4096u);
  EXPECT_EQ(b, 4096u + 64);
  EXPECT_EQ(c, 4096u + 64 + 128);
  EXPECT_EQ(arena.bytesInUse(), 256u);
}

TEST(Arena, fullIsNotAnError) {
  Arena arena(0, 256);
  EXPECT_EQ(arena.allocate(257), Arena::kNoRoom);
  EXPECT_EQ(arena.allocate(UINT64_MAX), Arena::kNoRoom);
  EXPECT_EQ(arena.allocate(256), 0u);
  EXPECT_EQ(arena.allocate(1), Arena::kNoRoom);
}

TEST(Arena, freeNeighborsMerge) {
  for (auto order : {std::array{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}}) {
    Arena arena(0, 192);
    std::array<uint64_t, 3> blocks = {arena.allocate(64), arena.allocate(64), arena.allocate(64)};
    for (int i : order)
      arena.release(blocks[static_cast<size_t>(i)]);
    EXPECT_EQ(arena.allocate(192), 0u);
  }
}

/// Why a plan that all ranks opened together fails.
std::optional<Fault> findAny(const shm::World &world, uint64_t plan) {
  std::optional<Fault> fault = world.findFailure(plan);
  if (!fault)
    fault = world.findDeath([](Rank) { return true; });
  return fault ? fault : world.findFailureOfAll();
}

TEST(ShmWorld, refusesOptionsThatMakeNoSense) {
  shm::Options options;
  EXPECT_FALSE(shm::World::create(0, options).ok());
  options.arenaBytes = 100;
  EXPECT_EQ(shm::World::create(1, options).message(), "the size of an arena is a multiple of 4096");
  options.arenaBytes = uint64_t{1} << 62;
  auto world = shm::World::create(3, options);
  ASSERT_FALSE(world.ok());
  options.arenaBytes = uint64_t{1} << 50;
  world = shm::World::create(3, options);
  ASSERT_FALSE(world.ok());
  EXPECT_NE(world.message().find("cannot map"), std::string::npos);
}

TEST(ShmWorld, failuresOfOtherPlansAreNoneOfOurs) {
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  (*world)->report(7, {Rank{1}, kNoOp, "seven"});
  EXPECT_FALSE(findAny(**world, 3).has_value());
  (*world)->reportDeath(Rank{1});
  auto fault = findAny(**world, 3);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->reason, "rank 1 died");
  EXPECT_EQ(fault->kind, ErrorKind::RankDied);
  EXPECT_EQ(fault->peer, Rank{1});
  EXPECT_EQ(findAny(**world, 7)->reason, "seven");
}

TEST(ShmWorld, failuresOfOneRunAreNoneOfTheNext) {
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  (*world)->reportRun(7, 2, {Rank{1}, kNoOp, "too long", ErrorKind::Truncated});
  (*world)->reportRun(7, 2, {Rank{0}, kNoOp, "too late", ErrorKind::TimedOut});
  EXPECT_FALSE(findAny(**world, 7).has_value());
  for (uint32_t run : {1, 2, 3}) {
    auto fault = (*world)->findRunFailure(7, run);
    EXPECT_EQ(fault.has_value(), run == 2) << run;
    EXPECT_TRUE(!fault || (fault->kind == ErrorKind::Truncated && fault->peer == Rank{1} &&
                           fault->reason == "too long"));
    EXPECT_FALSE((*world)->findRunFailure(8, run).has_value());
  }
}

// All ranks are through with the plans that failed: what is open, and what is opened later, is as
// good as new.
TEST(ShmWorld, anyNumberOfPlansMayFail) {
  constexpr uint32_t kPlans = 5 * kRunPlaces, kOpen = 3;
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  Arena arena((*world)->arenaBegin(Rank{0}), 1 << 20);
  auto allocate = [&](uint64_t bytes) { return arena.allocate(bytes); };
  shm::OpenPlans ours(**world, Rank{0}), theirs(**world, Rank{1});
  for (uint32_t plan = 0; plan < kPlans; ++plan) {
    for (shm::OpenPlans *plans : {&ours, &theirs})
      plans->open(plan, allocate);
    if (plan == kOpen)
      continue;
    (*world)->report(plan, {Rank{0}, kNoOp, std::string(1000, 'x')}, true);
    ASSERT_TRUE(findAny(**world, plan).has_value());
    for (shm::OpenPlans *plans : {&ours, &theirs})
      plans->close(plan);
  }
  EXPECT_FALSE(findAny(**world, kOpen).has_value());
  EXPECT_FALSE(findAny(**world, kPlans).has_value());
}

// A rank that comes late is told of each.
TEST(ShmWorld, failuresThatSomebodyNeedsAreNotForgotten) {
  constexpr uint32_t kPlans = 3 * kRunPlaces;
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  Arena arena((*world)->arenaBegin(Rank{0}), 1 << 20);
  shm::OpenPlans ours(**world, Rank{0});
  for (uint32_t plan = 0; plan < kPlans; ++plan) {
    ours.open(plan, [&](uint64_t bytes) { return arena.allocate(bytes); });
    (*world)->report(plan, {Rank{0}, kNoOp, "enough"}, true);
    ours.close(plan);
  }
  for (uint32_t plan = 0; plan < kPlans; ++plan)
    EXPECT_TRUE(findAny(**world, plan).has_value()) << plan;
  EXPECT_FALSE(findAny(**world, kPlans).has_value());
}

// A rank that is killed while it reports hides nothing that others report.
TEST(ShmWorld, reportsOfTheKilledHideNoOthers) {
  auto world = shm::World::create(3);
  ASSERT_TRUE(world.ok());
  auto &header = *reinterpret_cast<shm::WorldHeader *>((*world)->at(0));
  constexpr uint32_t kPlan = 5;
  header.everything.turn = 1;
  header.planFailures.entries[placeOf(0, kPlan + 1)].turn = 1;
  EXPECT_EQ(findAny(**world, 0)->reason, "a rank failed before it could say why");
  header.everything.turn = 0;
  (*world)->report(kPlan + 1, {Rank{1}, kNoOp, "other"});
  EXPECT_EQ(findAny(**world, kPlan + 1)->reason, "other");
  (*world)->report(kPlan, {Rank{1}, kNoOp, "mine"});
  EXPECT_TRUE(findAny(**world, kPlan).has_value());
  (*world)->reportDeath(Rank{2});
  EXPECT_EQ(findAny(**world, kPlan + 7)->reason, "rank 2 died");
}

// Each run that failed is known as such, in particular or because it is as old as one that was.
// Deaths are not forgotten, and what did not fail is not said to have.
TEST(ShmWorld, failuresOfRunsGoRound) {
  constexpr uint32_t kRuns = 5 * kRunPlaces;
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  (*world)->reportDeath(Rank{1});
  for (uint32_t run = 1; run <= kRuns; ++run) {
    (*world)->reportRun(7, run, {Rank{1}, kNoOp, std::to_string(run)});
    ASSERT_EQ((*world)->findRunFailure(7, run)->reason, std::to_string(run));
    ASSERT_FALSE((*world)->findRunFailure(7, run + 1).has_value());
    ASSERT_FALSE((*world)->findRunFailure(8, run).has_value());
  }
  for (uint32_t run = 1; run <= kRuns; ++run) {
    auto fault = (*world)->findRunFailure(7, run);
    ASSERT_TRUE(fault.has_value()) << run;
    bool isKnown = run + kRunPlaces > kRuns;
    EXPECT_EQ(fault->reason,
              isKnown ? std::to_string(run) : "too many runs failed since this one began");
  }
  EXPECT_EQ(findAny(**world, 8)->reason, "rank 1 died");
}

// A rank that comes late with the failure of an old run drives out none that is newer.
TEST(ShmWorld, lateFailuresOfOldRunsPushNothingOut) {
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  (*world)->reportRun(7, kRunPlaces + 5, {Rank{0}, kNoOp, "new"});
  (*world)->reportRun(7, 5, {Rank{1}, kNoOp, "old"});
  EXPECT_EQ((*world)->findRunFailure(7, kRunPlaces + 5)->reason, "new");
  EXPECT_TRUE((*world)->findRunFailure(7, 5).has_value());
  EXPECT_FALSE((*world)->findRunFailure(7, 6).has_value());
}

// Runs of one plan that lost their places say nothing of another plan whose runs do not fail.
TEST(ShmWorld, failuresOfRunsAreThoseOfTheirPlan) {
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  uint64_t other = 8;
  while (placeOf(other) != placeOf(7))
    ++other;
  for (uint32_t run : {1u, kRunPlaces + 1})
    (*world)->reportRun(7, run, {Rank{1}, kNoOp, "mine"});
  EXPECT_TRUE((*world)->findRunFailure(7, 1).has_value());
  EXPECT_FALSE((*world)->findRunFailure(other, 1).has_value());
  for (uint32_t run : {2u, kRunPlaces + 2})
    (*world)->reportRun(other, run, {Rank{0}, kNoOp, "other"});
  EXPECT_TRUE((*world)->findRunFailure(7, 1).has_value());
  EXPECT_TRUE((*world)->findRunFailure(other, 2).has_value());
}

// Their numbers begin again at 0.
TEST(ShmWorld, numbersOfRunsWrap) {
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  EXPECT_FALSE((*world)->findRunFailure(7, 0).has_value());
  uint32_t last = UINT32_MAX - 2;
  (*world)->reportRun(7, last, {Rank{1}, kNoOp, "before"});
  (*world)->reportRun(7, last + kRunPlaces, {Rank{1}, kNoOp, "after"});
  EXPECT_EQ((*world)->findRunFailure(7, last + kRunPlaces)->reason, "after");
  EXPECT_TRUE((*world)->findRunFailure(7, last).has_value());
  EXPECT_FALSE((*world)->findRunFailure(7, 0).has_value());
}

// Plans whose runs have the same places, reported by threads: nothing is lost without a word.
TEST(ShmWorld, failuresOfRunsMayComeAtOnce) {
  constexpr uint32_t kRuns = 3 * kRunPlaces;
  auto world = shm::World::create(2);
  ASSERT_TRUE(world.ok());
  std::vector<std::thread> threads;
  for (uint64_t plan : {1u, 2u, 3u, 4u})
    threads.emplace_back([&, plan] {
      for (uint32_t run = 1; run <= kRuns; ++run) {
        (*world)->reportRun(plan, run, {Rank{0}, kNoOp, std::to_string(plan)});
        auto fault = (*world)->findRunFailure(plan, run);
        ASSERT_TRUE(fault.has_value());
        ASSERT_TRUE(fault->peer == kNoRank || fault->reason == std::to_string(plan));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ((*world)->numReports(), 4 * kRuns);
}

// Containers may forbid it.
bool kernelRefuses() {
  std::byte from{1}, to{0};
  iovec piece{&to, 1};
  return cma::read({getpid(), reinterpret_cast<uint64_t>(&from), 1, 1},
                   {&piece, 1, false, false, 1}) == cma::Outcome::Forbidden;
}

// Random pieces of a child's memory, more than fit into one system call, into other
// random pieces.
TEST(RemoteMemory, readsAnyPieces) {
  if (kernelRefuses())
    GTEST_SKIP() << "the kernel does not let processes read each other's memory";
  std::mt19937 random(3);
  for (uint32_t count : {1u, 2u, 63u, 64u, 65u, 1000u}) {
    std::vector<uint32_t> source(100000);
    std::iota(source.begin(), source.end(), count);
    auto *from = reinterpret_cast<std::byte *>(source.data());
    std::vector<iovec> there, here;
    uint64_t bytes = 0;
    Bytes expected;
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t at = random() % 300000, length = random() % 8 == 0 ? 0 : random() % 700;
      there.push_back({from + at, length});
      expected.insert(expected.end(), from + at, from + at + length);
      bytes += length;
    }
    Bytes target(bytes + 1);
    for (uint64_t at = 0; at < bytes; at += here.back().iov_len)
      here.push_back({target.data() + at, std::min<uint64_t>(1 + random() % 500, bytes - at)});
    pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    // The parent's copy is overwritten, so what is read must be the child's.
    std::vector<iovec> list = there;
    std::fill(source.begin(), source.end(), 0xdeadbeef);
    uint64_t address = reinterpret_cast<uint64_t>(count == 1 ? there[0].iov_base : there.data());
    Payload to{here.data(), static_cast<uint32_t>(here.size()), false, false, bytes};
    EXPECT_EQ(cma::read({child, address, count, bytes}, to), cma::Outcome::Copied) << count;
    target.pop_back();
    EXPECT_EQ(target, expected) << count;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(cma::read({child, address, count, bytes}, to),
              bytes == 0 ? cma::Outcome::Copied : cma::Outcome::ProcessGone);
  }
}

TEST(RemoteMemory, badAddresses) {
  if (kernelRefuses())
    GTEST_SKIP() << "the kernel does not let processes read each other's memory";
  Bytes target(100);
  iovec piece{target.data(), target.size()};
  EXPECT_EQ(cma::read({getpid(), 16, 1, 100}, {&piece, 1, false, false, 100}),
            cma::Outcome::BadAddress);
}

// How often a rank warned, when it received so many large messages.
Result<Bytes> countWarnings(Endpoint &endpoint, const int &warnings) {
  std::vector<EdgeSpec> edge{{Rank{1 - index(endpoint.rank())}, {MessageId{0}}}};
  auto opened = endpoint.open({edge, edge});
  if (!opened)
    return opened.status();
  Channels &channels = **opened;
  if (Status s = channels.prepare({100000}); !s)
    return s;
  Bytes out(100000, static_cast<std::byte>(1 + index(endpoint.rank()))), in(100000);
  iovec send{out.data(), out.size()}, recv{in.data(), in.size()};
  for (int run = 0; run < 4; ++run) {
    channels.start();
    int open =
        channels.send({0, 0}, OpId{0}, {&send, 1, false, false, out.size()}) == Posted::Pending;
    open += channels.recv({0, 0}, OpId{1}, {&recv, 1, false, false, in.size()}) == Posted::Pending;
    while (open > 0) {
      open -= static_cast<int>(channels.poll().size());
      if (!channels.check())
        return Status::error(channels.fault().reason);
    }
    if (in != Bytes(in.size(), static_cast<std::byte>(2 - index(endpoint.rank()))))
      return Status::error("wrong bytes");
  }
  return Bytes(1, static_cast<std::byte>(warnings));
}

int warningsWith(shm::SingleCopy singleCopy) {
  int warnings = 0;
  LocalOptions options;
  options.numRanks = 2;
  options.shm.singleCopy = singleCopy;
  options.shm.singleCopyMinBytes = 1;
  options.shm.warn = [&](const std::string &) { ++warnings; };
  auto outcomes =
      runLocalRanks(options, [&](Endpoint &endpoint) { return countWarnings(endpoint, warnings); });
  EXPECT_TRUE(outcomes.ok());
  EXPECT_TRUE(firstFailure(*outcomes).ok()) << firstFailure(*outcomes).message();
  EXPECT_EQ((*outcomes)[0].bytes, (*outcomes)[1].bytes);
  return static_cast<int>((*outcomes)[0].bytes.at(0));
}

TEST(SingleCopy, aRefusalIsReportedOnce) {
  EXPECT_EQ(warningsWith(shm::SingleCopy::Refused), 1);
  EXPECT_EQ(warningsWith(shm::SingleCopy::Off), 0);
  EXPECT_EQ(warningsWith(shm::SingleCopy::On), kernelRefuses() ? 1 : 0);
}

} // namespace
} // namespace colldsl::test

// For any fault, every rank ends in bounded time with an error that names it.
#include "executor/Plan.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <csignal>
#include <dirent.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using Clock = std::chrono::steady_clock;
using Ints = std::vector<int32_t>;
constexpr std::chrono::seconds kLong{30};

BoundBuffer bound(Ints &values) { return {values.data(), values.size() * sizeof(int32_t)}; }

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

// Runs an allgather so often; empty, or the error that ended it.
std::string loopAllgather(
    Endpoint &endpoint, size_t n, int runs, const std::function<void(int)> &beforeRun = [](int) {},
    Mover mover = Mover::Either) {
  uint32_t numRanks = endpoint.numRanks();
  Ints x(n), y(n * numRanks);
  Schedule schedule = ringAllgather(numRanks);
  for (Dag &dag : schedule.ranks)
    for (Op &op : dag.ops)
      if (isMessage(op.kind))
        op.transfer.mover = mover;
  LoadedImage image(schedule);
  Engine engine(endpoint);
  auto plan = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(),
                         {n, {bound(x), bound(y)}, {}});
  if (!plan)
    return plan.message();
  for (int run = 0; run < runs; ++run) {
    beforeRun(run);
    if (Status s = (*plan)->start(); !s)
      return s.message();
    if (Status s = (*plan)->wait(kLong); !s)
      return s.message();
  }
  return "";
}

std::set<std::string> sharedMemoryNames() {
  std::set<std::string> names;
  if (DIR *directory = opendir("/dev/shm")) {
    while (dirent *entry = readdir(directory))
      names.insert(entry->d_name);
    closedir(directory);
  }
  return names;
}

/// Those made since then that stay; those of other programs come and go meanwhile.
std::set<std::string> sharedMemoryLeft(const std::set<std::string> &before) {
  std::set<std::string> left = sharedMemoryNames();
  std::erase_if(left, [&](const std::string &name) { return before.count(name) > 0; });
  const Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  while (!left.empty() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::set<std::string> now = sharedMemoryNames();
    std::erase_if(left, [&](const std::string &name) { return now.count(name) == 0; });
  }
  return left;
}

// Any one message that fails makes all ranks fail with that reason, or none if it was
// never sent; no rank hangs.
TEST(Faults, oneFailedMessageEndsAllRanks) {
  constexpr uint32_t kRanks = 4;
  constexpr uint64_t kMessages = kRanks * (kRanks - 1) * 2; // per run
  for (uint64_t k = 1; k <= 3 * kMessages + 1; ++k) {
    fake::Options options;
    options.seed = k;
    options.failAt = k;
    fake::World world(kRanks, options);
    std::vector<std::string> ends(kRanks);
    runThreads(kRanks, [&](Rank r) {
      ends[index(r)] = loopAllgather(*world.attach(r), 3, 3);
      return "";
    });
    // Ranks may be a run ahead of others. One that needed nothing more is through.
    int told = 0;
    for (const std::string &end : ends) {
      EXPECT_TRUE(end.empty() || contains(end, "injected fault")) << k << ": " << end;
      told += end.empty() ? 0 : 1;
    }
    if (k <= kMessages)
      EXPECT_EQ(told, static_cast<int>(kRanks)) << k;
    else
      EXPECT_EQ(told > 0, k <= 3 * kMessages) << k;
  }
}

TEST(Faults, theOpThatFailedIsNamed) {
  fake::Options options;
  options.failAt = 1;
  fake::World world(1, options);
  Builder b(1);
  BufferId x = b.buffer(BufferRole::InOut, 2);
  OpId first = b.copy(Rank{0}, {b.block(x, 0)}, {b.block(x, 1)});
  b.send(Rank{0}, Rank{0}, {b.block(x, 0)}, {after(first)});
  b.schedule.ranks[0].ops.back().loc = {12, 3, 0};
  b.schedule.files = {"test.coll"};
  b.recv(Rank{0}, Rank{0}, {b.block(x, 1)}, {after(OpId{1})});
  auto endpoint = world.attach(Rank{0});
  LoadedImage image(b.schedule);
  Engine engine(*endpoint);
  Ints values(2);
  auto plan =
      Plan::open(engine, image->rank(Rank{0}), image->sizeClass(), {1, {bound(values)}, {}});
  ASSERT_TRUE(plan.ok()) << plan.message();
  Status s = (*plan)->start();
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "injected fault: rank 0 cannot finish op 1 (send to rank 0)");
  EXPECT_EQ(s.diagnostic().loc, (SourceLoc{12, 3, 0}));
  EXPECT_TRUE((*plan)->failed());
  EXPECT_EQ((*plan)->start().message(), s.message());
  EXPECT_EQ((*plan)->wait().message(), s.message());
}

/// Counts the ops that finish.
struct CountingObserver : Observer {
  void runStarted() override {}
  void opStarted(OpId) override {}
  void opFinished(OpId) override { ++finished; }
  void runFinished() override {}
  int finished = 0;
};

// Two messages come in one poll, of which the first has a block of a wrong length.
TEST(Faults, noOpFinishesBehindTheOneThatEndsTheRun) {
  constexpr Rank kFirst{0}, kMiddle{1}, kLast{2};
  constexpr uint32_t kCount = 4;
  fake::Options options;
  options.reorder = false;
  options.maxDelayTicks = 0;
  fake::World world(3, options);
  Builder b(3);
  BufferId y = b.buffer(BufferRole::InOut, 2), z = b.buffer(BufferRole::InOut, 1);
  auto whole = [&](uint32_t block) {
    Slice slice;
    slice.endScale = 1;
    slice.buffer = y;
    slice.block = block;
    return slice;
  };
  for (Dag &dag : b.schedule.ranks) {
    dag.buffers[index(y)].layout = Layout::Capacity;
    dag.buffers[index(y)].blocks = 2;
  }
  b.send(kFirst, kMiddle, {whole(0), whole(1)});
  b.recv(kMiddle, kFirst, {b.block(z, 0), whole(1)});
  b.send(kLast, kMiddle, {b.block(z, 0)});
  b.recv(kMiddle, kLast, {b.block(z, 0)});
  LoadedImage image(b.schedule);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<Ints> values(6, Ints(2 * kCount));
  for (uint32_t r = 0; r < 3; ++r) {
    endpoints.push_back(world.attach(Rank{r}));
    engines.push_back(std::make_unique<Engine>(*endpoints[r]));
    BlockTable lengths;
    lengths.length = {kCount - 1, kCount};
    auto plan = Plan::open(*engines[r], image->rank(Rank{r}), image->sizeClass(),
                           {kCount, {bound(values[r]), bound(values[3 + r])}, {lengths, {}}});
    ASSERT_TRUE(plan.ok()) << plan.message();
    plans.push_back(plan.take());
  }
  CountingObserver observer;
  plans[index(kMiddle)]->setObserver(&observer);
  ASSERT_TRUE(plans[index(kFirst)]->start().ok());
  ASSERT_TRUE(plans[index(kLast)]->start().ok());
  Status s = plans[index(kMiddle)]->start();
  EXPECT_TRUE(contains(s.message(), "lengths do not fit")) << s.message();
  EXPECT_EQ(observer.finished, 0);
}

TEST(Faults, aDroppedRankEndsAllRanks) {
  for (uint64_t at : {1, 2, 5, 9}) {
    fake::Options options;
    options.dropRank = Rank{2};
    options.dropAt = at;
    fake::World world(5, options);
    std::vector<std::string> ends(5);
    runThreads(5, [&](Rank r) {
      ends[index(r)] = loopAllgather(*world.attach(r), 3, 4);
      return "";
    });
    for (const std::string &end : ends)
      EXPECT_TRUE(contains(end, "rank 2 died")) << end;
  }
}

// Rank 2 ends before it opens the plan; the others do not use up their timeout.
TEST(Faults, aRankThatNeverOpensThePlanEndsAllRanks) {
  fake::World world(4);
  std::vector<std::string> ends(4);
  Clock::time_point begin = Clock::now();
  runThreads(4, [&](Rank r) {
    std::unique_ptr<Endpoint> endpoint = world.attach(r);
    if (r == Rank{2}) // late, so that some wait already
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    else
      ends[index(r)] = loopAllgather(*endpoint, 3, 1);
    return "";
  });
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  for (uint32_t r : {0, 1, 3})
    EXPECT_TRUE(contains(ends[r], "rank 2 ended without opening the plan")) << r << ": " << ends[r];
}

// Rank 2 never starts. Rank 0, which is the only one with a timeout, says so, and the
// others learn from it.
TEST(Faults, aTimeoutReachesAllRanks) {
  for (const TransportSetup &setup :
       {onFake("fake", {}), onShmThreads("shmThreads", {}), onShmProcesses("shm", {}),
        onLocalThreads("localThreads", {}, {}), onLocalProcesses("local", {}, {})}) {
    std::string ends = setup.run(4, [](Endpoint &endpoint) -> std::string {
      Ints x(1), y(4);
      LoadedImage image(ringAllgather(4));
      Engine engine(endpoint);
      auto plan = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(),
                             {1, {bound(x), bound(y)}, {}});
      if (!plan)
        return plan.message();
      if (endpoint.rank() == Rank{2}) {
        // The others have sent all that it needs for one run, not for two.
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        for (int run = 0; run < 2; ++run)
          if (!(*plan)->start() || !(*plan)->wait(kLong))
            return "";
        return "heard nothing";
      }
      if (Status s = (*plan)->start(); !s)
        return s.message();
      auto timeout = endpoint.rank() == Rank{0} ? std::chrono::milliseconds(50)
                                                : std::chrono::milliseconds(20000);
      Clock::time_point begin = Clock::now();
      Status s = (*plan)->wait(timeout);
      if (s)
        return "finished without rank 2";
      if (Clock::now() - begin > std::chrono::seconds(2))
        return "took too long";
      return contains(s.message(), "timed out after 0.05 s: rank 0 cannot finish op ") &&
                     contains(s.message(), "(recv from rank 3)")
                 ? ""
                 : s.message();
    });
    EXPECT_EQ(ends, "") << setup.name;
  }
}

// Wrong on one rank only; the others were told that the plan was open.
TEST(Faults, aBadBindingOnOneRankEndsAllRanks) {
  for (const TransportSetup &setup :
       {onFake("fake", {}), onShmProcesses("shm", {}), onLocalProcesses("local", {}, {})}) {
    std::string ends = setup.run(3, [](Endpoint &endpoint) -> std::string {
      Ints x(4), y(12);
      if (endpoint.rank() == Rank{1})
        y.resize(11);
      LoadedImage image(ringAllgather(3));
      Engine engine(endpoint);
      auto plan = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(),
                             {4, {bound(x), bound(y)}, {}});
      std::string why = plan ? "" : plan.message();
      if (plan) {
        (void)(*plan)->start();
        why = (*plan)->wait(kLong).ok() ? "finished" : (*plan)->status().message();
      }
      return contains(why, "buffer 1 has 44 bytes, it needs 48") ? "" : why;
    });
    EXPECT_EQ(ends, "") << setup.name;
  }
}

// Kills a rank in the middle of a loop. All others end soon, naming it, whether they
// talk to it or not; no process and no name is left.
void killOneOn(const Attach &attach, uint32_t numRanks, Rank victim, const RankBody &body) {
  std::set<std::string> namesBefore = sharedMemoryNames();
  LocalOptions options;
  options.numRanks = numRanks;
  options.attach = attach;
  options.timeout = std::chrono::minutes(2);
  Clock::time_point begin = Clock::now();
  auto outcomes = runLocalRanks(options, body);
  ASSERT_TRUE(outcomes.ok()) << outcomes.message();
  EXPECT_LT(Clock::now() - begin, std::chrono::minutes(1)); // no timeout ended it
  for (uint32_t r = 0; r < numRanks; ++r) {
    const RankOutcome &outcome = (*outcomes)[r];
    ASSERT_FALSE(outcome.status.ok()) << r;
    if (Rank{r} == victim) {
      EXPECT_EQ(outcome.signal, SIGKILL);
      EXPECT_TRUE(contains(outcome.status.message(), "was killed by signal 9"));
    } else {
      EXPECT_TRUE(
          contains(outcome.status.message(), "rank " + std::to_string(index(victim)) + " died"))
          << r << ": " << outcome.status.message();
    }
  }
  EXPECT_EQ(firstFailure(*outcomes).message(), (*outcomes)[index(victim)].status.message());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(sharedMemoryLeft(namesBefore), std::set<std::string>());
}

void killOne(uint32_t numRanks, Rank victim, const RankBody &body) {
  killOneOn({}, numRanks, victim, body);
  killOneOn(overLocalEndpoints({}), numRanks, victim, body);
}

RankBody loopAndDie(Rank victim, size_t n) {
  return [=](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    return Status::error(loopAllgather(endpoint, n, 1 << 30, [&](int run) {
      if (endpoint.rank() == victim && run == 50)
        raise(SIGKILL);
    }));
  };
}

TEST(KilledRank, allOthersNameIt) {
  killOne(4, Rank{2}, loopAndDie(Rank{2}, 5));
  killOne(9, Rank{0}, loopAndDie(Rank{0}, 5));
}

TEST(KilledRank, whileLargeMessagesAreUnderWay) {
  killOne(3, Rank{1}, loopAndDie(Rank{1}, 100000));
}

// Killed from outside at some moment, not at a convenient one.
TEST(KilledRank, atAnyMoment) {
  for (int delayMs : {1, 3, 7, 20, 41}) {
    killOne(3, Rank{1}, [=](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
      if (endpoint.rank() == Rank{1})
        std::thread([=] {
          std::this_thread::sleep_for(std::chrono::milliseconds(delayMs));
          raise(SIGKILL);
        }).detach();
      return Status::error(loopAllgather(endpoint, 2000, 1 << 30));
    });
  }
}

// The victim is written to, or writes.
TEST(KilledRank, whileSendersWrite) {
  constexpr size_t kElements = 500000;
  for (Rank victim : {Rank{0}, Rank{1}})
    for (int delayMs : {5, 23})
      killOne(3, victim, [=](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
        if (endpoint.rank() == victim)
          std::thread([=] {
            std::this_thread::sleep_for(std::chrono::milliseconds(delayMs));
            raise(SIGKILL);
          }).detach();
        auto nothing = [](int) {};
        return Status::error(loopAllgather(endpoint, kElements, 1 << 30, nothing, Mover::Writer));
      });
}

// Ranks 2 and 3 exchange with each other alone; rank 0 waits for rank 1, which dies.
TEST(KilledRank, ranksThatDoNotTalkToItLearnItToo) {
  killOne(4, Rank{1}, [](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    Builder b(4);
    BufferId x = b.buffer(BufferRole::InOut, 2);
    for (uint32_t r = 0; r < 4; ++r) {
      b.send(Rank{r}, Rank{r ^ 1}, {b.block(x, 0)});
      b.recv(Rank{r}, Rank{r ^ 1}, {b.block(x, 1)});
    }
    LoadedImage image(b.schedule);
    Engine engine(endpoint);
    Ints values(2);
    auto plan = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(),
                           {1, {bound(values)}, {}});
    if (!plan)
      return plan.status();
    for (int run = 0;; ++run) {
      if (endpoint.rank() == Rank{1} && run == 100)
        raise(SIGKILL);
      // Rank 3 is slow, so that rank 2 waits and looks around.
      if (endpoint.rank() == Rank{3})
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (Status s = (*plan)->start(); !s)
        return s;
      if (Status s = (*plan)->wait(kLong); !s)
        return s;
    }
  });
}

// Dies while the others are still opening the plan.
TEST(KilledRank, beforeThePlanIsOpen) {
  killOne(3, Rank{2}, [](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    if (endpoint.rank() == Rank{2})
      raise(SIGKILL);
    return Status::error(loopAllgather(endpoint, 1, 1));
  });
}

} // namespace
} // namespace colldsl::test

#include "runtime/job/LocalRanks.h"

#include "tests/transports/Harness.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T> Bytes bytesOf(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

TEST(LocalRanks, resultsComeBackByRank) {
  LocalOptions options;
  options.numRanks = 5;
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) -> Result<Bytes> {
    return bytesOf(index(endpoint.rank()) * 10 + endpoint.numRanks());
  });
  ASSERT_TRUE(outcomes.ok());
  for (uint32_t r = 0; r < 5; ++r) {
    EXPECT_TRUE((*outcomes)[r].status.ok());
    EXPECT_EQ((*outcomes)[r].bytes, bytesOf(r * 10 + 5));
  }
  EXPECT_TRUE(firstFailure(*outcomes).ok());
}

// More than a pipe holds, from all ranks at once.
TEST(LocalRanks, largeResults) {
  LocalOptions options;
  options.numRanks = 3;
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) -> Result<Bytes> {
    return Bytes(1 << 21, static_cast<std::byte>(index(endpoint.rank())));
  });
  ASSERT_TRUE(outcomes.ok());
  for (uint32_t r = 0; r < 3; ++r)
    EXPECT_EQ((*outcomes)[r].bytes, Bytes(1 << 21, static_cast<std::byte>(r)));
}

/// A rank that is stopped answers no other rank; the others' failure ends it.
TEST(LocalRanks, aStoppedRankIsNotWaitedForOnceOthersFailed) {
  LocalOptions options;
  options.numRanks = 3;
  options.grace = std::chrono::milliseconds(100);
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) -> Result<Bytes> {
    if (index(endpoint.rank()) == 1)
      raise(SIGSTOP);
    if (index(endpoint.rank()) == 2)
      return Status::error("no luck");
    return Bytes();
  });
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[1].status.message(), "rank 1 did not end in time");
  EXPECT_EQ((*outcomes)[2].status.message(), "no luck");
}

/// The grace begins with the failure, however long the ranks ran before.
TEST(LocalRanks, theOthersHaveTimeToNotice) {
  LocalOptions options;
  options.numRanks = 2;
  options.grace = std::chrono::seconds(2);
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) -> Result<Bytes> {
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    if (index(endpoint.rank()) == 1)
      return Status::error("no luck");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return Status::error("noticed");
  });
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status.message(), "noticed");
}

TEST(LocalRanks, errorsAndExitsAreDistinguished) {
  LocalOptions options;
  options.numRanks = 4;
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) -> Result<Bytes> {
    switch (index(endpoint.rank())) {
    case 1:
      return Status::error("no luck");
    case 2:
      _exit(7);
    case 3:
      raise(SIGTERM);
    }
    return Bytes();
  });
  ASSERT_TRUE(outcomes.ok());
  EXPECT_TRUE((*outcomes)[0].status.ok());
  EXPECT_EQ((*outcomes)[1].status.message(), "no luck");
  EXPECT_EQ((*outcomes)[2].status.message(), "rank 2 exited with 7");
  EXPECT_EQ((*outcomes)[3].signal, SIGTERM);
  EXPECT_EQ(firstFailure(*outcomes).message(), "rank 3 was killed by signal 15 (Terminated)");
}

TEST(LocalRanks, aRankThatTakesTooLongIsKilled) {
  LocalOptions options;
  options.numRanks = 2;
  options.timeout = std::chrono::milliseconds(100);
  auto begin = std::chrono::steady_clock::now();
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) -> Result<Bytes> {
    if (endpoint.rank() == Rank{1})
      std::this_thread::sleep_for(std::chrono::seconds(60));
    return Bytes();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  ASSERT_TRUE(outcomes.ok());
  EXPECT_TRUE((*outcomes)[0].status.ok());
  EXPECT_EQ((*outcomes)[1].status.message(), "rank 1 did not end in time");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(LocalRanks, bindingGoesRoundTheCores) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  auto cores = static_cast<uint32_t>(CPU_COUNT(&allowed));
  LocalOptions options;
  options.numRanks = cores + 1;
  options.bindToCores = true;
  auto outcomes = runLocalRanks(options, [](Endpoint &) -> Result<Bytes> {
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) != 1)
      return Status::error("not bound to one core");
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &mine))
        return bytesOf(core);
    return Status::error("bound to no core");
  });
  ASSERT_TRUE(outcomes.ok());
  ASSERT_TRUE(firstFailure(*outcomes).ok()) << firstFailure(*outcomes).message();
  EXPECT_EQ((*outcomes)[0].bytes, (*outcomes)[cores].bytes);
  if (cores > 1) {
    EXPECT_NE((*outcomes)[0].bytes, (*outcomes)[1].bytes);
  }
}

bool isRunning(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string pid, name, state;
  stat >> pid >> name >> state;
  return !state.empty() && state != "Z" && state != "X";
}

// A process in between starts the ranks and is killed.
TEST(LocalRanks, ranksDieWithTheirParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t parent = fork();
  if (parent == 0) {
    LocalOptions options;
    options.numRanks = 3;
    (void)runLocalRanks(options, [&](Endpoint &) -> Result<Bytes> {
      pid_t me = getpid();
      if (write(ends[1], &me, sizeof me) == sizeof me)
        std::this_thread::sleep_for(std::chrono::seconds(60));
      return Bytes();
    });
    _exit(0);
  }
  close(ends[1]);
  std::vector<pid_t> ranks(3);
  for (pid_t &rank : ranks)
    ASSERT_EQ(read(ends[0], &rank, sizeof rank), static_cast<ssize_t>(sizeof rank));
  close(ends[0]);
  for (pid_t rank : ranks)
    EXPECT_TRUE(isRunning(rank));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (pid_t rank : ranks) {
    while (isRunning(rank) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(isRunning(rank));
  }
}

TEST(LocalRanks, noWorldNoRanks) {
  LocalOptions options;
  options.numRanks = 0;
  EXPECT_FALSE(runLocalRanks(options, [](Endpoint &) -> Result<Bytes> { return Bytes(); }).ok());
  options.numRanks = 2;
  options.shm.arenaBytes = 1;
  auto outcomes = runLocalRanks(options, [](Endpoint &) -> Result<Bytes> { return Bytes(); });
  ASSERT_FALSE(outcomes.ok());
  EXPECT_EQ(outcomes.message(), "the size of an arena is a multiple of 4096");
}

} // namespace
} // namespace colldsl::test

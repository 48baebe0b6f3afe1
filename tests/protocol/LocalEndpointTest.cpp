// Plans over local endpoints: groups that share the worker of a process, and what is left of closed
// plans.
#include "protocol/local/CopyCosts.h"
#include "runtime/job/LocalRanks.h"
#include "tests/protocol/CountedYields.h"
#include "tests/transports/Harness.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using protocol::CopyCost;
using protocol::LocalEndpoint;
using protocol::LocalWorker;
using protocol::measureCopies;
using protocol::RankGroup;

// Threads that are ranks, with nothing but a worker.
std::string onWorkers(uint32_t numRanks, const protocol::LocalOptions &options,
                      const std::function<std::string(LocalWorker &)> &body) {
  auto world = shm::World::create(numRanks);
  for (uint32_t r = 0; r < numRanks; ++r)
    (*world)->control(Rank{r}).pid.store(getpid());
  return runThreads(numRanks, [&](Rank rank) {
    LocalWorker worker(**world, rank, options);
    return body(worker);
  });
}

std::vector<EdgeSpec> edgeTo(Rank peer, uint32_t messages) {
  std::vector<MessageId> ids;
  for (uint32_t m = 0; m < messages; ++m)
    ids.push_back(MessageId{m});
  return {{peer, ids}};
}

struct Word {
  uint64_t value;
  iovec piece{&value, sizeof value};
  Payload payload{&piece, 1, false, false, sizeof value};
};

// A number there and a number back.
std::string exchange(Channels &channels, uint64_t mine, uint64_t theirs) {
  Word out{mine}, in{0};
  channels.start();
  size_t pending = channels.recv({0, 0}, OpId{0}, in.payload) == Posted::Pending;
  pending += channels.send({0, 0}, OpId{1}, out.payload) == Posted::Pending;
  std::vector<Completion> done;
  if (!pollUntil(channels, done, [&] { return done.size() == pending; }))
    return channels.failed() ? channels.fault().reason : "nothing came";
  return in.value == theirs ? "" : "got " + std::to_string(in.value);
}

RankGroup groupOf(uint32_t context, std::vector<uint32_t> ranks, Rank self) {
  RankGroup group{context, {}, kNoRank};
  for (uint32_t r : ranks) {
    if (Rank{r} == self)
      group.self = Rank{static_cast<uint32_t>(group.ranks.size())};
    group.ranks.push_back(Rank{r});
  }
  return group;
}

std::string faultOf(const std::vector<CopyCost> &costs) {
  if (costs.empty())
    return "not measured";
  uint64_t bytes = 0;
  for (const CopyCost &cost : costs) {
    if (cost.bytes <= bytes)
      return "not by size";
    bytes = cost.bytes;
    for (auto of : {cost.rewritten, cost.unchanged})
      if (of.singleCopyNs <= 0 || of.twoCopiesNs <= 0)
        return "took no time";
  }
  return "";
}

TEST(CopyCosts, TwoRanksMeasureThem) {
  EXPECT_EQ(onWorkers(2, {},
                      [](LocalWorker &worker) -> std::string {
                        const protocol::LocalOptions before = worker.options();
                        protocol::CopyCosts costs =
                            measureCopies(worker, Rank{1 - index(worker.rank())});
                        const protocol::LocalOptions &after = worker.options();
                        if (after.singleCopyMinBytes != before.singleCopyMinBytes ||
                            after.rendezvousThresholdBytes != before.rendezvousThresholdBytes)
                          return "not put back";
                        std::string wrong = faultOf(costs.exchanged);
                        if (wrong.empty())
                          wrong = faultOf(costs.oneWay);
                        bool isLonger = costs.oneWay.empty() ||
                                        costs.oneWay.back().bytes > before.fifo.longestEagerBytes();
                        return !wrong.empty() ? wrong : isLonger ? "longer than eager ones" : "";
                      }),
            "");
}

/// What all ranks of a world have come to.
struct Chosen {
  uint64_t singleCopyFrom = 0, bufferedSendBytes = 0;
};
Chosen chosenBy(uint32_t numRanks, uint64_t given, bool measures,
                std::optional<shm::CopySizes> known = {}) {
  LocalOptions options;
  options.numRanks = numRanks;
  options.shm.singleCopyMinBytes = given;
  options.shm.measuresCopies = measures;
  options.shm.copySizes = known;
  auto outcomes = runLocalRanks(options, [](Endpoint &endpoint) {
    Rank next{(index(endpoint.rank()) + 1) % endpoint.numRanks()};
    Chosen chosen{endpoint.transferCaps(next).readerFrom, endpoint.caps().bufferedSendBytes};
    std::vector<std::byte> bytes(sizeof chosen);
    std::memcpy(bytes.data(), &chosen, sizeof chosen);
    return Result<std::vector<std::byte>>(std::move(bytes));
  });
  Chosen chosen;
  if (!outcomes.ok() || !firstFailure(*outcomes).ok()) {
    ADD_FAILURE();
    return chosen;
  }
  std::memcpy(&chosen, (*outcomes)[0].bytes.data(), sizeof chosen);
  for (const auto &outcome : *outcomes)
    EXPECT_EQ(outcome.bytes, (*outcomes)[0].bytes);
  return chosen;
}

constexpr uint64_t kGiven = 12345; // no size that is measured

TEST(CopyCosts, WhatIsGivenHoldsForEagerMessagesToo) {
  Chosen chosen = chosenBy(2, kGiven, false);
  EXPECT_EQ(chosen.singleCopyFrom, kGiven);
  EXPECT_EQ(chosen.bufferedSendBytes, kGiven - 1);
}

TEST(CopyCosts, RanksWithCoresOfTheirOwnMeasureForAll) {
  if (shm::isOversubscribed(2))
    GTEST_SKIP() << "this machine has one core";
  Chosen chosen = chosenBy(2, kGiven, true);
  EXPECT_NE(chosen.singleCopyFrom, kGiven);
  EXPECT_NE(chosen.bufferedSendBytes, kGiven - 1);
}

TEST(CopyCosts, RanksUseWhatEarlierJobsMeasured) {
  if (shm::isOversubscribed(2))
    GTEST_SKIP() << "this machine has one core";
  Chosen chosen = chosenBy(2, kGiven, true, shm::CopySizes{54321, 4321});
  EXPECT_EQ(chosen.singleCopyFrom, 54321u);
  EXPECT_EQ(chosen.bufferedSendBytes, 4321u);
}

// Threads that run only on idle cores stand for other work: they are ready to run, and take no core
// from the ranks.
TEST(CopyCosts, RanksBesideOtherWorkKeepNoSizes) {
  if (shm::isOversubscribed(2))
    GTEST_SKIP() << "this machine has one core";
  std::string cache = ::testing::TempDir() + "colldsl-no-sizes-" + std::to_string(getpid());
  std::filesystem::create_directory(cache);
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  std::atomic<bool> isOver = false;
  std::vector<std::thread> others;
  for (uint32_t i = 0; i <= shm::numCores(); ++i)
    others.emplace_back([&isOver] {
      sched_param idle = {};
      sched_setscheduler(0, SCHED_IDLE, &idle);
      while (!isOver)
        ;
    });
  std::vector<uint64_t> chosen;
  for (int job = 0; job < 10; ++job)
    chosen.push_back(chosenBy(2, kGiven, true).singleCopyFrom);
  isOver = true;
  for (std::thread &other : others)
    other.join();
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(chosen, std::vector<uint64_t>(10, 32 << 10));
  EXPECT_TRUE(std::filesystem::is_empty(cache));
  std::filesystem::remove_all(cache);
}

TEST(CopyCosts, RanksThatShareCoresMeasureNothing) {
  Chosen chosen = chosenBy(shm::numCores() + 1, kGiven, true);
  EXPECT_EQ(chosen.singleCopyFrom, shm::kSingleCopyOnSharedCores);
  EXPECT_EQ(chosen.bufferedSendBytes, protocol::LocalOptions().fifo.longestEagerBytes());
}

// Rank 0 and rank 2 in both orders, at the same time, with plans of the same number.
TEST(LocalEndpoint, groupsShareAWorker) {
  EXPECT_EQ(onWorkers(3, {},
                      [](LocalWorker &worker) -> std::string {
                        if (worker.rank() == Rank{1})
                          return "";
                        LocalEndpoint up(worker, groupOf(1, {0, 2}, worker.rank()), nullptr);
                        LocalEndpoint down(worker, groupOf(2, {2, 0}, worker.rank()), nullptr);
                        if (up.rank() == down.rank())
                          return "wrong rank";
                        Rank above{1 - index(up.rank())}, below{1 - index(down.rank())};
                        auto a = up.open({edgeTo(above, 1), edgeTo(above, 1), {}, {}});
                        auto b = down.open({edgeTo(below, 1), edgeTo(below, 1), {}, {}});
                        for (uint64_t run = 0; run < 50; ++run) {
                          uint64_t me = index(up.rank());
                          if (auto s = exchange(**a, run * 10 + me, run * 10 + 1 - me); !s.empty())
                            return s;
                          if (auto s = exchange(**b, run * 10 + 5 + me, run * 10 + 6 - me);
                              !s.empty())
                            return s;
                        }
                        return "";
                      }),
            "");
}

// Ranks 1 and 2 of four are the group; a fault names a rank by its place there.
TEST(LocalEndpoint, failuresNameRanksOfTheGroup) {
  std::atomic<bool> isExchanged{false}; // by rank 2, whose death would fail its exchange
  EXPECT_EQ(onWorkers(4, {},
                      [&](LocalWorker &worker) -> std::string {
                        if (worker.rank() == Rank{0} || worker.rank() == Rank{3})
                          return "";
                        LocalEndpoint pair(worker, groupOf(7, {1, 2}, worker.rank()), nullptr);
                        Rank peer{1 - index(pair.rank())};
                        auto aborted = pair.open({edgeTo(peer, 1), edgeTo(peer, 1), {}, {}});
                        auto deadly = pair.open({edgeTo(peer, 1), edgeTo(peer, 1), {}, {}});
                        if (pair.rank() == Rank{1})
                          (*aborted)->abort({Rank{1}, kNoOp, "enough"});
                        auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                        while ((*aborted)->check() && std::chrono::steady_clock::now() < deadline)
                          (*aborted)->poll();
                        if ((*aborted)->fault().reason != "enough" ||
                            (*aborted)->fault().peer != Rank{1})
                          return "'" + (*aborted)->fault().reason + "'";
                        worker.world().reportDeath(Rank{3}); // outside the group
                        if (!(*deadly)->check())
                          return "failed of a stranger: " + (*deadly)->fault().reason;
                        if (auto s = exchange(**deadly, 1, 1); !s.empty())
                          return s;
                        if (pair.rank() == Rank{1})
                          isExchanged = true;
                        if (pair.rank() == Rank{0}) {
                          while (!isExchanged && std::chrono::steady_clock::now() < deadline)
                            std::this_thread::yield();
                          worker.world().reportDeath(Rank{2});
                          return (*deadly)->check() || (*deadly)->fault().reason != "rank 1 died" ||
                                         (*deadly)->fault().peer != Rank{1}
                                     ? "'" + (*deadly)->fault().reason + "'"
                                     : "";
                        }
                        return "";
                      }),
            "");
}

/// A group of two whose runs are numbered.
struct Numbered {
  uint32_t run = 0;
  LocalEndpoint endpoint;
  Rank peer;

  explicit Numbered(LocalWorker &worker)
      : endpoint(worker, {5, {Rank{0}, Rank{1}}, worker.rank(), {9, &run}}, nullptr),
        peer{1 - index(endpoint.rank())} {}

  std::unique_ptr<Channels> open() {
    return endpoint.open({edgeTo(peer, 1), edgeTo(peer, 1), {}, {}}).take();
  }
};

// Rank 1 refuses thousands of runs before rank 0 comes to the first. Rank 0 learns of each, with
// the reason where it is not long ago; the next run of both succeeds.
TEST(LocalEndpoint, aRankThatIsBehindLearnsOfEachFailedRun) {
  constexpr uint32_t kRuns = 5000;
  std::atomic<bool> isTold = false;
  EXPECT_EQ(
      onWorkers(2, {},
                [&](LocalWorker &worker) -> std::string {
                  Numbered pair(worker);
                  for (pair.run = 1; pair.run <= kRuns; ++pair.run) {
                    if (pair.endpoint.rank() == Rank{1}) {
                      pair.endpoint.refuse(std::to_string(pair.run));
                      continue;
                    }
                    while (!isTold)
                      std::this_thread::yield();
                    Word in{0};
                    auto channels = pair.open();
                    channels->start();
                    (void)channels->recv({0, 0}, OpId{0}, in.payload);
                    channels->poll(); // it need not be asked again and again
                    if (!channels->failed())
                      return "run " + std::to_string(pair.run) + " waits";
                    bool isLongAgo = pair.run + kRunPlaces <= kRuns;
                    if (!isLongAgo &&
                        channels->fault().reason != "rank 1: " + std::to_string(pair.run))
                      return "run " + std::to_string(pair.run) + ": " + channels->fault().reason;
                  }
                  isTold = true;
                  return exchange(*pair.open(), index(pair.endpoint.rank()), index(pair.peer));
                }),
      "");
}

// A send is eager, and over at once, or waits for a receiver that copies the message once.
TEST(LocalEndpoint, RanksThatExchangeCopyOnce) {
  struct Case {
    uint64_t bytes;
    bool isAnswered, combines, waits;
  };
  for (Case c : {Case{24 << 10, true, false, true},
                 {24 << 10, true, true, false},
                 {24 << 10, false, false, false},
                 {8 << 10, true, false, false}}) {
    std::atomic<bool> isSent = false;
    auto body = [&](LocalWorker &worker) -> std::string {
      LocalEndpoint both(worker, groupOf(1, {0, 1}, worker.rank()), nullptr);
      Rank peer{1 - index(both.rank())};
      bool isFirst = both.rank() == Rank{0};
      std::vector<EdgeSpec> edge = edgeTo(peer, 1), none;
      auto channels = both.open({isFirst || c.isAnswered ? edge : none,
                                 !isFirst || c.isAnswered ? edge : none,
                                 {},
                                 {}})
                          .take();
      if (!channels->prepare({.maxBytes = c.bytes, .combines = c.combines}))
        return "not prepared";
      std::vector<char> bytes(c.bytes, static_cast<char>(1 + index(both.rank())));
      iovec piece{bytes.data(), bytes.size()};
      Payload payload{&piece, 1, false, false, bytes.size()};
      std::vector<Completion> done;
      channels->start();
      if (isFirst) {
        bool waits = channels->send({0, 0}, OpId{0}, payload) == Posted::Pending;
        isSent = true;
        if (waits != c.waits)
          return waits ? "waits" : "does not wait";
        return !waits || pollUntil(*channels, done, [&] { return !done.empty(); }) ? "" : "stays";
      }
      while (!isSent)
        std::this_thread::yield();
      bool isHere = channels->recv({0, 0}, OpId{0}, payload) == Posted::Done ||
                    pollUntil(*channels, done, [&] { return !done.empty(); });
      return isHere && std::count(bytes.begin(), bytes.end(), 1) == std::ssize(bytes) ? "" : "lost";
    };
    EXPECT_EQ(onWorkers(2, {}, body), "")
        << c.bytes << " bytes" << (c.isAnswered ? ", answered" : "")
        << (c.combines ? ", combined" : "");
  }
}

// Rank 0 sends as fast as it can and rank 1 takes one run in a hundred polls: what waits at
// rank 1 has a bound, so rank 0 has to wait.
TEST(LocalEndpoint, aSenderThatIsAheadIsHeldBack) {
  constexpr uint32_t kStreams = 3000;
  protocol::LocalOptions options;
  options.unexpectedBytes = 4096;
  EXPECT_EQ(onWorkers(2, options,
                      [](LocalWorker &worker) -> std::string {
                        LocalEndpoint both(worker, groupOf(1, {0, 1}, worker.rank()), nullptr);
                        bool sends = both.rank() == Rank{0};
                        std::vector<EdgeSpec> edge = edgeTo(Rank{sends ? 1u : 0u}, kStreams + 1);
                        std::vector<EdgeSpec> none;
                        auto opened = both.open({sends ? edge : none, sends ? none : edge, {}, {}});
                        Channels &channels = **opened;
                        channels.start();
                        std::vector<Word> words(kStreams);
                        size_t pending = 0;
                        std::vector<Completion> done;
                        auto post = [&](uint32_t m) {
                          Word &word = words[m];
                          word.piece.iov_base = &word.value;
                          word.payload.pieces = &word.piece;
                          word.value = sends ? m : 0;
                          Posted posted = sends ? channels.send({0, m}, OpId{m}, word.payload)
                                                : channels.recv({0, m}, OpId{m}, word.payload);
                          pending += posted == Posted::Pending;
                        };
                        for (uint32_t m = 0; m < kStreams && sends; ++m) {
                          post(m);
                          auto now = channels.poll();
                          done.insert(done.end(), now.begin(), now.end());
                        }
                        if (sends && done.size() + 1000 > pending)
                          return std::to_string(pending - done.size()) + " sends wait";
                        for (uint32_t m = kStreams; m-- > 0 && !sends;) {
                          for (int i = 0; m == kStreams - 1 && i < 100; ++i) {
                            channels.poll();
                            std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          }
                          post(m);
                        }
                        if (!pollUntil(channels, done, [&] { return done.size() == pending; }))
                          return "not finished";
                        for (uint32_t m = 0; m < kStreams; ++m)
                          if (words[m].value != m)
                            return "wrong word " + std::to_string(m);
                        return "";
                      }),
            "");
}

// Messages of plans that the receiver refused, or closed, are not kept: else its unexpected queue
// would soon be full for good, and every message would begin with a request to send.
TEST(LocalEndpoint, messagesOfClosedPlansAreDiscarded) {
  protocol::LocalOptions options;
  options.unexpectedBytes = 2048;
  EXPECT_EQ(onWorkers(2, options,
                      [](LocalWorker &worker) -> std::string {
                        LocalEndpoint both(worker, groupOf(1, {0, 1}, worker.rank()), nullptr);
                        bool sends = both.rank() == Rank{0};
                        Rank peer{sends ? 1u : 0u};
                        auto talk = both.open({edgeTo(peer, 1), edgeTo(peer, 1), {}, {}});
                        for (uint64_t i = 0; i < 100; ++i) {
                          if (!sends && i % 2 == 0) {
                            both.refuse("no");
                          } else if (auto plan =
                                         both.open({edgeTo(peer, 1), edgeTo(peer, 1), {}, {}});
                                     sends && plan) {
                            Word word{i};
                            (*plan)->start();
                            if ((*plan)->send({0, 0}, OpId{0}, word.payload) != Posted::Done)
                              return "plan " + std::to_string(i) + " sends a request first";
                          }
                          if (auto s = exchange(**talk, i, i); !s.empty())
                            return s;
                        }
                        return "";
                      }),
            "");
}

/// A message of 16 KiB, more than goes eagerly to a receiver that is in time.
struct Long {
  std::vector<std::byte> bytes = std::vector<std::byte>(16 << 10);
  iovec piece{bytes.data(), bytes.size()};
  protocol::CompletionCounter counter;
  protocol::Request message;
  explicit Long(uint32_t run) {
    message.tag = {7, 1, run, 0};
    message.payload = {&piece, 1, false, false, bytes.size()};
    message.counter = &counter;
  }
};

// A FIFO tells 65,535 long messages apart. Cancelled ones give their rendezvous ids back once their
// receiver has answered.
// A network whose events end no sleep has a wait of 0.
TEST(LocalWorker, aRankThatCannotSleepYieldsItsCore) {
  for (bool sleepsOnFiles : {false, true}) {
    protocol::LocalOptions options;
    options.sleepsOnFiles = sleepsOnFiles;
    EXPECT_EQ(onWorkers(1, options,
                        [](LocalWorker &worker) {
                          uint32_t before = numYields;
                          worker.sleep(worker.armSleep(), {-1, 0ns});
                          EXPECT_EQ(numYields - before, 1u);
                          worker.sleep(worker.armSleep(), {-1, 1us});
                          EXPECT_EQ(numYields - before, 1u) << "it sleeps";
                          return std::string();
                        }),
              "");
  }
}

TEST(LocalWorker, cancelledMessagesGiveTheirIdsBack) {
  EXPECT_EQ(onWorkers(2, {},
                      [](LocalWorker &worker) -> std::string {
                        constexpr uint32_t kMany = 70000, kAtOnce = 100;
                        bool sends = worker.rank() == Rank{0};
                        std::vector<std::byte> bytes(40 << 10); // always by a request to send
                        iovec piece{bytes.data(), bytes.size()};
                        protocol::CompletionCounter counter;
                        auto post = [&](protocol::Request &message, uint32_t run, uint32_t number) {
                          message.tag = {1, 1, run, number};
                          message.payload = {&piece, 1, false, false, piece.iov_len};
                          message.counter = &counter;
                          if (sends)
                            worker.sendsTo(Rank{1})->send(message);
                          else
                            worker.receivesFrom(Rank{0}).recv(message);
                        };
                        worker.discard(tagOf(streamId(1, 1), 1));
                        for (uint32_t round = 0; round < kMany / kAtOnce; ++round) {
                          for (uint32_t i = 0; i < kAtOnce && sends; ++i) {
                            protocol::Request unwanted;
                            post(unwanted, 1, i);
                            worker.cancel(counter);
                            counter = {};
                          }
                          protocol::Request wanted;
                          post(wanted, 2, round);
                          if (Status s = worker.wait(counter); !s)
                            return s.message();
                        }
                        return "";
                      }),
            "");
}

// Rank 1 posts each receive either before the message is sent or after it; rank 0 learns of that
// and sends eagerly to a late receiver, unless the message can be moved by a single copy.
TEST(LocalWorker, aLateReceiverGetsNoRequestsToSend) {
  constexpr uint32_t kRuns = 40;
  std::atomic<uint32_t> sent{0}, received{0}, wanted{0};
  auto isOnTime = [](uint32_t run) { return run >= kRuns / 2; };
  auto until = [](LocalWorker &worker, auto done) {
    while (!done())
      worker.progress();
  };
  protocol::LocalOptions twoCopies;
  twoCopies.rendezvousThresholdBytes = 8 << 10;
  twoCopies.singleCopyMinBytes = 1 << 20;
  EXPECT_EQ(
      onWorkers(2, twoCopies,
                [&](LocalWorker &worker) -> std::string {
                  bool atOnce[kRuns] = {};
                  for (uint32_t run = 0; run < kRuns; ++run) {
                    Long it(run);
                    if (worker.rank() == Rank{0}) {
                      until(worker, [&] { return !isOnTime(run) || wanted > run; });
                      worker.sendsTo(Rank{1})->send(it.message);
                      atOnce[run] = it.counter.outstanding == 0;
                      sent = run + 1;
                      until(worker, [&] { return it.counter.outstanding == 0 && received > run; });
                      continue;
                    }
                    until(worker, [&] { return isOnTime(run) || sent > run; });
                    worker.progress();
                    worker.receivesFrom(Rank{0}).recv(it.message);
                    wanted = run + 1;
                    until(worker, [&] { return it.counter.outstanding == 0; });
                    received = run + 1;
                  }
                  if (worker.rank() != Rank{0})
                    return "";
                  if (atOnce[0] || !atOnce[kRuns / 2 - 1])
                    return "a late receiver got requests to the end, or not even at first";
                  return atOnce[kRuns - 1] ? "a receiver that is in time again gets no request"
                                           : "";
                }),
      "");
}

} // namespace
} // namespace colldsl::test

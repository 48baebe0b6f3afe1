// Messages to ranks of other nodes, without anything that they are for. Rank 0 sends, rank 1
// receives.
#include "mpi/Job.h"
#include "mpi/remote/RemoteRanks.h"
#include "protocol/remote/RemoteEndpoint.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace colldsl::mpi::test {
namespace {

using protocol::CompletionCounter;

constexpr Rank kThere{1}, kHere{0};
constexpr uint32_t kContext = 1, kStream = RemoteRanks::kPlansOf | 2;
constexpr uint32_t kMessageBytes = 4;
constexpr uint32_t kMaxAhead = (1 << 20) / (kMessageBytes + network::kUnitsPerMessage);

enum class Way : uint8_t { Ofi, Verbs, Datagram, Mpi }; // networks as NetworkKind

std::unique_ptr<RemoteRanks> reach(Way way) {
  auto runs = Job::current()->worker().progressTable();
  if (way == Way::Mpi)
    return RemoteRanks::overMpi(MPI_COMM_WORLD, runs);
  Network network{static_cast<NetworkKind>(way), "", false};
  auto ranks = RemoteRanks::overNetwork(MPI_COMM_WORLD, network, WakeupPreference::Polling, runs);
  return ranks ? ranks.take() : nullptr;
}

class RemoteOf : public ::testing::TestWithParam<Way> {
protected:
  RemoteOf() : ranks(reach(GetParam())), worker(ranks->worker()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT_TRUE(worker.connect(kThere) && worker.connect(kHere));
  }

  // However its messages ended, nothing is left of them.
  void TearDown() override {
    if (ranks->status() && !keepsSomething) {
      meet();
      auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      pollUntil([&] { return worker.numOpen() == 0 || std::chrono::steady_clock::now() > until; });
      EXPECT_EQ(worker.numOpen(), 0u);
      meet();
    }
    ranks->leave();
  }

  bool sends() const { return rank == 0; }

  /// What one end gives or wants; a run of its own.
  struct End {
    std::vector<uint8_t> bytes;
    std::vector<iovec> pieces;
    network::RegisteredMemory memory;
    protocol::Request message;

    End(uint64_t size, uint32_t count, uint32_t run, CompletionCounter &counter)
        : bytes(size, 0xee) {
      for (uint32_t i = 0; i < count; ++i) {
        uint64_t begin = size * i / count;
        pieces.push_back({bytes.data() + begin, size * (i + 1) / count - begin});
      }
      std::reverse(pieces.begin(), pieces.end());
      message.tag = {kContext, kStream, run, 0};
      message.payload = Payload{pieces.data(), count, true, false, size};
      message.payload.registered = &memory;
      message.counter = &counter;
    }
    End(const End &) = delete;
    /// The bytes in the order in which they travel.
    std::vector<uint8_t> packed() const {
      std::vector<uint8_t> all;
      for (const iovec &piece : pieces) {
        auto *begin = static_cast<const uint8_t *>(piece.iov_base);
        all.insert(all.end(), begin, begin + piece.iov_len);
      }
      return all;
    }
    void fill(uint8_t first) {
      for (const iovec &piece : pieces)
        for (size_t i = 0; i < piece.iov_len; ++i)
          static_cast<uint8_t *>(piece.iov_base)[i] = first++;
    }
  };

  void post(End &end) { sends() ? send(kThere, end) : recv(kHere, end); }
  void send(Rank peer, End &end) { worker.sendsTo(peer)->send(end.message); }
  void recv(Rank peer, End &end) { worker.receivesFrom(peer).recv(end.message); }

  /// As a plan does whose run failed.
  void cancel(const End &end) {
    worker.cancel(counter);
    worker.discard(end.message.tag);
    counter = {};
  }

  template <typename Done> void pollUntil(Done done) {
    while (ranks->status() && !done())
      ranks->progress();
    EXPECT_TRUE(ranks->status()) << ranks->status().message();
  }
  void finish() {
    pollUntil([&] { return counter.outstanding == 0; });
  }
  /// All ranks are here; messages move meanwhile.
  void meet() {
    MPI_Request all;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    int isDone = 0;
    pollUntil([&] {
      MPI_Test(&all, &isDone, MPI_STATUS_IGNORE);
      return isDone;
    });
  }

  int rank = 0;
  std::unique_ptr<RemoteRanks> ranks;
  protocol::RemoteWorker &worker;
  CompletionCounter counter;
  bool keepsSomething = false; ///< of what is over, until it is much
};

TEST_P(RemoteOf, anyLengthInAnyPieces) {
  uint32_t number = 0;
  for (uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{worker.options().longestEagerBytes},
                        uint64_t{worker.options().longestEagerBytes} + 1, uint64_t{100000}})
    for (uint32_t pieces : {1u, 3u, 200u}) {
      End end(size, sends() ? pieces : 7, ++number, counter);
      if (sends())
        end.fill(static_cast<uint8_t>(number));
      post(end);
      finish();
      End wanted(size, 1, 0, counter);
      wanted.fill(static_cast<uint8_t>(number));
      EXPECT_EQ(end.packed(), wanted.packed()) << size << " in " << pieces;
      EXPECT_EQ(end.message.transferred, size);
    }
}

// Nothing stands in the way of what is wanted first.
TEST_P(RemoteOf, whateverTheOrder) {
  std::deque<End> ends;
  for (uint32_t m = 0; m < 50; ++m)
    ends.emplace_back(m % 2 ? 10 : 20000, 2, m, counter).fill(sends() ? uint8_t(m) : 0);
  for (uint32_t m = 0; m < 50; ++m)
    post(ends[sends() ? m : 49 - m]);
  finish();
  for (uint32_t m = 0; m < 50; ++m)
    EXPECT_EQ(ends[m].packed().front(), m);
}

TEST_P(RemoteOf, aSenderThatIsAheadIsHeldBack) {
  constexpr uint32_t kMany = kMaxAhead + 2000;
  std::deque<End> ends;
  for (uint32_t m = 0; m < kMany; ++m)
    ends.emplace_back(kMessageBytes, 1, m, counter).fill(sends() ? uint8_t(m) : 0);
  if (sends()) {
    for (End &end : ends)
      post(end);
    meet();
    EXPECT_GE(counter.outstanding, kMany - kMaxAhead);
  } else {
    meet();
    for (End &end : ends)
      post(end);
  }
  finish();
  for (uint32_t m = 0; m < kMany; ++m)
    ASSERT_EQ(ends[m].packed().front(), uint8_t(m));
  meet();
  // Messages that were taken count no more.
  End last(4, 1, kMany, counter);
  if (!sends())
    meet();
  post(last);
  if (sends()) {
    finish();
    meet();
  }
  finish();
}

TEST_P(RemoteOf, lengthsThatDifferAreTheReceiversToTell) {
  uint32_t number = 0;
  for (uint64_t size : {uint64_t{8}, uint64_t{100000}}) {
    End end(sends() ? size : size - 1, 1, ++number, counter);
    post(end);
    finish();
    EXPECT_EQ(counter.mismatched, sends() ? nullptr : &end.message);
    EXPECT_EQ(end.message.transferred, size);
    counter.mismatched = nullptr;
  }
}

// After an early RTR for another length, too.
TEST_P(RemoteOf, lengthsThatDifferFromAnEarlyReceiver) {
  keepsSomething = true; // an early RTR that came too late stays until its run is over
  uint32_t number = 0;
  for (uint64_t size : {uint64_t{8}, uint64_t{50000}, uint64_t{200000}}) {
    End end(sends() ? size : 100000, 1, ++number, counter);
    if (sends())
      meet();
    post(end);
    if (!sends())
      meet();
    finish();
    EXPECT_EQ(counter.mismatched, sends() ? nullptr : &end.message);
    EXPECT_EQ(end.message.transferred, size);
    counter.mismatched = nullptr;
    if (!sends()) {
      EXPECT_EQ(end.bytes, std::vector<uint8_t>(100000, 0xee));
    }
    End next(100000, 1, ++number, counter);
    post(next);
    finish();
  }
}

// A receiver that posts first sends an RTR, where the network moves memory: the sender then has
// nothing to wait for.
TEST_P(RemoteOf, anEarlyRtrTakesThePlaceOfARequest) {
  constexpr auto kShort = std::chrono::milliseconds(300), kLong = std::chrono::milliseconds(30000);
  bool hasEarlyRtr = GetParam() != Way::Mpi && worker.transport().capabilities().hasRma;
  End there(8, 1, 1, counter), back(8, 1, 2, counter), end(64 << 10, 1, 3, counter);
  post(there); // connected
  finish();
  if (sends()) {
    recv(kThere, back); // behind the RTR
    finish();
    end.fill(1);
    post(end);
  } else {
    post(end);
    send(kHere, back);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!sends()) {
    auto until = std::chrono::steady_clock::now() + (hasEarlyRtr ? kLong : kShort);
    while (counter.outstanding != 0 && std::chrono::steady_clock::now() < until)
      ranks->progress();
    EXPECT_EQ(counter.outstanding == 0, hasEarlyRtr);
  }
  MPI_Barrier(MPI_COMM_WORLD); // in which the sender does nothing else
  finish();
}

// Before the message is here, and when the bytes are asked for already.
TEST_P(RemoteOf, memoryOfCancelledMessagesIsLeftAlone) {
  uint32_t number = 0;
  for (bool isAsked : {false, true})
    for (uint64_t size : {uint64_t{8}, uint64_t{100000}}) {
      End end(size, 1, ++number, counter);
      if (sends()) {
        end.fill(1);
        if (!isAsked)
          meet();
        post(end);
        if (isAsked)
          meet();
        finish();
      } else {
        post(end);
        if (!isAsked)
          cancel(end);
        meet();
        if (isAsked)
          cancel(end);
      }
      meet();
      if (!sends() && !isAsked) {
        EXPECT_EQ(end.bytes, std::vector<uint8_t>(size, 0xee));
      }
      End next(8, 1, ++number, counter);
      post(next);
      finish();
    }
}

// The sender has given it up when its bytes are asked for. Then the receiver gives it up, too.
TEST_P(RemoteOf, bytesOfCancelledMessagesAreNotAwaited) {
  End end(100000, 1, 50, counter), next(8, 1, 51, counter);
  post(end);
  if (sends()) {
    cancel(end);
    meet();
  } else {
    meet();
    auto begin = std::chrono::steady_clock::now();
    cancel(end);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  }
  post(next);
  finish();
  meet();
}

// The sender has an early RTR, and computes for longer than `linger`, which is short here. What it
// writes then it writes to memory that is still the receive's.
TEST_P(RemoteOf, earlyRtrsAreCancelledBeforeMemoryIsUsedAgain) {
  constexpr auto kLinger = std::chrono::milliseconds(250);
  const_cast<network::Options &>(worker.options()).linger = kLinger;
  End end(100000, 1, 60, counter), next(8, 1, 61, counter);
  if (sends()) {
    meet();
    std::this_thread::sleep_for(2 * kLinger);
    end.fill(1);
    post(end);
    finish();
  } else {
    post(end);
    meet();
    cancel(end);
    std::fill(end.bytes.begin(), end.bytes.end(), 0xdd);
  }
  meet();
  if (!sends()) {
    EXPECT_EQ(end.bytes, std::vector<uint8_t>(end.bytes.size(), 0xdd));
  }
  post(next);
  finish();
}

// Of receives whose messages never come.
TEST_P(RemoteOf, nothingIsKeptOfCancelledReceives) {
  constexpr uint32_t kRuns = 5000;
  protocol::RunProgress progress(Job::current()->worker().progressTable(),
                                 {kContext, kStream, 0, 0});
  for (uint32_t run = 0; run < kRuns && !sends(); ++run) {
    End end(8, 1, run, counter);
    progress.begin(run);
    post(end);
    cancel(end);
    progress.end(run);
    ASSERT_EQ(worker.numOpen(), 0u);
  }
  meet();
}

// Rank 1 has no bytes for it, and is over with the run; rank 0 fails before it asks how far rank 1
// is.
TEST_P(RemoteOf, requestsOfRunsThatFailedAreRefused) {
  End end(100000, 1, 70, counter);
  protocol::RunProgress progress(Job::current()->worker().progressTable(), end.message.tag);
  if (!sends())
    progress.whole(end.message.tag.run);
  meet();
  if (sends()) {
    post(end);
    cancel(end);
    worker.report(end.message.tag, {Rank{0}, kNoOp, "out of luck"}, std::array{kThere});
  }
  meet();
}

TEST_P(RemoteOf, failuresAreReportedOncePerRun) {
  Tag run{kContext, kStream, 3, 0}, other{kContext, kStream + 1, 3, 0};
  if (sends())
    worker.report(run, {kHere, kNoOp, "out of luck"}, std::array{kThere});
  else
    pollUntil([&] { return worker.findFailure(run).has_value(); });
  if (!sends()) {
    EXPECT_EQ(worker.findFailure(run)->reason, "out of luck");
    EXPECT_EQ(worker.findFailure(run)->peer, kHere);
  }
  EXPECT_FALSE(worker.findFailure(other).has_value());
}

// A rank may be as many runs behind as windows have room for.
TEST_P(RemoteOf, failuresAreKeptAsLongAsARankMayBeBehind) {
  constexpr uint32_t kLast = kMaxAhead;
  if (sends())
    for (uint32_t run = 0; run <= kLast; ++run)
      worker.report({kContext, kStream, run, 0}, {kHere, kNoOp, "out of luck"}, std::array{kThere});
  else
    pollUntil([&] { return worker.findFailure({kContext, kStream, kLast, 0}).has_value(); });
  EXPECT_TRUE(worker.findFailure({kContext, kStream, 0, 0}).has_value());
  meet();
}

// Over the MPI a frame needs a call of this rank to be complete.
TEST_P(RemoteOf, aSendIsCompletedOnceItsFramesAreGone) {
  End end(8, 1, 90, counter);
  post(end);
  if (sends() && GetParam() == Way::Mpi) {
    EXPECT_EQ(counter.outstanding, 1u);
  }
  finish();
}

// Two streams number their runs alike.
TEST_P(RemoteOf, aDiscardedRunIsThatOfOneStream) {
  End end(8, 1, 5, counter);
  if (sends()) {
    end.fill(1);
    post(end);
    meet();
  } else {
    worker.discard({kContext, kStream + 1, 5, 0});
    meet();
    post(end);
  }
  finish();
  EXPECT_EQ(end.packed().front(), 1);
}

// Rank 0 has a message for rank 1, or wants one, which has none at its end. As long as that has not
// ended its run it may be late.
TEST_P(RemoteOf, aRankThatWaitsInVainGetsTheError) {
  uint32_t run = 0;
  protocol::RankGroup group{kContext, {kHere, kThere}, Rank{static_cast<uint32_t>(rank)}};
  group.runs = {kStream, &run};
  protocol::RemoteEndpoint endpoint(worker, group, nullptr);
  std::vector<EdgeSpec> edge{{sends() ? kThere : kHere, {MessageId{0}}}};
  for (bool isSent : {true, false}) {
    End end(100000, 1, ++run, counter);
    protocol::RunProgress progress(Job::current()->worker().progressTable(), end.message.tag);
    if (!sends()) {
      meet();
      progress.whole(run);
      meet();
      continue;
    }
    auto opened = endpoint.open(isSent ? OpenRequest{edge, {}} : OpenRequest{{}, edge});
    ASSERT_TRUE(opened.ok());
    Channels &channels = **opened;
    channels.start();
    EXPECT_EQ(isSent ? channels.send({0, 0}, OpId{0}, end.message.payload)
                     : channels.recv({0, 0}, OpId{0}, end.message.payload),
              Posted::Pending);
    auto begin = std::chrono::steady_clock::now();
    pollUntil([&] {
      channels.poll();
      channels.check();
      return channels.failed() ||
             std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(300);
    });
    EXPECT_FALSE(channels.failed()) << channels.fault().reason;
    meet();
    pollUntil([&] {
      channels.poll();
      channels.check();
      return channels.failed();
    });
    EXPECT_EQ(channels.fault().kind, ErrorKind::Truncated) << channels.fault().reason;
    meet();
  }
}

// Rank 0 has a message that rank 1 does not want, and wants one that rank 1 sends late. That it
// probes for the second does not end the first.
TEST_P(RemoteOf, aProbeEndsNoOtherMessage) {
  uint32_t run = 80;
  protocol::RankGroup group{kContext, {kHere, kThere}, Rank{static_cast<uint32_t>(rank)}};
  group.runs = {kStream, &run};
  protocol::RemoteEndpoint endpoint(worker, group, nullptr);
  End unwanted(100000, 1, run, counter), wanted(8, 1, run, counter);
  if (sends()) {
    std::vector<EdgeSpec> edge{{kThere, {MessageId{0}}}};
    auto channels = endpoint.open({edge, edge}).take();
    channels->start();
    EXPECT_EQ(channels->recv({0, 0}, OpId{0}, wanted.message.payload), Posted::Pending);
    EXPECT_EQ(channels->send({0, 0}, OpId{1}, unwanted.message.payload), Posted::Pending);
    size_t done = 0;
    pollUntil([&] {
      done += channels->poll().size();
      channels->check();
      return channels->failed() || done == 2;
    });
    EXPECT_EQ(channels->fault().kind, ErrorKind::Truncated) << channels->fault().reason;
  } else {
    protocol::RunProgress progress(Job::current()->worker().progressTable(),
                                   {kContext, kStream, 0, 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(400)); // probes come, and are not taken
    send(kHere, wanted);
    progress.whole(run);
    finish();
    meet();
    return;
  }
  meet();
}

// A message that is here in time is none that is missing.
TEST_P(RemoteOf, arrivedMessagesAreMatched) {
  for (uint64_t size : {uint64_t{8}, uint64_t{100000}}) {
    End end(size, 1, 30, counter);
    post(end);
    finish();
    EXPECT_FALSE(sends() ? worker.sendsTo(kThere)->isUnanswered(end.message)
                         : worker.receivesFrom(kHere).isUnmatched(end.message));
    meet();
  }
}

// Else a receiver that never looks would hold its sender up once a window is full.
TEST_P(RemoteOf, endedRunsAreDiscardedOnceManyHaveGathered) {
  constexpr uint32_t kAtOnce = kMaxAhead / 2;
  keepsSomething = true;
  constexpr uint32_t kOther = 1u << 30;
  protocol::RunProgress progress(Job::current()->worker().progressTable(),
                                 {kContext, kStream, 0, 0});
  progress.whole(6 * kAtOnce);
  for (uint32_t round = 0; round < 6; ++round) {
    std::deque<End> ends;
    for (uint32_t m = 0; m < kAtOnce && sends(); ++m) {
      ends.emplace_back(kMessageBytes, 1, round * kAtOnce + m, counter);
      post(ends.back());
    }
    finish();
    End there(4, 1, kOther + 2 * round, counter), back(4, 1, kOther + 2 * round + 1, counter);
    post(there);
    finish();
    if (sends())
      recv(kThere, back);
    else
      send(kHere, back);
    finish();
  }
}

class RemoteOverANetwork : public RemoteOf {};

// The failing rank never polls again, and earlier messages fill all buffers.
TEST_P(RemoteOverANetwork, failuresOvertakeStuckMessages) {
  constexpr uint32_t kMany = 20, kLong = 4 << 20;
  End there(8, 1, 0, counter), back(8, 1, 1, counter);
  post(there); // connected
  finish();
  std::deque<End> ends;
  for (uint32_t m = 2; m < kMany; ++m)
    ends.emplace_back(kLong, 1, m, counter);
  if (sends()) {
    recv(kThere, back); // behind all RTRs
    finish();
    for (End &end : ends)
      post(end);
    worker.reportAll({kHere, kNoOp, "out of luck"});
    EXPECT_GT(counter.outstanding, 0u);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    for (End &end : ends)
      post(end);
    send(kHere, back);
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (ranks->status() && std::chrono::steady_clock::now() < until)
      ranks->progress();
    EXPECT_EQ(ranks->status().message(), "out of luck");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  worker.cancel(counter);
}

/// The networks that are here, and the MPI.
std::vector<Way> waysWith(std::vector<Way> ways) {
  for (Way way : {Way::Ofi, Way::Verbs, Way::Datagram})
    if (Network{static_cast<NetworkKind>(way), "", false}.isHere())
      ways.push_back(way);
  return ways;
}

std::string nameOf(const ::testing::TestParamInfo<Way> &way) {
  return way.param == Way::Mpi ? "Mpi" : std::string(kNetworkNames[static_cast<size_t>(way.param)]);
}

INSTANTIATE_TEST_SUITE_P(By, RemoteOverANetwork, ::testing::ValuesIn(waysWith({})), nameOf);
INSTANTIATE_TEST_SUITE_P(By, RemoteOf, ::testing::ValuesIn(waysWith({Way::Mpi})), nameOf);

} // namespace
} // namespace colldsl::mpi::test

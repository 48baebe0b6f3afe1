// Messages by letter, without anything that they are for. Rank 0 sends, rank 1
// receives.
#include "mpi/Letters.h"
#include "mpi/Job.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace colldsl::mpi::test {
namespace {

constexpr Rank kThere{1}, kHere{0};
constexpr uint32_t kMostAhead = Letters::kWindow / Letters::kUnitsPerLetter;

enum class Way : uint8_t { Mpi, Network };

std::unique_ptr<Courier> makeCourier(Way way) {
  if (way == Way::Mpi)
    return Courier::overMpi(MPI_COMM_WORLD);
  Result<std::unique_ptr<Courier>> courier = Courier::overNetwork(MPI_COMM_WORLD, Haste::Quick);
  return courier ? courier.take() : nullptr;
}

class LettersOf : public ::testing::TestWithParam<Way> {
protected:
  LettersOf() : letters(makeCourier(GetParam()), Job::current()->worker().progressTable()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }

  // Whatever became of its messages, nothing is left of them.
  void TearDown() override {
    if (!letters.status() || keepsSomething)
      return;
    meet();
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    pollUntil([&] { return letters.numOpen() == 0 || std::chrono::steady_clock::now() > until; });
    EXPECT_EQ(letters.numOpen(), 0u);
    meet();
  }

  bool sends() const { return rank == 0; }

  /// What one end gives or wants.
  struct End {
    std::vector<uint8_t> bytes;
    std::vector<iovec> pieces;
    Letters::Message message;

    End(uint64_t size, uint32_t count, uint32_t number, protocol::CompletionCounter &tally)
        : bytes(size, 0xee) {
      for (uint32_t i = 0; i < count; ++i) {
        uint64_t begin = size * i / count;
        pieces.push_back({bytes.data() + begin, size * (i + 1) / count - begin});
      }
      std::reverse(pieces.begin(), pieces.end());
      message.tag = {1, 2, 3, number};
      message.payload = {pieces.data(), count, true, false, size};
      message.counter = &tally;
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

  void post(End &end) {
    if (sends())
      letters.send(kThere, end.message);
    else
      letters.recv(kHere, end.message);
  }

  template <typename Done> void pollUntil(Done done) {
    while (letters.status() && !done())
      letters.poll();
    EXPECT_TRUE(letters.status()) << letters.status().message();
  }
  void finish() {
    pollUntil([&] { return tally.outstanding == 0; });
  }
  /// All ranks are here; letters move meanwhile.
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
  Letters letters;
  protocol::CompletionCounter tally;
  bool keepsSomething = false; ///< of what is over, until it is much
};

TEST_P(LettersOf, anyLengthInAnyPieces) {
  uint32_t number = 0;
  for (uint64_t size :
       {uint64_t{0}, uint64_t{1}, letters.shortBytes(), letters.shortBytes() + 1, uint64_t{100000}})
    for (uint32_t pieces : {1u, 3u, 200u}) {
      End end(size, sends() ? pieces : 7, ++number, tally);
      if (sends())
        end.fill(static_cast<uint8_t>(number));
      post(end);
      finish();
      End wanted(size, 1, 0, tally);
      wanted.fill(static_cast<uint8_t>(number));
      EXPECT_EQ(end.packed(), wanted.packed()) << size << " in " << pieces;
      EXPECT_EQ(end.message.transferred, size);
    }
}

// Nothing stands in the way of what is wanted first.
TEST_P(LettersOf, whateverTheOrder) {
  std::deque<End> ends;
  for (uint32_t m = 0; m < 50; ++m)
    ends.emplace_back(m % 2 ? 10 : 20000, 2, m, tally).fill(sends() ? uint8_t(m) : 0);
  for (uint32_t m = 0; m < 50; ++m)
    post(ends[sends() ? m : 49 - m]);
  finish();
  for (uint32_t m = 0; m < 50; ++m)
    EXPECT_EQ(ends[m].packed().front(), m);
}

TEST_P(LettersOf, whoRunsAheadIsHeldBack) {
  constexpr uint32_t kMany = 3 * kMostAhead;
  std::deque<End> ends;
  for (uint32_t m = 0; m < kMany; ++m)
    ends.emplace_back(4, 1, m, tally).fill(sends() ? uint8_t(m) : 0);
  if (sends()) {
    for (End &end : ends)
      post(end);
    meet();
    EXPECT_GE(tally.outstanding, kMany - kMostAhead);
  } else {
    meet();
    for (End &end : ends)
      post(end);
  }
  finish();
  for (uint32_t m = 0; m < kMany; ++m)
    ASSERT_EQ(ends[m].packed().front(), uint8_t(m));
  meet();
  // Letters that were taken count no more.
  End last(4, 1, kMany, tally);
  if (!sends())
    meet();
  post(last);
  if (sends()) {
    finish();
    meet();
  }
  finish();
}

TEST_P(LettersOf, lengthsThatDifferAreTheReceiversToTell) {
  uint32_t number = 0;
  for (uint64_t size : {uint64_t{8}, uint64_t{100000}}) {
    End end(sends() ? size : size - 1, 1, ++number, tally);
    post(end);
    finish();
    EXPECT_EQ(tally.mismatched, sends() ? nullptr : &end.message);
    EXPECT_EQ(end.message.transferred, size);
    tally.mismatched = nullptr;
  }
}

// Those who invited the sender to something else, too.
TEST_P(LettersOf, lengthsThatDifferFromTheReceiverWhoIsFirst) {
  keepsSomething = true; // an invitation that came too late stays until its run is over
  uint32_t number = 0;
  for (uint64_t size : {uint64_t{8}, uint64_t{50000}, uint64_t{200000}}) {
    End end(sends() ? size : 100000, 1, ++number, tally);
    if (sends())
      meet();
    post(end);
    if (!sends())
      meet();
    finish();
    EXPECT_EQ(tally.mismatched, sends() ? nullptr : &end.message);
    EXPECT_EQ(end.message.transferred, size);
    tally.mismatched = nullptr;
    if (!sends()) {
      EXPECT_EQ(end.bytes, std::vector<uint8_t>(100000, 0xee));
    }
    End next(100000, 1, ++number, tally);
    post(next);
    finish();
  }
}

// A receiver who is first is not asked, where the network can do without: the sender then has
// nothing to wait for.
TEST_P(LettersOf, whoeverIsInvitedNeedNotAsk) {
  constexpr auto kShort = std::chrono::milliseconds(300), kLong = std::chrono::milliseconds(30000);
  bool isInvited = GetParam() == Way::Network;
  End there(8, 1, 1, tally), back(8, 1, 2, tally), end(64 << 10, 1, 3, tally);
  post(there); // connected
  finish();
  if (sends()) {
    letters.recv(kThere, back.message); // behind the invitation
    finish();
    end.fill(1);
    post(end);
  } else {
    post(end);
    letters.send(kHere, back.message);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!sends()) {
    auto until = std::chrono::steady_clock::now() + (isInvited ? kLong : kShort);
    while (tally.outstanding != 0 && std::chrono::steady_clock::now() < until)
      letters.poll();
    EXPECT_EQ(tally.outstanding, isInvited ? 0u : 1u);
  }
  MPI_Barrier(MPI_COMM_WORLD); // in which the sender does nothing else
  finish();
}

// Before the message is here, and when the bytes are asked for already.
TEST_P(LettersOf, memoryOfWhatIsGivenUpIsLeftAlone) {
  uint32_t number = 0;
  for (bool isAsked : {false, true})
    for (uint64_t size : {uint64_t{8}, uint64_t{100000}}) {
      End end(size, 1, ++number, tally);
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
          letters.forget(tally);
        meet();
        if (isAsked)
          letters.forget(tally);
        tally = {};
      }
      meet();
      if (!sends() && !isAsked) {
        EXPECT_EQ(end.bytes, std::vector<uint8_t>(size, 0xee));
      }
      End next(8, 1, ++number, tally);
      post(next);
      finish();
    }
}

// The sender has given it up when its bytes are asked for. Then the receiver gives it up, too.
TEST_P(LettersOf, bytesThatAreGivenUpAreNotWaitedFor) {
  End end(100000, 1, 50, tally), next(8, 1, 51, tally);
  post(end);
  if (sends()) {
    letters.forget(tally);
    tally = {};
    meet();
  } else {
    meet();
    auto begin = std::chrono::steady_clock::now();
    letters.forget(tally);
    tally = {};
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  }
  post(next);
  finish();
  meet();
}

// The sender was invited, and computes for longer than anybody waits for a network. What it writes
// then it writes to memory that is still the receive's.
TEST_P(LettersOf, invitationsAreTakenBackBeforeMemoryIsUsedAgain) {
  End end(100000, 1, 60, tally), next(8, 1, 61, tally);
  if (sends()) {
    meet();
    std::this_thread::sleep_for(std::chrono::milliseconds(5500));
    end.fill(1);
    post(end);
    finish();
  } else {
    post(end);
    meet();
    letters.forget(tally);
    tally = {};
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
TEST_P(LettersOf, keysOfCancelledReceivesAreNotKept) {
  constexpr uint32_t kRuns = 5000, kMost = 1100;
  keepsSomething = true;
  protocol::RunProgress progress(Job::current()->worker().progressTable(), {77, 1, 0, 0});
  for (uint32_t run = 0; run < kRuns && !sends(); ++run) {
    End end(8, 1, 0, tally);
    end.message.tag = {77, 1, run, 0};
    progress.begin(run);
    post(end);
    letters.forget(tally);
    tally = {};
    progress.end(run);
    ASSERT_LT(letters.numOpen(), kMost);
  }
  meet();
}

// Rank 1 has no bytes for it, and is over with the run; rank 0 fails before it asks how far rank 1
// is.
TEST_P(LettersOf, questionsOfRunsThatFailedAreRefused) {
  End end(100000, 1, 70, tally);
  protocol::RunProgress progress(Job::current()->worker().progressTable(), end.message.tag);
  if (!sends())
    progress.whole(end.message.tag.run);
  meet();
  if (sends()) {
    post(end);
    letters.forget(tally);
    tally = {};
    letters.sendFailure(kThere, end.message.tag, {Rank{0}, kNoOp, "out of luck"});
  }
  meet();
}

TEST_P(LettersOf, failuresAreToldOncePerKey) {
  Tag key{1, 2, 0, 0}, other{1, 3, 0, 0};
  if (sends())
    letters.sendFailure(kThere, key, {Rank{7}, kNoOp, "out of luck"});
  else
    pollUntil([&] { return letters.findFailure(key) != nullptr; });
  if (!sends()) {
    EXPECT_EQ(letters.findFailure(key)->reason, "out of luck");
    EXPECT_EQ(letters.findFailure(key)->peer, Rank{7});
  }
  EXPECT_EQ(letters.findFailure(other), nullptr);
}

// What a neighbour says for one run is nobody else's, though two owners may number alike.
TEST_P(LettersOf, aRefusedRunIsThatOfOneStream) {
  End end(8, 1, 5, tally);
  if (sends()) {
    end.fill(1);
    post(end);
    meet();
  } else {
    letters.refuseRun({1, 2, 3, 4});
    meet();
    post(end);
  }
  finish();
  EXPECT_EQ(end.packed().front(), 1);
}

/// Doubts one message from or to a peer.
struct Doubting : Letters::Doubter {
  Letters &letters;
  Rank peer;
  Letters::Message &message;
  uint32_t doubts = 0, answers = 0;
  bool isAbandoned = false;

  Doubting(Letters &letters, Rank peer, Letters::Message &message)
      : letters(letters), peer(peer), message(message) {
    letters.beginDoubting(*this);
  }
  ~Doubting() { letters.endDoubting(*this); }
  void doubt() override {
    ++doubts;
    letters.askHowFar(peer, message.tag);
  }
  void onOver(Rank from, const Tag &run) override {
    EXPECT_EQ(from, peer);
    EXPECT_EQ(run, message.tag);
    ++answers;
    isAbandoned = letters.abandon(peer, message);
  }
};

// Rank 0 has a message for rank 1, or wants one, which has none at its end. As long as that has not
// ended its run it may be late.
TEST_P(LettersOf, whoWaitsInVainIsTold) {
  uint32_t number = 20;
  for (bool isSent : {true, false}) {
    End end(100000, 1, ++number, tally);
    protocol::RunProgress progress(Job::current()->worker().progressTable(), end.message.tag);
    if (!sends()) {
      meet();
      progress.whole(end.message.tag.run);
      meet();
      continue;
    }
    if (isSent)
      letters.send(kThere, end.message);
    else
      letters.recv(kThere, end.message);
    Doubting doubting(letters, kThere, end.message);
    auto lookUntil = [&](auto done) {
      pollUntil([&] {
        letters.look();
        return done();
      });
    };
    lookUntil([&] { return doubting.doubts == 4; });
    EXPECT_EQ(doubting.answers, 0u);
    meet();
    lookUntil([&] { return doubting.isAbandoned; });
    EXPECT_FALSE(letters.abandon(kThere, end.message)) << "once";
    tally = {};
    meet();
  }
}

// A message that is here in time is none that is missing, whenever the answer comes.
TEST_P(LettersOf, whatHasArrivedIsNotAbandoned) {
  for (uint64_t size : {uint64_t{8}, uint64_t{100000}}) {
    End end(size, 1, 30, tally);
    post(end);
    finish();
    EXPECT_FALSE(letters.abandon(sends() ? kThere : kHere, end.message));
    meet();
  }
}

// Else a receiver that never looks would hold its sender up once a window is full.
TEST_P(LettersOf, whatIsOverIsThrownAwayOnceMuchHasGathered) {
  constexpr uint32_t kAtOnce = kMostAhead / 2;
  keepsSomething = true;
  protocol::RunProgress progress(Job::current()->worker().progressTable(), {1, 2, 0, 40});
  progress.whole(6 * kAtOnce);
  for (uint32_t round = 0; round < 6; ++round) {
    std::deque<End> ends;
    for (uint32_t m = 0; m < kAtOnce && sends(); ++m) {
      ends.emplace_back(4, 1, 40, tally).message.tag.run = round * kAtOnce + m;
      post(ends.back());
    }
    finish();
    End there(4, 1, 41, tally), back(4, 1, 42, tally);
    post(there);
    finish();
    if (sends())
      letters.recv(kThere, back.message);
    else
      letters.send(kHere, back.message);
    finish();
  }
}

class LettersOverANetwork : public LettersOf {};

// Whoever tells it never looks again, and what was said before fills all there is.
TEST_P(LettersOverANetwork, failuresPassByWhatIsStuck) {
  constexpr uint32_t kMany = 20, kLong = 4 << 20;
  End there(8, 1, 0, tally), back(8, 1, 1, tally);
  post(there); // connected
  finish();
  std::deque<End> ends;
  for (uint32_t m = 2; m < kMany; ++m)
    ends.emplace_back(kLong, 1, m, tally);
  if (sends()) {
    letters.recv(kThere, back.message); // behind all invitations
    finish();
    for (End &end : ends)
      post(end);
    letters.sendFailure({Rank{7}, kNoOp, "out of luck"});
    EXPECT_GT(tally.outstanding, 0u);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    for (End &end : ends)
      post(end);
    letters.send(kHere, back.message);
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (letters.status() && std::chrono::steady_clock::now() < until)
      letters.poll();
    EXPECT_EQ(letters.status().message(), "out of luck");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  letters.forget(tally);
}

INSTANTIATE_TEST_SUITE_P(By, LettersOverANetwork, ::testing::Values(Way::Network),
                         [](const auto &) { return "Network"; });
INSTANTIATE_TEST_SUITE_P(By, LettersOf, ::testing::Values(Way::Mpi, Way::Network),
                         [](const auto &way) { return way.param == Way::Mpi ? "Mpi" : "Network"; });

} // namespace
} // namespace colldsl::mpi::test

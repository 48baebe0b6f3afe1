// The protocol of groups by itself: a root and members in a network of this test, whose time is
// counted in steps.
#include "tests/transports/TransportPair.h"
#include "transports/datagram/MulticastReceiver.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace colldsl::test {
namespace {

using datagram::MulticastChannel;
using datagram::MulticastGap;
using datagram::MulticastHeader;
using datagram::MulticastReceiver;
using datagram::MulticastSender;
using datagram::MulticastTree;

bool noneIsGone(uint32_t) { return false; }

TEST(MulticastTree, acknowledgementsAreCombined) {
  MulticastTree tree(7, noneIsGone); // 5 and 6 are below 1
  EXPECT_EQ(tree.above(3), 0u);
  EXPECT_EQ(tree.above(6), 1u);
  EXPECT_TRUE(tree.isBelow(6, 1));
  EXPECT_TRUE(tree.isBelow(6, 0));
  EXPECT_FALSE(tree.isBelow(6, 2));
  EXPECT_EQ(tree.ackedBelow(0), 0u);
  for (uint32_t place : {1u, 2u, 3u, 4u})
    tree.note(place, 10 + place);
  EXPECT_EQ(tree.ackedBelow(0), 11u);
  tree.note(1, 5);
  EXPECT_EQ(tree.ackedBelow(0), 11u) << "an old word";
  EXPECT_EQ(tree.ackedBelow(1), 0u);
  EXPECT_EQ(tree.ackedBelow(2), UINT64_MAX) << "no member is there";
}

TEST(MulticastTree, theChildrenOfADepartedMemberReplaceIt) {
  std::set<uint32_t> gone;
  MulticastTree tree(7, [&](uint32_t place) { return gone.count(place) != 0; });
  for (uint32_t place = 1; place < 7; ++place)
    tree.note(place, place == 6 ? 3 : 8);
  EXPECT_EQ(tree.ackedBelow(0), 8u);
  gone = {1};
  EXPECT_EQ(tree.above(6), 0u);
  EXPECT_EQ(tree.ackedBelow(0), 3u) << "6 answers for itself";
  std::vector<uint32_t> below;
  tree.below(0, below);
  EXPECT_EQ(below, (std::vector<uint32_t>{5, 6, 2, 3, 4}));
  gone = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(tree.ackedBelow(0), UINT64_MAX);
}

constexpr uint32_t kPartBytes = 1000;
std::vector<std::byte> frameOf(uint64_t number) {
  return makeFrame(static_cast<uint32_t>(number), 8 + number * 7919 % 16000);
}

// Of the network between a root and its members.
class Weatherly {
public:
  Weatherly(uint32_t members, double loss, uint64_t seed)
      : sender_(members + 1, kPartBytes, noneIsGone), loss_(loss), random_(seed) {
    for (uint32_t place = 1; place <= members; ++place)
      members_.push_back({MulticastReceiver(members + 1, place, kPartBytes, noneIsGone)});
    sender_.noteSent(0, kRetransmissionTimeout);
  }

  /// Says so many frames. Empty if each member hears each once, in order and as it was.
  std::string sendOne(uint64_t frames) {
    for (uint64_t steps = 0; sender_.next() <= frames || !sender_.isIdle(); ++steps, ++now_) {
      if (steps > 1'000'000)
        return "stuck at frame " + std::to_string(sender_.acked());
      step(frames);
      if (!trouble_.empty())
        return trouble_;
    }
    for (const Member &member : members_)
      if (member.received != frames)
        return "a member received " + std::to_string(member.received);
    return "";
  }

  MulticastSender &sender() { return sender_; }
  uint64_t steps() const { return static_cast<uint64_t>(now_); }
  uint64_t acksAtRoot = 0, again = 0;
  uint64_t mostBytes = 0;

private:
  static constexpr datagram::TimeNs kRetransmissionTimeout = 20, kGuard = 3;
  struct Member {
    MulticastReceiver receiver;
    uint64_t received = 0;
    datagram::TimeNs newsAt = 0;
  };

  bool happens() { return std::uniform_real_distribution<double>()(random_) < loss_; }
  // Lost, or there in some steps, perhaps twice.
  void send(const std::function<void()> &arrival) {
    if (happens())
      return;
    for (int copies = happens() ? 2 : 1; copies > 0; --copies)
      onWay_.emplace(now_ + 2 + (happens() ? random_() % 10 : 0), arrival);
  }

  void step(uint64_t frames) {
    if (sender_.isReady() && sender_.next() <= frames && sender_.hasRoom()) {
      std::vector<std::byte> frame = frameOf(sender_.next());
      auto split = std::min<size_t>(frame.size(), 48);
      MulticastChannel &channel =
          sender_.append(std::span(frame).first(split), std::span(frame).subspan(split), {});
      channel.sentAt = now_;
      sendParts(channel, ~uint64_t{0});
      sender_.noteSent(now_, kRetransmissionTimeout);
    }
    if (sender_.isWaiting() && sender_.probeAt() <= now_) {
      for (Member &member : members_)
        send([&, next = sender_.next()] {
          if (!member.receiver.takeProbe(next))
            trouble_ = "asked for what cannot be";
        });
      sender_.noteProbe(now_, 200);
    }
    for (; !onWay_.empty() && onWay_.begin()->first <= now_; onWay_.erase(onWay_.begin()))
      onWay_.begin()->second();
    for (Member &member : members_)
      answer(member);
    while (MulticastChannel *channel = sender_.takeWanted()) {
      ++again;
      channel->requesters = 0;
      sendParts(*channel, std::exchange(channel->wanted, 0));
    }
    mostBytes = std::max(mostBytes, sender_.bytes());
    for (Member &member : members_)
      mostBytes = std::max(mostBytes, member.receiver.bytes());
  }

  void sendParts(const MulticastChannel &channel, uint64_t parts) {
    for (uint32_t part = 0; part < sender_.numParts(channel); ++part) {
      if ((parts >> part & 1) == 0)
        continue;
      std::array<iovec, 2> pieces;
      std::vector<std::byte> bytes;
      for (uint32_t i = 0, count = sender_.pieces(channel, part, pieces); i < count; ++i) {
        auto *begin = static_cast<const std::byte *>(pieces[i].iov_base);
        bytes.insert(bytes.end(), begin, begin + pieces[i].iov_len);
      }
      MulticastHeader header;
      header.number = channel.number;
      header.bytes = channel.bytes();
      header.part = static_cast<uint16_t>(part);
      header.wantsAck = channel.wantsAck;
      for (Member &member : members_)
        send([this, &member, header, bytes] { take(member, header, bytes); });
    }
  }

  void take(Member &member, const MulticastHeader &header, const std::vector<std::byte> &bytes) {
    if (!member.receiver.take(header, bytes))
      trouble_ = "a part that cannot be";
    member.newsAt = now_;
    for (auto frame = member.receiver.front(); !frame.empty(); frame = member.receiver.front()) {
      std::vector<std::byte> wanted = frameOf(++member.received);
      if (!std::equal(frame.begin(), frame.end(), wanted.begin(), wanted.end()))
        trouble_ = "frame " + std::to_string(member.received) + " is wrong";
      member.receiver.dropFront();
    }
  }

  void answer(Member &member) {
    MulticastReceiver &receiver = member.receiver;
    uint32_t place = receiver.place();
    bool isTimedOut = receiver.isListening() && now_ - member.newsAt > kRetransmissionTimeout;
    if (isTimedOut)
      member.newsAt = now_;
    if ((receiver.hasGap() && receiver.mayNack(now_, kGuard)) || isTimedOut) {
      std::vector<MulticastGap> gaps(datagram::kMulticastChannels + 1);
      gaps.resize(receiver.gaps(gaps));
      send([this, place, gaps] {
        for (const MulticastGap &gap : gaps)
          if (!sender_.takeNack(place, gap, now_, kGuard))
            trouble_ = "a gap that cannot be";
      });
    }
    if (!receiver.owesAck())
      return;
    uint32_t above = receiver.tree().above(place);
    send([this, place, above, number = receiver.acked()] {
      acksAtRoot += above == 0;
      bool isFine = above == 0 ? sender_.takeAck(place, number)
                               : members_[above - 1].receiver.takeAck(place, number);
      if (!isFine)
        trouble_ = "an acknowledgement that cannot be";
    });
    receiver.noteAck();
  }

  MulticastSender sender_;
  double loss_;
  std::mt19937_64 random_;
  std::deque<Member> members_;
  std::multimap<datagram::TimeNs, std::function<void()>> onWay_;
  datagram::TimeNs now_ = 1;
  std::string trouble_;
};

class MulticastProtocol : public testing::TestWithParam<double> {};

TEST_P(MulticastProtocol, everyByteIsRightInBoundedMemory) {
  for (uint32_t members : {2u, 5u, 21u})
    for (uint64_t seed : {1u, 2u, 3u}) {
      Weatherly network(members, GetParam(), seed);
      ASSERT_EQ(network.sendOne(300), "") << members << " members, seed " << seed;
      EXPECT_LE(network.mostBytes,
                uint64_t{datagram::kMulticastChannels} *
                    (datagram::kMulticastBodyBytes + datagram::kMulticastHeadBytes));
      EXPECT_EQ(network.again > 0, GetParam() > 0);
      EXPECT_FALSE(network.sender().hasMoved()) << members << " members, seed " << seed;
      std::printf("%u members, %g lost: %lu steps, %lu again, %lu acknowledgements at the root\n",
                  members, GetParam(), network.steps(), network.again, network.acksAtRoot);
    }
}

INSTANTIATE_TEST_SUITE_P(All, MulticastProtocol, testing::Values(0, 0.001, 0.01, 0.05, 0.2),
                         [](const auto &info) {
                           return "lost" + std::to_string(int(info.param * 1000)) + "in1000";
                         });

// What cannot be true is told from what is late.
TEST(MulticastSender, refusesImpossibleReports) {
  MulticastSender sender(3, kPartBytes, noneIsGone);
  EXPECT_FALSE(sender.isReady());
  EXPECT_FALSE(sender.takeAck(0, 1)) << "the root itself";
  EXPECT_FALSE(sender.takeAck(3, 1)) << "no member is there";
  EXPECT_FALSE(sender.takeAck(1, 2)) << "nothing was said";
  EXPECT_TRUE(sender.takeAck(1, 1));
  EXPECT_TRUE(sender.takeAck(2, 1));
  EXPECT_TRUE(sender.isReady());
  std::vector<std::byte> frame = frameOf(1);
  sender.append({}, frame, {});
  EXPECT_TRUE(sender.takeNack(1, {1, 1}, 100, 5));
  EXPECT_TRUE(sender.takeNack(1, {2, 1}, 100, 5)) << "is awaited";
  EXPECT_FALSE(sender.takeNack(1, {3, 1}, 100, 5));
  EXPECT_FALSE(sender.takeNack(7, {1, 1}, 100, 5));
  EXPECT_NE(sender.takeWanted(), nullptr);
  EXPECT_EQ(sender.takeWanted(), nullptr);
}

// Four sets of channels, and no more until all members have the oldest.
TEST(MulticastSender, roomIsFourSets) {
  MulticastSender sender(3, kPartBytes, noneIsGone);
  std::vector<std::byte> frame(8);
  for (uint32_t i = 0; i < datagram::kMulticastChannels; ++i) {
    ASSERT_TRUE(sender.hasRoom());
    bool endsSet = i % datagram::kChannelsPerSet == datagram::kChannelsPerSet - 1;
    EXPECT_EQ(sender.append(frame, {}, {}).wantsAck, endsSet) << i;
  }
  EXPECT_FALSE(sender.hasRoom());
  sender.takeAck(1, 5);
  EXPECT_FALSE(sender.hasRoom());
  sender.takeAck(2, 5);
  EXPECT_TRUE(sender.hasRoom());
  EXPECT_EQ(sender.oldest(), 5u);
}

// A root that waits probes earlier, and begins anew with each acknowledgement of a member.
TEST(MulticastSender, probesInTime) {
  MulticastSender sender(3, kPartBytes, noneIsGone);
  sender.takeAck(1, 1);
  sender.takeAck(2, 1);
  EXPECT_TRUE(sender.hasProgress());
  EXPECT_FALSE(sender.hasProgress());
  std::vector<std::byte> frame(8);
  sender.append(frame, {}, {});
  sender.noteSent(1000, 10);
  EXPECT_EQ(sender.probeAt(), 1040);
  sender.append(frame, {}, {.isAwaited = true});
  sender.noteSent(1000, 10);
  EXPECT_EQ(sender.probeAt(), 1010);
  EXPECT_EQ(sender.noteProbe(1010, 30), 0u);
  EXPECT_EQ(sender.probeAt(), 1030);
  EXPECT_EQ(sender.noteProbe(1030, 30), 1u);
  EXPECT_EQ(sender.probeAt(), 1060);
  sender.takeAck(1, 3);
  EXPECT_TRUE(sender.hasProgress());
  EXPECT_EQ(sender.acked(), 1u);
  sender.takeAck(1, 3);
  EXPECT_FALSE(sender.hasProgress()) << "it said so before";
  sender.takeNack(2, {1, 1}, 1100, 5);
  EXPECT_TRUE(sender.hasProgress());
}

// Answers may get lost, and members be busy.
TEST(MulticastSender, silenceIsNoReasonToMove) {
  MulticastSender sender(3, kPartBytes, noneIsGone);
  sender.takeAck(1, 1);
  sender.takeAck(2, 1);
  std::vector<std::byte> frame(8);
  sender.append(frame, {}, {.isAwaited = true});
  for (uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(sender.noteProbe(i, 30), i);
  EXPECT_FALSE(sender.hasMoved());
}

TEST(MulticastSender, aDepartedMemberIsNotAwaited) {
  std::set<uint32_t> gone;
  MulticastSender sender(3, kPartBytes, [&](uint32_t place) { return gone.count(place) != 0; });
  std::vector<std::byte> frame(8);
  for (uint32_t i = 0; i < datagram::kMulticastChannels; ++i)
    sender.append(frame, {}, {});
  sender.takeAck(1, 1 + datagram::kMulticastChannels);
  EXPECT_FALSE(sender.hasRoom());
  EXPECT_TRUE(sender.isWaiting());
  gone = {2};
  EXPECT_TRUE(sender.hasRoom());
  EXPECT_FALSE(sender.isWaiting());
}

// Else it would be said again from memory that is the caller's again.
TEST(MulticastSender, acknowledgedFramesAreFreed) {
  std::set<uint32_t> gone;
  MulticastSender sender(3, kPartBytes, [&](uint32_t place) { return gone.count(place) != 0; });
  std::vector<std::byte> frame(8);
  sender.append(frame, {}, {.stays = true, .isAwaited = true});
  sender.takeAck(1, 2);
  EXPECT_FALSE(sender.isAcknowledged(1));
  gone = {2};
  EXPECT_TRUE(sender.isAcknowledged(1));
  EXPECT_EQ(sender.oldest(), 2u);
}

// The caller's memory is the caller's again.
TEST(MulticastSender, retainedFramesAreCopiedOnRelease) {
  MulticastSender sender(3, kPartBytes, noneIsGone);
  std::vector<std::byte> head(48), frame = frameOf(3), before = frame;
  MulticastChannel &channel = sender.append(head, frame, {.stays = true, .isAwaited = true});
  EXPECT_TRUE(channel.wantsAck);
  EXPECT_EQ(channel.body.data(), frame.data());
  sender.release();
  std::fill(frame.begin(), frame.end(), std::byte{0});
  EXPECT_TRUE(std::equal(before.begin(), before.end(), channel.body.begin()));
}

TEST(MulticastReceiver, refusesImpossibleReports) {
  MulticastReceiver member(3, 1, kPartBytes, noneIsGone);
  std::vector<std::byte> part(kPartBytes);
  auto take = [&](uint64_t number, uint32_t bytes, uint16_t at, size_t size) {
    MulticastHeader header;
    header.number = number;
    header.bytes = bytes;
    header.part = at;
    return member.take(header, std::span(part).first(size));
  };
  EXPECT_FALSE(take(0, 10, 0, 10));
  EXPECT_FALSE(take(1, 0, 0, 0));
  EXPECT_FALSE(take(1, 2500, 0, 999)) << "all but the last are long";
  EXPECT_FALSE(take(1, 2500, 3, 500)) << "there are three";
  EXPECT_FALSE(take(1, 100000, 0, 1000)) << "no frame is so long";
  EXPECT_FALSE(take(1 + datagram::kMulticastChannels, 10, 0, 10)) << "no channel is free for it";
  EXPECT_TRUE(take(1, 2500, 2, 500));
  EXPECT_FALSE(take(1, 2600, 0, 1000)) << "it was shorter before";
  EXPECT_TRUE(member.front().empty());
  EXPECT_TRUE(member.hasGap());
  MulticastGap gaps[3];
  ASSERT_EQ(member.gaps(gaps), 1u);
  EXPECT_EQ(gaps[0].parts, 3u);
  EXPECT_FALSE(member.takeProbe(2 + datagram::kMulticastChannels));
  EXPECT_FALSE(member.takeAck(2, 1)) << "is beside it, not below";
  MulticastReceiver inner(21, 3, kPartBytes, noneIsGone);
  EXPECT_FALSE(inner.takeAck(~0u, 1)) << "is of another group";
}

} // namespace
} // namespace colldsl::test

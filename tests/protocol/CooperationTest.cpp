// Long messages that both ends copy, part by part.
#include "protocol/local/LocalEndpoint.h"
#include "tests/protocol/TwoRanks.h"
#include "transports/CooperativeCopy.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace colldsl::test {
namespace {

using namespace protocol;

// Of messages of kLongBytes: 5 parts, of which the end that begins takes 3.
constexpr uint64_t kPartBytes = cooperative::kUsualPartBytes, kFirstBytes = 3 * kPartBytes;

class Cooperation : public TwoRanks {
protected:
  // The sender has less to move than the receiver, which then waits for it to begin.
  void postToIdleSender(Bytes &from, Bytes &to, uint32_t number = 0) {
    received_.copyKiB = 1000;
    sent_.sendsOnly = true;
    post(from, to, Mover::Either, number);
    here_->progress();
  }

  static uint64_t numEqual(const Bytes &from, const Bytes &to) {
    std::vector<uint8_t> sent = from.packed(), received = to.packed();
    return static_cast<uint64_t>(std::mismatch(sent.begin(), sent.end(), received.begin()).first -
                                 sent.begin());
  }
};

using cooperative::Claim, cooperative::End, cooperative::Outcome, cooperative::Parts;

TEST(CooperativeParts, coverMessagesOfAllLengths) {
  for (uint64_t bytes : {uint64_t{1}, kPartBytes, kPartBytes + 1, uint64_t{300000},
                         uint64_t{1} << 30, (uint64_t{1} << 40) + 5}) {
    Parts parts(bytes);
    EXPECT_LE(parts.count, cooperative::kMostParts);
    EXPECT_EQ(parts.partBytes % cooperative::kLeastPartBytes, 0u);
    Claim last{parts.count - 1, 1};
    EXPECT_EQ(parts.beginOf(last) + parts.bytesOf(last), bytes);
    EXPECT_GT(parts.bytesOf(last), 0u);
    EXPECT_EQ(parts.bytesOf({0, parts.count}), bytes);
  }
}

// Whichever end claims next: all parts are copied once, and one end is last.
TEST(CooperativeParts, areClaimedOnce) {
  constexpr uint32_t kParts = 9;
  for (uint32_t order = 0; order < 1u << kParts; ++order) {
    std::atomic<uint32_t> word;
    cooperative::begin(word);
    std::vector<int> copied(kParts);
    Outcome outcome = Outcome::Pending;
    for (uint32_t turn = 0; outcome == Outcome::Pending; ++turn) {
      End end = (order >> turn % kParts & 1) != 0 ? End::Sender : End::Receiver;
      std::optional<Claim> claim = cooperative::claim(word, end, kParts);
      ASSERT_TRUE(claim);
      for (uint32_t p = 0; p < claim->count; ++p)
        ++copied.at(claim->first + p);
      outcome = cooperative::leave(word, end, kParts, true);
    }
    EXPECT_EQ(outcome, Outcome::Copied);
    EXPECT_EQ(copied, std::vector<int>(kParts, 1));
    EXPECT_FALSE(cooperative::claim(word, End::Sender, kParts));
  }
}

TEST_F(Cooperation, bothEndsCopyParts) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  postToIdleSender(from, to);
  here_->progress();
  EXPECT_EQ(numEqual(from, to), kFirstBytes);
  there_->progress();
  EXPECT_EQ(from, to);
  EXPECT_EQ(sent_.outstanding, 0u);
  EXPECT_EQ(received_.outstanding, 1u);
  here_->progress();
  EXPECT_EQ(received_.outstanding, 0u);
  EXPECT_EQ(to.message.transferred, kLongBytes);
}

TEST_F(Cooperation, eitherEndCopiesAllWhileTheOtherOneIsElsewhere) {
  for (bool receives : {true, false}) {
    make();
    Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
    postToIdleSender(from, to);
    for (int i = 0; i < 20; ++i)
      (receives ? here_ : there_)->progress();
    EXPECT_EQ(from, to) << receives;
    EXPECT_EQ(receives ? received_.outstanding : sent_.outstanding, 0u);
    finish();
  }
}

TEST_F(Cooperation, aReceiverWithLessToMoveBeginsAtOnce) {
  make();
  sent_.sendsOnly = true;
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  post(from, to, Mover::Either);
  here_->progress();
  EXPECT_EQ(from, to);
  EXPECT_EQ(received_.outstanding, 0u);
  finish();
}

TEST_F(Cooperation, aSenderThatReceivesTooDoesNotTakePart) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  received_.copyKiB = 1000;
  post(from, to, Mover::Either);
  here_->progress();
  here_->progress();
  EXPECT_EQ(numEqual(from, to), 0u);
  there_->progress();
  EXPECT_EQ(from, to);
  finish();
}

// What a plan knows of its sender.
TEST_F(Cooperation, ofPlansWhoseSenderReceivesNothing) {
  const std::vector<EdgeSpec> there = {{Rank{1}, {MessageId{0}}}},
                              back = {{Rank{0}, {MessageId{0}}}};
  const std::vector<EdgeSpec> none;
  for (bool receives : {false, true}) {
    make();
    LocalEndpoint sender(*there_, RankGroup::ofAll(2, Rank{0}), nullptr);
    LocalEndpoint receiver(*here_, RankGroup::ofAll(2, Rank{1}), nullptr);
    auto sends = sender.open({there, receives ? there : none});
    auto receptions = receiver.open({receives ? back : none, back});
    ASSERT_TRUE(sends.ok() && receptions.ok());
    Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
    ASSERT_TRUE((*sends)->prepare({kLongBytes, kLongBytes}).ok());
    ASSERT_TRUE((*receptions)->prepare({kLongBytes, 10 * kLongBytes}).ok());
    (*sends)->start();
    (*receptions)->start();
    EXPECT_EQ((*receptions)->recv({0, 0}, OpId{0}, to.message.payload), Posted::Pending);
    EXPECT_EQ((*sends)->send({0, 0}, OpId{0}, from.message.payload), Posted::Pending);
    (*receptions)->poll();
    (*receptions)->poll();
    EXPECT_EQ(numEqual(from, to), receives ? 0 : kFirstBytes);
    (*sends)->poll();
    (*receptions)->poll();
    EXPECT_EQ(from, to);
  }
}

TEST(CooperationLimits, aSenderThatCopiesOtherBytesJoinsLate) {
  Limits limits;
  const uint64_t least = limits.cooperativeMinBytes;
  EXPECT_FALSE(limits.isWorthCooperation(least - 1, 0, false));
  EXPECT_TRUE(limits.isWorthCooperation(least, least >> 10, false));
  EXPECT_FALSE(limits.isWorthCooperation(least, (least >> 10) + 1, false));
  EXPECT_TRUE(limits.isWorthCooperation(4 * least, 100 * (least >> 10), false));
  EXPECT_FALSE(limits.isWorthCooperation(limits.cooperativeCombineMinBytes - 1, 0, true));
  EXPECT_TRUE(limits.isWorthCooperation(limits.cooperativeCombineMinBytes, 0, true));
}

TEST_F(Cooperation, ofRanksThatShareCoresOneEndCopies) {
  make(shm::SingleCopy::On, shm::numCores() + 1);
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  postToIdleSender(from, to);
  here_->progress();
  EXPECT_EQ(numEqual(from, to), 0u);
  finish();
  EXPECT_EQ(from, to);
}

// Appends what it combines, and lets the sender go on during call `senderAt`.
struct Appending final : CombiningTarget {
  Appending(uint64_t bytes, LocalWorker &sender, uint64_t senderAt)
      : memory(bytes), sender(sender), senderAt(senderAt) {
    room = memory.data();
  }
  void combine(uint64_t offset, const std::byte *from, uint64_t bytes) override {
    EXPECT_EQ(offset, combined.size());
    combined.insert(combined.end(), from, from + bytes);
    if (calls++ == senderAt)
      sender.progress();
  }
  std::vector<std::byte> memory, combined;
  LocalWorker &sender;
  uint64_t senderAt, calls = 0;
};

TEST_F(Cooperation, whatIsCombinedIsCombinedInOrder) {
  for (uint64_t senderAt = 0; senderAt < 4; ++senderAt) {
    make();
    sent_.sendsOnly = true;
    Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0), untouched(kLongBytes, 1, 0);
    Appending target(kLongBytes, *there_, senderAt);
    to.message.combining = &target;
    post(from, to, Mover::Either);
    here_->progress();
    finish();
    std::vector<uint8_t> sent = from.packed();
    ASSERT_EQ(target.combined.size(), sent.size());
    EXPECT_EQ(std::memcmp(target.combined.data(), sent.data(), sent.size()), 0);
    EXPECT_EQ(to, untouched);
  }
}

TEST_F(Cooperation, memoryOfACancelledReceiveIsLeftAlone) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  postToIdleSender(from, to);
  here_->progress();
  here_->cancel(received_);
  received_ = {};
  finish();
  EXPECT_EQ(numEqual(from, to), kFirstBytes);
}

TEST_F(Cooperation, memoryOfACancelledSendIsLeftAlone) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0), again(kLongBytes, 1, 3);
  postToIdleSender(from, to);
  here_->progress();
  there_->cancel(sent_);
  for (int i = 0; i < 20; ++i)
    here_->progress();
  EXPECT_EQ(numEqual(from, to), kFirstBytes);
  EXPECT_EQ(received_.outstanding, 1u);
  sent_ = {};
  again.message.tag = from.message.tag;
  again.message.counter = &sent_;
  there_->sendsTo(Rank{1})->send(again.message);
  finish();
  EXPECT_EQ(again, to);
}

TEST_F(Cooperation, aPartThatCannotBeCopiedIsSentInFragments) {
  make();
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t bytes = 5 * kPartBytes;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Bytes from(bytes, 1, 1), to(bytes, 1, 0);
  std::memcpy(memory, from.packed().data(), bytes);
  iovec piece{memory, bytes};
  from.message.payload.pieces = &piece;
  std::byte *inLastPart = static_cast<std::byte *>(memory) + bytes - page;
  mprotect(inLastPart, page, PROT_NONE);
  postToIdleSender(from, to);
  here_->progress();
  there_->progress();
  mprotect(inLastPart, page, PROT_READ);
  EXPECT_EQ(sent_.outstanding, 1u);
  finish();
  EXPECT_EQ(to.packed(), from.packed());
  munmap(memory, bytes);
}

} // namespace
} // namespace colldsl::test

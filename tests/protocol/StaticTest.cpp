// Static messages between ranks of a node: after the first run one end copies them from buffer to
// buffer, and nothing goes through a FIFO. One thread is both ranks, so that it orders their steps.
#include "protocol/local/LocalEndpoint.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace protocol;

constexpr Transfer kStatic{.protocol = Protocol::Static};
constexpr Transfer kPut{.protocol = Protocol::Static, .mover = Mover::Writer};
constexpr Transfer kCanary{.protocol = Protocol::Static, .canary = true};

/// Memory of one rank, or of both.
class Memory {
public:
  Memory(LocalWorker &worker, bool isShared, uint64_t bytes)
      : worker_(worker), own_(isShared ? 0 : bytes),
        data_(isShared ? static_cast<uint8_t *>(worker.allocate(bytes)) : own_.data()),
        piece_{data_, bytes}, isShared_(isShared) {
    fill(0);
  }
  ~Memory() {
    if (isShared_)
      worker_.release(data_);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  void fill(uint8_t first) {
    for (uint64_t i = 0; i < piece_.iov_len; ++i)
      data_[i] = static_cast<uint8_t>(first + i);
  }
  uint8_t *data() { return data_; }
  Payload payload() const { return {&piece_, 1, false, false, piece_.iov_len}; }
  bool operator==(const Memory &other) const {
    return std::memcmp(data_, other.data_, piece_.iov_len) == 0;
  }

private:
  LocalWorker &worker_;
  std::vector<uint8_t> own_;
  uint8_t *data_;
  iovec piece_;
  bool isShared_;
};

/// Rank 0 sends to rank 1.
class StaticMessages : public ::testing::Test {
protected:
  void SetUp() override {
    auto made = shm::World::create(2, {});
    ASSERT_TRUE(made.ok()) << made.message();
    world_ = made.take();
    for (uint32_t r : {0u, 1u})
      world_->control(Rank{r}).pid.store(getpid());
    for (uint32_t r : {0u, 1u}) {
      workers_[r] = std::make_unique<LocalWorker>(*world_, Rank{r}, protocol::LocalOptions{});
      endpoints_[r] =
          std::make_unique<LocalEndpoint>(*workers_[r], RankGroup::ofAll(2, Rank{r}), nullptr);
    }
  }
  void TearDown() override {
    for (auto &channels : channels_)
      channels.reset();
    for (auto &endpoint : endpoints_)
      endpoint.reset();
    for (auto &worker : workers_)
      worker.reset();
  }

  static EdgeSpec edge(uint32_t peer, const Transfer &way) {
    return {Rank{peer}, {MessageId{0}}, {way}};
  }
  void open(const Transfer &sent, const Transfer &received) {
    std::vector<EdgeSpec> out{edge(1, sent)}, in{edge(0, received)};
    channels_[0] = endpoints_[0]->open({out, {}, {}, {}}).take();
    channels_[1] = endpoints_[1]->open({{}, in, {}, {}}).take();
  }
  void open(const Transfer &way) { open(way, way); }

  void start() {
    for (auto &channels : channels_)
      channels->start();
  }
  bool send(const Memory &from) {
    Posted posted = channels_[0]->send({0, 0}, OpId{0}, from.payload());
    open_[0] = posted == Posted::Pending;
    return posted != Posted::Failed;
  }
  bool recv(const Memory &to) {
    Posted posted = channels_[1]->recv({0, 0}, OpId{0}, to.payload());
    open_[1] = posted == Posted::Pending;
    return posted != Posted::Failed;
  }
  void poll(uint32_t rank) {
    if (!channels_[rank]->poll().empty())
      open_[rank] = false;
  }
  /// Empty: both ends are done.
  std::string finish() {
    for (int i = 0; i < 1000 && (open_[0] || open_[1]); ++i) {
      poll(0);
      poll(1);
      for (auto &channels : channels_)
        if (channels->failed())
          return channels->fault().reason;
    }
    return open_[0] ? "the send is pending" : open_[1] ? "the receive is pending" : "";
  }
  std::string runOnce(Memory &from, Memory &to, uint8_t first) {
    from.fill(first);
    start();
    if (!recv(to) || !send(from))
      return "failed at once";
    if (std::string why = finish(); !why.empty())
      return why;
    return from == to ? "" : "wrong data";
  }
  /// Slots that both ranks have filled.
  uint32_t numSlots() const {
    return workers_[0]->sendsTo(Rank{1})->wire().numSlots() +
           workers_[1]->sendsTo(Rank{0})->wire().numSlots();
  }

  std::unique_ptr<shm::World> world_;
  std::unique_ptr<LocalWorker> workers_[2];
  std::unique_ptr<LocalEndpoint> endpoints_[2];
  std::unique_ptr<Channels> channels_[2];
  bool open_[2] = {};
};

TEST_F(StaticMessages, goThroughNoFifoFromTheSecondRunOn) {
  for (const Transfer &way : {kStatic, kPut, kCanary})
    for (bool isShared : {true, false})
      for (uint64_t bytes : {1, 2, 3, 7, 8, 12, 13, 64, 5000, 40000, 300001}) {
        open(way);
        for (auto &channels : channels_)
          ASSERT_TRUE(channels->prepare({.maxBytes = bytes, .movedBytes = bytes}));
        Memory from(*workers_[0], isShared, bytes), to(*workers_[1], isShared, bytes);
        ASSERT_EQ(runOnce(from, to, 1), "") << bytes;
        uint32_t before = numSlots();
        for (uint8_t run = 2; run < 20; ++run)
          ASSERT_EQ(runOnce(from, to, static_cast<uint8_t>(run * 7)), "") << bytes;
        const protocol::LocalOptions &limits = workers_[0]->options();
        bool isLong = bytes >= limits.singleCopyMinBytes;
        bool isCopiedByBoth = bytes >= limits.cooperativeMinBytes && way == kStatic;
        EXPECT_EQ(numSlots() - before == 0,
                  !isCopiedByBoth && (isShared || (isLong && !way.canary)))
            << bytes << (isShared ? " shared" : " own");
      }
}

// The word is the flag.
TEST_F(StaticMessages, mayEndInTheCanary) {
  for (uint64_t bytes : {8, 12, 14, 15, 4096}) {
    open(kCanary);
    Memory from(*workers_[0], true, bytes), to(*workers_[1], true, bytes);
    for (uint8_t run = 0; run < 10; ++run) {
      from.fill(run);
      uint32_t width = shm::canaryBytesOf(reinterpret_cast<std::byte *>(to.data()), bytes);
      std::memcpy(from.data() + bytes - width, &shm::kCanary, width);
      start();
      ASSERT_TRUE(recv(to) && send(from));
      ASSERT_EQ(finish(), "") << bytes;
      ASSERT_TRUE(from == to);
    }
  }
}

TEST_F(StaticMessages, doNotWaitForALateReceiver) {
  open(kPut);
  for (uint64_t bytes : {1000, 100000}) {
    Memory from(*workers_[0], true, bytes), to(*workers_[1], true, bytes);
    ASSERT_EQ(runOnce(from, to, 1), "");
    start();
    ASSERT_TRUE(send(from));
    uint32_t before = numSlots();
    for (int i = 0; i < 100; ++i)
      poll(0);
    EXPECT_EQ(numSlots() - before, 1u);
    poll(1); // the message is here
    ASSERT_TRUE(recv(to));
    EXPECT_EQ(finish(), "");
    EXPECT_TRUE(from == to);
    EXPECT_EQ(runOnce(from, to, 2), "");
  }
}

// As much may be ahead as plans allow: one run.
TEST_F(StaticMessages, waitWhereTheyAreForAReceiverThatGetsThem) {
  open(kStatic);
  Memory from(*workers_[0], true, 1000), to(*workers_[1], true, 1000);
  ASSERT_EQ(runOnce(from, to, 1), "");
  uint32_t before = numSlots();
  start();
  from.fill(3);
  ASSERT_TRUE(send(from));
  for (int i = 0; i < 100; ++i)
    poll(0);
  EXPECT_TRUE(open_[0]);
  ASSERT_TRUE(recv(to)); // it is here
  EXPECT_FALSE(open_[1]);
  EXPECT_TRUE(from == to);
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(numSlots(), before);
}

// The receive is posted, and the message comes in another way all the same.
TEST_F(StaticMessages, comeAsOthersIfTheSenderKnowsOfNoRtr) {
  for (const Transfer &received : {kStatic, kPut, kCanary}) {
    open(Transfer(), received);
    for (uint64_t bytes : {8, 1000, 100000}) {
      Memory from(*workers_[0], true, bytes), to(*workers_[1], true, bytes);
      for (uint8_t run = 0; run < 4; ++run)
        EXPECT_EQ(runOnce(from, to, run), "") << bytes;
    }
  }
}

TEST_F(StaticMessages, goAsOthersIfTheReceiverNamesNone) {
  // Or names another end that copies.
  for (auto [sent, received] :
       {std::pair(kCanary, Transfer()), std::pair(kStatic, kPut), std::pair(kCanary, kStatic)}) {
    open(sent, received);
    Memory from(*workers_[0], true, 1000), to(*workers_[1], true, 1000);
    for (uint8_t run = 0; run < 4; ++run)
      EXPECT_EQ(runOnce(from, to, run), "");
  }
}

TEST_F(StaticMessages, mayBeElsewhereInEachRun) {
  for (const Transfer &way : {kStatic, kPut, kCanary}) {
    open(way);
    Memory from(*workers_[0], true, 4096);
    Memory places[] = {
        {*workers_[1], true, 4096}, {*workers_[1], false, 4096}, {*workers_[1], true, 4096}};
    for (uint8_t run = 0; run < 12; ++run)
      EXPECT_EQ(runOnce(from, places[run % 3], run), "");
  }
}

// Where the kernel does not let the receiver read, the message goes through the FIFO from then on.
TEST_F(StaticMessages, comeInFragmentsWhereTheKernelRefuses) {
  open(kStatic);
  Memory from(*workers_[0], false, 100000), to(*workers_[1], false, 100000);
  ASSERT_EQ(runOnce(from, to, 1), "");
  world_->control(Rank{0}).pid.store(1 << 30); // no such process
  for (uint8_t run = 2; run < 6; ++run)
    EXPECT_EQ(runOnce(from, to, run), "");
}

TEST_F(StaticMessages, ofAnotherLengthAreFound) {
  for (const Transfer &way : {kStatic, kPut, kCanary}) {
    open(way);
    Memory from(*workers_[0], true, 1000), to(*workers_[1], true, 1000);
    Memory longer(*workers_[1], true, 1001);
    ASSERT_EQ(runOnce(from, to, 1), "");
    start();
    ASSERT_TRUE(recv(longer) && send(from));
    EXPECT_EQ(finish(), "a message of 1000 bytes arrived where 1001 were expected");
    for (auto &channels : channels_)
      channels->cancel();
  }
}

// No byte moves into memory whose receive was cancelled.
TEST_F(StaticMessages, thatAreCancelledMoveNothing) {
  for (const Transfer &way : {kStatic, kPut, kCanary}) {
    open(way);
    Memory from(*workers_[0], true, 100000), to(*workers_[1], true, 100000);
    ASSERT_EQ(runOnce(from, to, 1), "");
    start();
    ASSERT_TRUE(recv(to));
    channels_[1]->abort({Rank{1}, kNoOp, "enough"});
    channels_[1]->cancel();
    to.fill(77);
    from.fill(9);
    send(from);
    for (int i = 0; i < 200; ++i)
      poll(0);
    Memory untouched(*workers_[1], true, 100000);
    untouched.fill(77);
    EXPECT_TRUE(to == untouched);
    EXPECT_FALSE(channels_[0]->check());
    channels_[0]->cancel();
  }
}

TEST_F(StaticMessages, thatAreCancelledAreNotRead) {
  open(kStatic);
  Memory from(*workers_[0], true, 1000), to(*workers_[1], true, 1000);
  ASSERT_EQ(runOnce(from, to, 1), "");
  start();
  ASSERT_TRUE(send(from));
  channels_[0]->abort({Rank{0}, kNoOp, "enough"});
  channels_[0]->cancel();
  from.fill(9);
  to.fill(77);
  ASSERT_TRUE(recv(to));
  for (int i = 0; i < 200; ++i)
    poll(1);
  EXPECT_TRUE(open_[1]);
  Memory untouched(*workers_[1], true, 1000);
  untouched.fill(77);
  EXPECT_TRUE(to == untouched);
  EXPECT_FALSE(channels_[1]->check());
  channels_[1]->cancel();
}

TEST_F(StaticMessages, ofAPlanThatIsClosedFail) {
  open(kPut);
  Memory from(*workers_[0], true, 100), to(*workers_[1], true, 100);
  ASSERT_EQ(runOnce(from, to, 1), "");
  start();
  ASSERT_TRUE(recv(to));
  channels_[0].reset();
  poll(1);
  EXPECT_FALSE(channels_[1]->check());
  EXPECT_EQ(channels_[1]->fault().reason, "rank 0 has closed the plan");
}

// What a plan has for its RTRs is free once both ends have closed it.
TEST_F(StaticMessages, keepNoMemory) {
  Memory from(*workers_[0], true, 64), to(*workers_[1], true, 64);
  std::vector<Transfer> ways(1000, kCanary);
  std::vector<MessageId> ids;
  for (uint32_t m = 0; m < ways.size(); ++m)
    ids.push_back(MessageId{m});
  std::vector<EdgeSpec> out{{Rank{1}, ids, ways}}, in{{Rank{0}, ids, ways}};
  for (int plan = 0; plan < 6000; ++plan) { // 64 KiB each, of 256 MiB
    channels_[0] = endpoints_[0]->open({out, {}, {}, {}}).take();
    channels_[1] = endpoints_[1]->open({{}, in, {}, {}}).take();
    if (plan % 1000 == 0) {
      ASSERT_EQ(runOnce(from, to, 1), "");
      uint32_t before = numSlots();
      ASSERT_EQ(runOnce(from, to, 2), "");
      EXPECT_EQ(numSlots(), before) << "plan " << plan;
    }
    for (auto &channels : channels_)
      channels.reset();
    for (auto &worker : workers_)
      worker->progress();
  }
}

/// A rank of two, which are threads. Empty: each run brought what the other rank sent.
std::string exchange(shm::World &world, Rank self, const Transfer &way, uint64_t bytes) {
  LocalWorker worker(world, self, protocol::LocalOptions{});
  LocalEndpoint endpoint(worker, RankGroup::ofAll(2, self), nullptr);
  std::vector<EdgeSpec> edges{{Rank{1 - index(self)}, {MessageId{0}}, {way}}};
  auto channels = endpoint.open({edges, edges, {}, {}}).take();
  Memory from(worker, true, bytes), to(worker, true, bytes), expected(worker, true, bytes);
  for (uint32_t run = 0; run < 300; ++run) {
    from.fill(static_cast<uint8_t>(3 * run + index(self)));
    expected.fill(static_cast<uint8_t>(3 * run + 1 - index(self)));
    channels->start();
    size_t pending = channels->recv({0, 0}, OpId{0}, to.payload()) == Posted::Pending;
    pending += channels->send({0, 0}, OpId{1}, from.payload()) == Posted::Pending;
    while (pending > 0 && channels->check())
      pending -= channels->poll().size();
    if (channels->failed())
      return channels->fault().reason;
    if (!(to == expected))
      return "wrong data in run " + std::to_string(run);
  }
  return "";
}

TEST(StaticThreads, exchange) {
  for (const Transfer &way : {kStatic, kPut, kCanary})
    for (uint64_t bytes : {1, 8, 13, 4096, 100000}) {
      auto world = shm::World::create(2, {});
      ASSERT_TRUE(world.ok()) << world.message();
      for (uint32_t r : {0u, 1u})
        (*world)->control(Rank{r}).pid.store(getpid());
      std::string wrong;
      std::thread other([&] { wrong = exchange(**world, Rank{1}, way, bytes); });
      EXPECT_EQ(exchange(**world, Rank{0}, way, bytes), "") << bytes;
      other.join();
      EXPECT_EQ(wrong, "") << bytes;
    }
}

} // namespace
} // namespace colldsl::test

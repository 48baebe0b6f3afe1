// Faults of messages between devices, whose steps the test orders: one thread is all ranks.
#include "executor/Plan.h"
#include "protocol/fake/FakeWorld.h"
#include "tests/device/DeviceInts.h"
#include "tests/executor/Schedules.h"

#include <gtest/gtest.h>
#include <optional>

namespace colldsl::test {
namespace {

constexpr std::chrono::seconds kLong{30};
constexpr uint32_t kCount = 4;
constexpr Rank kFirst{0}, kMiddle{1}, kLast{2};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class OrderedRanks : public testing::Test {
protected:
  OrderedRanks() { FakeDevice::reset({}); }
  ~OrderedRanks() override { EXPECT_EQ(FakeDevice::misuse(), ""); }

  /// Messages come at the first poll. The k-th one that any rank starts fails; 0: none.
  void make(uint32_t numRanks, uint64_t failAt = 0) {
    FakeDevice::release(); // plans that end under way wait for it
    plans_.clear();
    engines_.clear();
    endpoints_.clear();
    buffers_.clear();
    builder_ = Builder(numRanks);
    fake::Options options;
    options.reorder = false;
    options.maxDelayTicks = 0;
    options.failAt = failAt;
    world_.emplace(numRanks, options);
  }

  /// Opens the plans of all ranks, with buffers of `blocks` blocks of the device.
  void open(std::vector<uint32_t> blocks, std::vector<uint32_t> contexts = {}) {
    image_.emplace(builder_.schedule);
    for (uint32_t r = 0; r < builder_.schedule.numRanks(); ++r) {
      endpoints_.push_back(world_->attach(Rank{r}));
      engines_.push_back(std::make_unique<Engine>(*endpoints_[r]));
      buffers_.emplace_back();
      std::vector<BoundBuffer> bound;
      for (uint32_t count : blocks) {
        buffers_[r].emplace_back(count * kCount, contexts.empty() ? 0 : contexts[r]);
        DeviceInts &ints = buffers_[r].back();
        for (size_t i = 0; i < ints.size; ++i)
          ints[i] = static_cast<int32_t>(100 * r + i);
        bound.push_back(ints.bound());
      }
      auto plan = Plan::open(*engines_[r], (*image_)->rank(Rank{r}), (*image_)->sizeClass(),
                             deviceOnlyBindingOf(kCount, bound));
      ASSERT_TRUE(plan.ok()) << plan.message();
      plans_.push_back(plan.take());
    }
  }

  Plan &plan(Rank r) { return *plans_[index(r)]; }

  /// Moves these ranks until the device has been given so many copies.
  void moveUntilCopies(std::vector<Rank> ranks, uint64_t copies) {
    for (int i = 0; i < 1000 && FakeDevice::copies() < copies; ++i)
      for (Rank r : ranks)
        plan(r).progress();
    ASSERT_EQ(FakeDevice::copies(), copies);
  }

  Builder builder_{1};
  std::optional<fake::World> world_;
  std::optional<LoadedImage> image_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<std::vector<DeviceInts>> buffers_; ///< by rank
  std::vector<std::unique_ptr<Plan>> plans_;
};

// The copy reads what the sender writes after its own run has failed.
TEST_F(OrderedRanks, aReceiverDoesNotSucceedWithBytesOfASenderThatTimedOut) {
  make(2);
  BufferId y = builder_.buffer(BufferRole::InOut, 1);
  builder_.send(kFirst, kMiddle, {builder_.block(y, 0)});
  builder_.recv(kMiddle, kFirst, {builder_.block(y, 0)});
  open({1});
  FakeDevice::hold();
  ASSERT_TRUE(plan(kFirst).start().ok());
  ASSERT_TRUE(plan(kMiddle).start().ok());
  moveUntilCopies({kFirst, kMiddle}, 1);
  EXPECT_FALSE(plan(kFirst).wait(std::chrono::milliseconds(1)).ok());
  ASSERT_TRUE(plan(kFirst).timedOut());
  buffers_[0][0][0] = -1;
  FakeDevice::release();
  plan(kMiddle).progress();
  Status s = plan(kMiddle).wait(kLong);
  EXPECT_EQ(buffers_[1][0][0], -1) << "the copy has not read the sender's memory late";
  EXPECT_TRUE(contains(s.message(), "timed out after ")) << s.message();
}

// The first one is a copy of a message, whose answer fails; the other one packs a message.
TEST_F(OrderedRanks, workThatFinishesBehindAFaultBeginsNoMessage) {
  auto prepare = [&](uint64_t failAt) {
    make(3, failAt);
    BufferId x = builder_.buffer(BufferRole::In, 3), y = builder_.buffer(BufferRole::Out, 3);
    builder_.send(kFirst, kMiddle, {builder_.block(x, 0)});
    builder_.recv(kMiddle, kFirst, {builder_.block(y, 0)});
    OpId comes = builder_.wait(kMiddle, kLast);
    builder_.signal(kLast, kMiddle);
    builder_.send(kMiddle, kLast, {builder_.block(x, 0), builder_.block(x, 2)}, {after(comes)});
    builder_.recv(kLast, kMiddle, {builder_.block(y, 0), builder_.block(y, 2)});
  };
  auto runUntilRelease = [&] {
    FakeDevice::reset({});
    open({3, 3});
    FakeDevice::hold();
    ASSERT_TRUE(plan(kFirst).start().ok());
    ASSERT_TRUE(plan(kMiddle).start().ok());
    moveUntilCopies({kFirst, kMiddle}, 1);
    ASSERT_TRUE(plan(kLast).start().ok());
    moveUntilCopies({kLast, kMiddle}, 3);
  };
  prepare(0);
  runUntilRelease();
  uint64_t answer = world_->started() + 1;
  prepare(answer);
  runUntilRelease();
  FakeDevice::release();
  EXPECT_TRUE(plan(kMiddle).running());
  plan(kMiddle).progress();
  EXPECT_TRUE(contains(plan(kMiddle).status().message(), "injected fault"));
  EXPECT_EQ(world_->started(), answer);
}

// The memory of the first offer cannot be opened; the other one is of the receiver's own context.
TEST_F(OrderedRanks, anOfferBehindAFaultBeginsNoCopy) {
  make(3);
  BufferId x = builder_.buffer(BufferRole::InOut, 2);
  for (Rank from : {kFirst, kLast}) {
    builder_.send(from, kMiddle, {builder_.block(x, 0)});
    builder_.recv(kMiddle, from, {builder_.block(x, from == kFirst ? 0 : 1)});
  }
  open({2}, {1, 0, 0});
  ASSERT_TRUE(plan(kFirst).start().ok());
  ASSERT_TRUE(plan(kLast).start().ok());
  Status s = plan(kMiddle).start();
  EXPECT_TRUE(contains(s.message(), "memory of this process is of another context")) << s.message();
  EXPECT_EQ(FakeDevice::copies(), 0u);
}

} // namespace
} // namespace colldsl::test

// Runs and streams in order, on the fake device.
#include "device/StreamOrder.h"
#include "tests/device/FakeDevice.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using device::CuStream;
using device::kCudaSuccess;
using device::StreamOrder;

/// Streams of one context, and memory on which they work.
class Streams : public testing::Test {
protected:
  Streams() { begin({}); }
  ~Streams() override {
    order_.reset();
    EXPECT_EQ(FakeDevice::misuse(), "");
    device::CuContext context;
    driver_.ctxPopCurrent(&context);
  }
  void begin(const FakeDeviceOptions &options) {
    order_.reset();
    FakeDevice::reset(options);
    device::CuContext context;
    if (isCurrent_)
      driver_.ctxPopCurrent(&context);
    driver_.ctxPushCurrent(FakeDevice::context(0));
    isCurrent_ = true;
    memory_ = static_cast<std::byte *>(FakeDevice::allocate(kPieces));
    for (size_t i = 0; i < kPieces; ++i)
      memory_[i] = std::byte(i);
    auto opened = StreamOrder::open(driver_, FakeDevice::context(0));
    why_ = opened ? "" : opened.message();
    if (opened)
      order_ = opened.take();
  }
  CuStream stream() {
    CuStream made = nullptr;
    driver_.streamCreate(&made, 0);
    return made;
  }
  /// Adds a copy from one piece to another.
  void copy(CuStream stream, size_t to, size_t from) {
    auto base = reinterpret_cast<device::DeviceAddress>(memory_);
    ASSERT_EQ(driver_.memcpyDtoDAsync(base + to, base + from, 1, stream), kCudaSuccess);
  }
  int at(size_t piece) const { return static_cast<int>(memory_[piece]); }
  /// True: the stream comes to its end by itself.
  static bool ends(CuStream stream) { return FakeDevice::synchronize(stream); }

  static constexpr size_t kPieces = 16;
  const device::CudaDriver &driver_ = FakeDevice::driver();
  bool isCurrent_ = false;
  std::byte *memory_ = nullptr;
  std::unique_ptr<StreamOrder> order_;
  std::string why_;
};

TEST_F(Streams, aRunFollowsWhatTheStreamHolds) {
  bool wasLater = false;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    begin({.seed = seed});
    CuStream producer = stream();
    for (size_t i = 1; i <= 3; ++i)
      copy(producer, i + 1, i);
    ASSERT_TRUE(order_->mark(producer).ok());
    copy(producer, 5, 6); // not before the mark
    for (int polls = 0; !*order_->reached(); ++polls) {
      wasLater = true;
      ASSERT_LT(polls, 1000);
    }
    EXPECT_EQ(at(4), 1) << "seed " << seed;
  }
  EXPECT_TRUE(wasLater);
}

TEST_F(Streams, anEmptyStreamIsReached) {
  CuStream producer = stream();
  ASSERT_TRUE(order_->mark(producer).ok());
  EXPECT_TRUE(ends(producer));
  EXPECT_TRUE(*order_->reached());
}

TEST_F(Streams, streamsFollowTheRun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    begin({.seed = seed});
    CuStream first = stream(), second = stream(), other = stream();
    for (CuStream consumer : {first, second})
      ASSERT_TRUE(order_->follow(consumer).ok());
    copy(first, 8, 1);
    copy(second, 9, 1);
    copy(other, 10, 1);
    EXPECT_FALSE(ends(first));
    EXPECT_FALSE(ends(second));
    EXPECT_TRUE(ends(other)) << "a stream that does not wait stands still";
    memory_[1] = std::byte(77); // the run
    order_->complete(false);
    EXPECT_TRUE(ends(first) && ends(second));
    EXPECT_EQ(at(8), 77);
    EXPECT_EQ(at(9), 77);
    EXPECT_EQ(at(10), 1);
  }
}

TEST_F(Streams, theEndOfOneRunIsNotThatOfTheNext) {
  CuStream consumer = stream();
  for (int run = 0; run < 5; ++run) {
    ASSERT_TRUE(order_->follow(consumer).ok());
    EXPECT_FALSE(ends(consumer)) << run;
    order_->complete(false);
    EXPECT_TRUE(ends(consumer)) << run;
    order_->complete(false); // a run that nobody follows
  }
}

TEST_F(Streams, aRunThatFailedLetsStreamsGoOnAndTheWordTells) {
  CuStream consumer = stream();
  for (bool failed : {true, false}) {
    ASSERT_TRUE(order_->follow(consumer).ok());
    EXPECT_FALSE(ends(consumer));
    order_->complete(failed);
    EXPECT_TRUE(ends(consumer));
    uint32_t odd = failed ? 3 : 5;
    CuStream reader = stream();
    ASSERT_EQ(driver_.streamWaitValue32(reader, order_->word(), odd, device::kWaitValueGeq),
              kCudaSuccess);
    EXPECT_EQ(ends(reader), failed);
    driver_.streamDestroy(reader);
  }
}

TEST_F(Streams, workThatFailsBeforeTheMarkIsAnError) {
  begin({.failStreamAt = 1});
  CuStream producer = stream();
  copy(producer, 1, 2);
  ASSERT_TRUE(order_->mark(producer).ok());
  EXPECT_TRUE(ends(producer));
  Result<bool> reached = order_->reached();
  ASSERT_FALSE(reached.ok());
  EXPECT_EQ(reached.message(), "cuEventQuery failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

TEST_F(Streams, aStreamOfAnotherContextIsRefused) {
  driver_.ctxPushCurrent(FakeDevice::context(1));
  CuStream other = stream();
  device::CuContext context;
  driver_.ctxPopCurrent(&context);
  EXPECT_EQ(*device::contextOfStream(driver_, other), FakeDevice::context(1));
  EXPECT_EQ(*device::contextOfStream(driver_, nullptr), FakeDevice::context(0));
  EXPECT_FALSE(order_->mark(other).ok());
  Status s = order_->follow(other);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "cuStreamWaitValue32 failed: CUDA_ERROR_INVALID_HANDLE (400)");
}

TEST_F(Streams, theEndLetsStreamsGoOn) {
  CuStream consumer = stream();
  ASSERT_TRUE(order_->follow(consumer).ok());
  EXPECT_FALSE(ends(consumer));
  order_.reset();
  EXPECT_TRUE(ends(consumer));
  EXPECT_EQ(FakeDevice::left(), 1u); // the stream
}

// The device would look at memory that is not there.
TEST_F(Streams, aWordThatAStreamMayReadStays) {
  begin({.stallAt = 1});
  CuStream consumer = stream();
  copy(consumer, 1, 2);
  ASSERT_TRUE(order_->follow(consumer).ok());
  order_.reset();
  EXPECT_GE(FakeDevice::left(), 2u);
}

TEST_F(Streams, aWaitThatWasNotRecordedKeepsTheWord) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    begin({.seed = seed, .failCall = "cuEventRecord", .failCallAt = 1});
    CuStream consumer = stream();
    EXPECT_FALSE(order_->follow(consumer).ok());
    order_.reset();
    EXPECT_TRUE(ends(consumer));
    ASSERT_EQ(FakeDevice::misuse(), "") << "seed " << seed;
  }
}

TEST_F(Streams, callsThatFailNameThemselves) {
  for (auto [symbol, name] : {std::pair{"cuMemHostRegister_v2", "cuMemHostRegister failed"},
                              {"cuMemHostGetDevicePointer_v2", "cuMemHostGetDevicePointer failed"},
                              {"cuEventCreate", "cuEventCreate failed"}}) {
    begin({.failCall = symbol, .failCallAt = 1});
    if (order_) {
      why_ = order_->follow(stream()).message();
      order_.reset();
    }
    EXPECT_EQ(why_.substr(0, std::string(name).size()), name);
    EXPECT_LE(FakeDevice::left(), 1u) << symbol << ": the stream";
  }
}

// Runs that follow streams need no words.
TEST_F(Streams, anOldDriverIsAnErrorForStreamsThatFollow) {
  device::CudaDriver old = driver_;
  old.streamWaitValue32 = nullptr;
  auto order = StreamOrder::open(old, FakeDevice::context(0));
  ASSERT_TRUE(order.ok());
  CuStream producer = stream();
  ASSERT_TRUE((*order)->mark(producer).ok());
  EXPECT_TRUE(ends(producer));
  EXPECT_TRUE(*(*order)->reached());
  (*order)->complete(false);
  EXPECT_EQ((*order)->follow(producer).message(),
            "the driver of CUDA is too old for streams that wait for a plan: it has no function "
            "cuStreamWaitValue32_v2");
}

} // namespace
} // namespace colldsl::test

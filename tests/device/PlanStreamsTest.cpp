// Plans whose runs follow streams of the caller, and streams that follow runs.
#include "executor/Plan.h"
#include "tests/device/DeviceInts.h"
#include "tests/device/OneRank.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <gtest/gtest.h>
#include <thread>

namespace colldsl::test {
namespace {

using Ints = std::vector<int32_t>;
constexpr std::chrono::seconds kLong{30};

const device::CudaDriver &driver() { return FakeDevice::driver(); }

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// A stream of this thread, which has the context.
class Stream {
public:
  explicit Stream(uint32_t context = 0) : current_(driver(), FakeDevice::context(context)) {
    driver().streamCreate(&handle_, 0);
  }
  ~Stream() { driver().streamDestroy(handle_); }
  device::CuStream get() const { return handle_; }
  void copy(const DeviceInts &to, const DeviceInts &from) const {
    EXPECT_EQ(driver().memcpyDtoDAsync(reinterpret_cast<device::DeviceAddress>(to.data),
                                       reinterpret_cast<device::DeviceAddress>(from.data),
                                       from.size * sizeof(int32_t), handle_),
              device::kCudaSuccess);
  }
  /// True: the stream comes to its end by itself.
  bool ends() const { return FakeDevice::synchronize(handle_); }

private:
  device::CurrentContext current_;
  device::CuStream handle_ = nullptr;
};

/// The value of an element of a rank's block in a run.
int32_t valueOf(int run, uint32_t rank, size_t i) {
  return run * 10000 + static_cast<int32_t>(rank * 100 + i);
}

constexpr int kRuns = 3;
constexpr size_t kElements = 5;

/// An allgather in whose runs a rank looks at no stream: it copies its input to x on one, starts
/// there, and copies y from there. Returns what went wrong.
std::string allgatherOnStreams(Engine &engine, const LoadedImage &image, Rank r,
                               uint32_t numRanks) {
  DeviceInts x(kElements), y(kElements * numRanks);
  Stream stream;
  Binding binding;
  binding.elements = kElements;
  binding.buffers = {x.bound(), y.bound()};
  binding.segmentBytes = 8;
  auto plan = Plan::open(engine, image->rank(r), image->sizeClass(), binding);
  if (!plan)
    return plan.message();
  std::vector<DeviceInts> inputs, results;
  std::string end;
  for (int run = 0; run < kRuns && end.empty(); ++run) {
    const DeviceInts &input = inputs.emplace_back(kElements);
    for (size_t i = 0; i < kElements; ++i)
      input.data[i] = valueOf(run, index(r), i);
    stream.copy(x, input);
    Status s = (*plan)->startOnStream(driver(), stream.get());
    if (s)
      s = (*plan)->waitOnStream(driver(), stream.get());
    stream.copy(results.emplace_back(y.size), y);
    if (s)
      s = (*plan)->wait(kLong);
    end = s ? "" : s.message();
  }
  if (!stream.ends())
    return end + " a stream waits for good";
  for (int run = 0; run < kRuns && end.empty(); ++run)
    for (uint32_t from = 0; from < numRanks; ++from)
      for (size_t i = 0; i < kElements; ++i)
        if (results[static_cast<size_t>(run)].data[from * kElements + i] != valueOf(run, from, i))
          end = "run " + std::to_string(run) + ": wrong data from rank " + std::to_string(from);
  return end;
}

std::vector<std::string> allgatherOnStreams(uint32_t numRanks, uint64_t seed) {
  fake::World world(numRanks, {.seed = seed});
  LoadedImage image(ringAllgather(numRanks));
  std::vector<std::string> ends(numRanks);
  runThreads(numRanks, [&](Rank r) -> std::string {
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    return ends[index(r)] = allgatherOnStreams(engine, image, r, numRanks);
  });
  return ends;
}

TEST(PlanStreams, runsAndStreamsFollowEachOther) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    FakeDevice::reset({.seed = seed});
    for (const std::string &end : allgatherOnStreams(3, seed))
      EXPECT_EQ(end, "") << "seed " << seed;
    EXPECT_EQ(FakeDevice::misuse(), "");
    EXPECT_EQ(FakeDevice::left(), 0u);
  }
}

// A copy of any stream fails, of the caller's or the plan's.
TEST(PlanStreams, aRunThatFailsHoldsNoStream) {
  FakeDevice::reset({});
  allgatherOnStreams(3, 1);
  const uint64_t all = FakeDevice::copies();
  ASSERT_GT(all, 30u);
  uint64_t failures = 0;
  for (uint64_t k = 1; k <= all; ++k) {
    FakeDevice::reset({.seed = k, .failStreamAt = k});
    for (const std::string &end : allgatherOnStreams(3, k)) {
      EXPECT_FALSE(contains(end, "a stream waits for good")) << k << ": " << end;
      failures += !end.empty();
    }
    EXPECT_EQ(FakeDevice::misuse(), "") << k;
  }
  EXPECT_GT(failures, all);
}

/// A plan of one rank that copies x to y.
class OneRankOnStreams : public OneRank {
protected:
  OneRankOnStreams() { begin({}); }
  void begin(const FakeDeviceOptions &options) {
    plan_.reset();
    FakeDevice::reset(options);
    if (!image_) {
      BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
      builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
      image_.emplace(builder_.schedule);
    }
  }
  void open(const BoundBuffer &x, const BoundBuffer &y) {
    Binding binding;
    binding.elements = kElements;
    binding.buffers = {x, y};
    auto plan = Plan::open(engine_, (*image_)->rank(kMe), (*image_)->sizeClass(), binding);
    ASSERT_TRUE(plan.ok()) << plan.message();
    plan_ = plan.take();
  }
  Status startOn(const Stream &stream) { return plan_->startOnStream(driver(), stream.get()); }
  Status waitOn(const Stream &stream) { return plan_->waitOnStream(driver(), stream.get()); }

  std::unique_ptr<Plan> plan_;
};

TEST_F(OneRankOnStreams, aRunThatWaitsForItsStreamEndsInTime) {
  begin({.stallAt = 1});
  DeviceInts x(kElements), y(kElements), input(kElements);
  Stream producer, consumer;
  open(x.bound(), y.bound());
  producer.copy(x, input);
  ASSERT_TRUE(startOn(producer).ok());
  ASSERT_TRUE(waitOn(consumer).ok());
  EXPECT_FALSE(plan_->waitFor(std::chrono::milliseconds(20)));
  EXPECT_TRUE(plan_->running());
  EXPECT_FALSE(consumer.ends());
  EXPECT_EQ(FakeDevice::copies(), 1u) << "the run has begun";
  Status s = plan_->wait(std::chrono::milliseconds(1));
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "timed out after 0.001 s, before a stream came to the start of the run");
  EXPECT_TRUE(consumer.ends());
  EXPECT_FALSE(engine_.calculates());
}

TEST_F(OneRankOnStreams, workThatFailsBeforeTheRunFailsIt) {
  begin({.failStreamAt = 1});
  DeviceInts x(kElements), y(kElements), input(kElements);
  Stream producer, consumer;
  open(x.bound(), y.bound());
  producer.copy(x, input);
  ASSERT_TRUE(startOn(producer).ok());
  ASSERT_TRUE(waitOn(consumer).ok());
  Status s = plan_->wait(kLong);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "the stream before the run failed: cuEventQuery failed: "
                         "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_TRUE(consumer.ends());
  EXPECT_FALSE(waitOn(consumer).ok());
}

TEST_F(OneRankOnStreams, aStreamDoesNotWaitForRunsThatAreOver) {
  DeviceInts x(kElements), y(kElements);
  Stream stream;
  open(x.bound(), y.bound());
  ASSERT_TRUE(waitOn(stream).ok());
  EXPECT_TRUE(stream.ends());
  ASSERT_TRUE(startOn(stream).ok());
  ASSERT_TRUE(plan_->wait(kLong).ok());
  ASSERT_TRUE(waitOn(stream).ok());
  EXPECT_TRUE(stream.ends());
}

TEST_F(OneRankOnStreams, theEndOfThePlanLetsStreamsGoOn) {
  begin({.stallAt = 1});
  DeviceInts x(kElements), y(kElements), input(kElements);
  Stream producer, consumer;
  open(x.bound(), y.bound());
  producer.copy(x, input);
  ASSERT_TRUE(startOn(producer).ok());
  ASSERT_TRUE(waitOn(consumer).ok());
  EXPECT_FALSE(consumer.ends());
  plan_.reset();
  EXPECT_TRUE(consumer.ends());
  EXPECT_EQ(FakeDevice::left(), 2u); // the streams
  EXPECT_EQ(FakeDevice::misuse(), "");
}

// Another thread makes the progress.
TEST_F(OneRankOnStreams, aThreadMayWaitForTheStreamAlone) {
  DeviceInts x(kElements), y(kElements), input(kElements), result(kElements);
  Stream stream;
  open(x.bound(), y.bound());
  input.data[kElements - 1] = 77;
  stream.copy(x, input);
  ASSERT_TRUE(startOn(stream).ok());
  ASSERT_TRUE(waitOn(stream).ok());
  stream.copy(result, y);
  std::thread progress([&] { EXPECT_TRUE(plan_->wait(kLong).ok()); });
  auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!stream.ends() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(result.data[kElements - 1], 77);
  progress.join();
}

// Memory of the host has no stage, but a stream may have filled it. A run that the host starts is
// followed, too.
TEST_F(OneRankOnStreams, memoryOfTheHostHasAnOrderToo) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    begin({.seed = seed});
    Ints x(kElements), y(kElements);
    DeviceInts input(kElements), result(kElements);
    Stream stream;
    size_t bytes = kElements * sizeof(int32_t);
    for (Ints *memory : {&x, &y})
      driver().memHostRegister(memory->data(), bytes, 0);
    open({x.data(), bytes}, {y.data(), bytes});
    for (int32_t run = 1; run <= 4; ++run) {
      input.data[0] = run;
      driver().memcpyDtoHAsync(x.data(), reinterpret_cast<device::DeviceAddress>(input.data), bytes,
                               stream.get());
      bool isOnStream = run % 2 == 1;
      EXPECT_TRUE(isOnStream || stream.ends());
      ASSERT_TRUE((isOnStream ? startOn(stream) : plan_->start()).ok());
      ASSERT_TRUE(waitOn(stream).ok());
      driver().memcpyHtoDAsync(reinterpret_cast<device::DeviceAddress>(result.data), y.data(),
                               bytes, stream.get());
      ASSERT_TRUE(plan_->wait(kLong).ok());
      EXPECT_TRUE(stream.ends());
      EXPECT_EQ(result.data[0], run);
    }
    EXPECT_EQ(FakeDevice::misuse(), "");
    for (Ints *memory : {&x, &y})
      driver().memHostUnregister(memory->data());
  }
}

TEST_F(OneRankOnStreams, wrongCallsAreErrors) {
  begin({.stallAt = 1});
  DeviceInts x(kElements), y(kElements), input(kElements);
  Stream stream;
  open(x.bound(), y.bound());
  stream.copy(x, input);
  ASSERT_TRUE(startOn(stream).ok());
  Status again = startOn(stream);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.message(), "the plan is running");
  Stream other(1);
  Status s = waitOn(other);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "the streams of a run are of different contexts");
  static device::CudaDriver old = driver(); // outlives the plan
  old.streamWaitValue32 = nullptr;
  open(x.bound(), y.bound());
  ASSERT_TRUE(plan_->startOnStream(old, stream.get()).ok());
  s = plan_->waitOnStream(old, stream.get());
  ASSERT_FALSE(s.ok());
  EXPECT_TRUE(contains(s.message(), "the driver of CUDA is too old")) << s.message();
  EXPECT_TRUE(plan_->running());
}

} // namespace
} // namespace colldsl::test

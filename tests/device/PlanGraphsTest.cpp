// Plans in CUDA graphs: what is refused, how graphs and runs mix, and how failures end graphs.
#include "executor/Plan.h"
#include "tests/device/Captured.h"
#include "tests/device/OneRank.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <barrier>
#include <gtest/gtest.h>
#include <thread>

namespace colldsl::test {
namespace {

using Ints = std::vector<int32_t>;
constexpr std::chrono::seconds kLong{30};
constexpr size_t kElements = 5;

const device::CudaDriver &driver() { return FakeDevice::driver(); }

/// Called before calls of watchedDriver() by this thread; true: the call fails.
thread_local std::function<bool()> onCall;

template <auto Call> struct Watched;
template <typename... Parameters, device::CuResult (*device::CudaDriver::*Call)(Parameters...)>
struct Watched<Call> {
  static device::CuResult call(Parameters... parameters) {
    return onCall && onCall() ? kCudaIllegalAddress : (driver().*Call)(parameters...);
  }
};

template <auto... Calls> device::CudaDriver watched() {
  device::CudaDriver made = driver();
  ((made.*Calls = Watched<Calls>::call), ...);
  return made;
}

using Driver = device::CudaDriver;

/// Watches all calls that may be part of a capture.
const Driver &watchedDriver() {
  static const Driver made =
      watched<&Driver::streamGetCtx, &Driver::eventCreate, &Driver::eventRecord,
              &Driver::memcpyDtoDAsync, &Driver::streamWaitValue64, &Driver::streamWriteValue32>();
  return made;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Integers in device memory.
struct DeviceInts {
  explicit DeviceInts(size_t count)
      : size(count), data(static_cast<int32_t *>(FakeDevice::allocate(count * sizeof(int32_t)))) {}
  BoundBuffer bound(const device::CudaDriver &by = driver()) const {
    return {data, size * sizeof(int32_t), false, &by};
  }
  size_t size;
  int32_t *data;
};

Binding deviceOnly(uint64_t n, std::vector<BoundBuffer> buffers) {
  Binding binding;
  binding.elements = n;
  binding.buffers = std::move(buffers);
  binding.segmentBytes = 8;
  binding.deviceOnly = true;
  binding.deviceMessagesFrom = 1;
  return binding;
}

std::string runOnce(Plan &plan) {
  Status s = plan.start();
  if (s)
    s = plan.wait(kLong);
  return s ? "" : s.message();
}

/// Empty, or why the plan was not captured; the capture ends well in any case.
std::string capture(Plan &plan, const CapturingStream &stream,
                    std::unique_ptr<LaunchableGraph> &graph, const Driver &by = driver()) {
  stream.begin();
  Status s = plan.startOnStream(by, stream.get());
  graph = std::make_unique<LaunchableGraph>(stream);
  EXPECT_EQ(graph->end(), device::kCudaSuccess);
  return s ? "" : s.message();
}

/// y[r] == x@r, which its rank sends to each other one from a temporary. Buffers: in x: T[n], out
/// y: T[P][n].
Schedule allgatherFromTemporaries(uint32_t numRanks) {
  Builder b(numRanks);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, numRanks);
  BufferId sent = b.buffer(BufferRole::Temp, 1);
  for (uint32_t r = 0; r < numRanks; ++r) {
    Rank me{r};
    b.copy(me, {b.block(x, 0)}, {b.block(y, r)});
    OpId copied = b.copy(me, {b.block(x, 0)}, {b.block(sent, 0)});
    for (uint32_t k = 1; k < numRanks; ++k) {
      Rank from = rightOf(me, numRanks - k, numRanks);
      b.send(me, rightOf(me, k, numRanks), {b.block(sent, 0)}, {after(copied)});
      b.recv(me, from, {b.block(y, index(from))});
    }
  }
  return b.schedule;
}

/// One rank of an allgather whose plan was captured after a run.
struct GraphRank {
  GraphRank(Engine &engine, const LoadedImage &image, Rank rank, uint32_t numRanks,
            const Driver &by)
      : by(by), rank(index(rank)), numRanks(numRanks), x(kElements), y(kElements * numRanks) {
    auto opened = Plan::open(engine, image->rank(rank), image->sizeClass(), binding());
    if (!opened)
      return;
    plan = opened.take();
    wrong = runOnce(*plan);
    wrong += capture(*plan, stream, graph, by);
  }
  Binding binding() const { return deviceOnly(kElements, {x.bound(by), y.bound(by)}); }
  /// Binds the plan, so that no graph has it, and runs it on all ranks.
  std::string bindAnew() const {
    Status s = plan->bind(binding());
    return s ? runOnce(*plan) : s.message();
  }
  void fill(int32_t with) const {
    for (size_t i = 0; i < kElements; ++i)
      x.data[i] = with + static_cast<int32_t>(rank);
  }
  /// True: y has what all ranks were filled with.
  bool has(int32_t with) const {
    for (size_t i = 0; i < y.size; ++i)
      if (y.data[i] != with + static_cast<int32_t>(i / kElements))
        return false;
    return true;
  }
  bool ends() const { return FakeDevice::synchronize(stream.get()); }
  /// Looks for failures until the stream has come to its end.
  bool endsAsItLooks() const {
    auto deadline = std::chrono::steady_clock::now() + kLong;
    while (!ends() && std::chrono::steady_clock::now() < deadline)
      if (plan)
        plan->test();
    return ends();
  }

  const Driver &by;
  uint32_t rank, numRanks;
  DeviceInts x, y;
  CapturingStream stream;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<LaunchableGraph> graph;
  std::string wrong = "the plan was not opened";
};

/// Runs the body on all ranks, which may wait for each other. Empty, or all complaints.
using Body = std::function<std::string(GraphRank &, std::barrier<> &)>;
std::string onRanks(uint32_t numRanks, uint64_t seed, const Body &body,
                    Schedule (*schedule)(uint32_t) = ringAllgather, const Driver &by = driver()) {
  FakeDevice::reset({.seed = seed});
  fake::World world(numRanks, {.seed = seed});
  LoadedImage image(schedule(numRanks));
  std::barrier<> barrier(numRanks);
  std::string wrong = runThreads(numRanks, [&](Rank r) -> std::string {
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    GraphRank rank(engine, image, r, numRanks, by);
    barrier.arrive_and_wait();
    std::string own = rank.wrong.empty() ? body(rank, barrier) : rank.wrong;
    barrier.arrive_and_drop(); // the others do not wait for it
    return own;
  });
  return wrong.empty() ? FakeDevice::misuse() : wrong;
}

// A rank that launches early, and one that launches late.
TEST(PlanGraphs, runsAndLaunchesMix) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    EXPECT_EQ(onRanks(3, seed,
                      [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                        for (int32_t with : {100, 200, 300}) {
                          rank.fill(with);
                          rank.graph->launch(rank.stream);
                          barrier.arrive_and_wait();
                          bool ends = rank.ends();
                          barrier.arrive_and_wait();
                          if (!ends || !rank.has(with))
                            return "wrong numbers of a launch";
                          rank.fill(with + 50);
                          std::string wrong = runOnce(*rank.plan);
                          barrier.arrive_and_wait();
                          if (!wrong.empty() || !rank.has(with + 50))
                            return wrong + " wrong numbers of a run";
                        }
                        return "";
                      }),
              "")
        << seed;
    EXPECT_EQ(FakeDevice::left(), 0u);
  }
}

// A capture that is made anew has the words and the memory of the first one.
TEST(PlanGraphs, areCapturedAgain) {
  EXPECT_EQ(onRanks(2, 1,
                    [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                      std::unique_ptr<LaunchableGraph> other;
                      if (std::string wrong = capture(*rank.plan, rank.stream, other);
                          !wrong.empty())
                        return wrong;
                      rank.fill(7);
                      rank.graph->launch(rank.stream);
                      other->launch(rank.stream);
                      rank.graph->launch(rank.stream);
                      barrier.arrive_and_wait();
                      bool ends = rank.ends();
                      barrier.arrive_and_wait();
                      return ends && rank.has(7) ? "" : "wrong numbers";
                    }),
            "");
}

// The second stream copies the result before the first one ends the capture.
TEST(PlanGraphs, streamsOfACaptureFollowThePlan) {
  for (uint64_t seed = 1; seed <= 30; ++seed)
    EXPECT_EQ(onRanks(2, seed,
                      [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                        CapturingStream second;
                        DeviceInts copied(rank.y.size);
                        device::CuEvent fork = nullptr, join = nullptr;
                        driver().eventCreate(&fork, 0);
                        driver().eventCreate(&join, 0);
                        rank.stream.begin();
                        driver().eventRecord(fork, rank.stream.get());
                        driver().streamWaitEvent(second.get(), fork, 0);
                        Status s = rank.plan->startOnStream(driver(), rank.stream.get());
                        if (s)
                          s = rank.plan->waitOnStream(driver(), second.get());
                        if (s)
                          s = rank.plan->waitOnStream(driver(), rank.stream.get());
                        second.copy(copied.data, rank.y.data, copied.size * sizeof(int32_t));
                        driver().eventRecord(join, second.get());
                        driver().streamWaitEvent(rank.stream.get(), join, 0);
                        LaunchableGraph graph(rank.stream);
                        if (!s || graph.end() != device::kCudaSuccess)
                          return "no capture: " + (s ? std::string() : s.message());
                        rank.fill(9);
                        graph.launch(rank.stream);
                        barrier.arrive_and_wait();
                        bool ends = rank.ends();
                        barrier.arrive_and_wait();
                        return ends && std::equal(copied.data, copied.data + copied.size,
                                                  rank.y.data)
                                   ? ""
                                   : "the copy is not behind the plan";
                      }),
              "");
}

// The other rank starts late, so the run does not end before.
TEST(PlanGraphs, aRunUnderWayIsOfNoCapture) {
  EXPECT_EQ(onRanks(2, 1,
                    [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                      if (rank.rank == 1) {
                        barrier.arrive_and_wait();
                        return runOnce(*rank.plan);
                      }
                      Status s = rank.plan->start();
                      rank.stream.begin();
                      Status started = rank.plan->startOnStream(driver(), rank.stream.get());
                      Status waited = rank.plan->waitOnStream(driver(), rank.stream.get());
                      LaunchableGraph graph(rank.stream);
                      barrier.arrive_and_wait();
                      EXPECT_EQ(graph.end(), device::kCudaSuccess);
                      EXPECT_EQ(started.message(), "the plan is running");
                      EXPECT_EQ(waited.message(), "the stream captures, and the run under way is "
                                                  "not part of its capture");
                      if (s)
                        s = rank.plan->wait(kLong);
                      return s ? "" : s.message();
                    }),
            "");
}

// A graph that runs keeps the memory of its binding.
TEST(PlanGraphs, areOfNoUseOnceThePlanIsBound) {
  EXPECT_EQ(onRanks(2, 3,
                    [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                      Binding same = rank.binding();
                      if (rank.rank == 0) {
                        rank.graph->launch(rank.stream);
                        EXPECT_FALSE(rank.ends());
                        EXPECT_EQ(rank.plan->bind(same).message(),
                                  "a graph of the plan is running");
                        EXPECT_EQ(rank.plan->start().message(), "a graph of the plan is running");
                      }
                      barrier.arrive_and_wait();
                      if (rank.rank == 1)
                        rank.graph->launch(rank.stream);
                      barrier.arrive_and_wait();
                      bool ends = rank.ends();
                      barrier.arrive_and_wait();
                      Status s = rank.plan->bind(same);
                      std::unique_ptr<LaunchableGraph> graph;
                      EXPECT_EQ(capture(*rank.plan, rank.stream, graph),
                                "the plan cannot be part of a CUDA graph: it has not run since it "
                                "was bound: a graph has the order of a run");
                      barrier.arrive_and_wait();
                      return ends && s ? runOnce(*rank.plan) : "the graph does not end";
                    }),
            "");
}

// The streams of the others go on once these look for failures, and all learn that it failed. What
// the rank has sent stays for the one that launches late.
TEST(PlanGraphs, aPlanThatIsDestroyedUnderAGraphHoldsNoStream) {
  for (auto schedule : {ringAllgather, allgatherFromTemporaries})
    for (uint64_t seed = 1; seed <= 20; ++seed)
      EXPECT_EQ(onRanks(
                    3, seed,
                    [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                      if (rank.rank != 1) // which is late
                        rank.graph->launch(rank.stream);
                      barrier.arrive_and_wait();
                      bool waits = !rank.ends() || rank.rank == 1;
                      barrier.arrive_and_wait();
                      if (rank.rank == 2)
                        rank.plan.reset();
                      barrier.arrive_and_wait();
                      if (rank.rank == 1)
                        rank.graph->launch(rank.stream);
                      bool ends = rank.endsAsItLooks();
                      if (rank.plan && rank.plan->wait(kLong))
                        return "the rank does not learn of the failure";
                      return waits && ends ? "" : "the stream waits for good, or not";
                    },
                    schedule),
                "")
          << seed;
}

// Once the launches have ended, a rank may close the plan, and the others find nothing wrong.
TEST(PlanGraphs, aRankClosesThePlanBehindItsLaunches) {
  EXPECT_EQ(onRanks(2, 1,
                    [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                      rank.graph->launch(rank.stream);
                      barrier.arrive_and_wait();
                      bool ends = rank.ends();
                      barrier.arrive_and_wait();
                      if (rank.rank == 1)
                        rank.plan.reset();
                      barrier.arrive_and_wait();
                      Status s = rank.plan ? rank.plan->wait(kLong) : Status();
                      return !ends ? "the stream waits for good" : s ? "" : s.message();
                    }),
            "");
}

// The thread at work looks for no failures; the wait comes to its end behind that.
TEST(PlanGraphs, aWaitFindsTheFailureWhileAnotherThreadIsAtWork) {
  EXPECT_EQ(onRanks(
                2, 1,
                [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                  if (rank.rank == 1) {
                    rank.graph->launch(rank.stream);
                    EXPECT_FALSE(rank.ends());
                    rank.plan.reset();
                  }
                  barrier.arrive_and_wait();
                  if (!rank.plan)
                    return "";
                  std::atomic<bool> isAtWork{false}, goesOn{false};
                  std::thread worker([&] {
                    CapturingStream stream;
                    std::unique_ptr<LaunchableGraph> graph;
                    onCall = [&] {
                      for (isAtWork = true; !goesOn;)
                        std::this_thread::yield();
                      return false;
                    };
                    capture(*rank.plan, stream, graph, rank.by);
                    onCall = nullptr;
                  });
                  while (!isAtWork)
                    std::this_thread::yield();
                  std::thread later([&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    goesOn = true;
                  });
                  Status s = rank.plan->wait(kLong);
                  worker.join();
                  later.join();
                  return s ? "the wait does not find the failure" : "";
                },
                ringAllgather, watchedDriver()),
            "");
}

// The launch may run for any time, as the other rank is late.
TEST(PlanGraphs, runsFollowLaunchesOfTheirStream) {
  for (uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_EQ(onRanks(2, seed,
                      [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                        rank.fill(7);
                        if (rank.rank == 1)
                          barrier.arrive_and_wait();
                        rank.graph->launch(rank.stream);
                        if (rank.rank == 0)
                          EXPECT_FALSE(rank.ends());
                        Status s = rank.plan->startOnStream(driver(), rank.stream.get());
                        if (rank.rank == 0)
                          barrier.arrive_and_wait();
                        if (s)
                          s = rank.plan->wait(kLong);
                        barrier.arrive_and_wait();
                        return !s ? s.message() : rank.has(7) ? "" : "wrong numbers";
                      }),
              "")
        << seed;
}

TEST(PlanGraphs, aRunBesideALaunchFails) {
  EXPECT_EQ(onRanks(2, 1,
                    [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                      CapturingStream other;
                      Status s;
                      if (rank.rank == 0) {
                        rank.graph->launch(rank.stream);
                        EXPECT_FALSE(rank.ends());
                        s = rank.plan->startOnStream(driver(), other.get());
                        if (s)
                          s = rank.plan->wait(kLong);
                        EXPECT_EQ(s.message(), "a graph of the plan is running");
                      }
                      barrier.arrive_and_wait();
                      bool ends = rank.ends();
                      barrier.arrive_and_wait();
                      return ends ? "" : "the stream waits for good";
                    }),
            "");
}

/// Lets the call fail that comes behind so many others, in this thread.
struct FailingCall {
  explicit FailingCall(uint64_t behind) {
    onCall = [this, behind] { return calls++ == behind; };
  }
  ~FailingCall() { onCall = nullptr; }
  FailingCall(const FailingCall &) = delete;
  FailingCall &operator=(const FailingCall &) = delete;
  uint64_t calls = 0;
};

// Each call in its turn, the last of which is behind all work.
TEST(PlanGraphs, thePlanRunsBehindACaptureThatFailed) {
  bool failed = true;
  for (int32_t call = 0; failed && call < 100; ++call) {
    EXPECT_EQ(onRanks(
                  2, 1,
                  [&](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                    if (rank.rank == 0) {
                      FailingCall failing(static_cast<uint64_t>(call));
                      std::unique_ptr<LaunchableGraph> graph;
                      std::string why = capture(*rank.plan, rank.stream, graph, rank.by);
                      failed = failing.calls > static_cast<uint64_t>(call);
                      EXPECT_EQ(failed, contains(why, "CUDA_ERROR_ILLEGAL_ADDRESS")) << why;
                    }
                    rank.fill(call);
                    std::string wrong = runOnce(*rank.plan);
                    barrier.arrive_and_wait();
                    return wrong.empty() && !rank.has(call) ? "wrong numbers" : wrong;
                  },
                  ringAllgather, watchedDriver()),
              "")
        << call;
    EXPECT_TRUE(failed || call > 8) << call;
  }
}

// The first copy is before all messages, the second one behind a wait.
TEST(PlanGraphs, aLaunchOfAGraphWithoutAllOfThePlanEnds) {
  static const Driver copies = watched<&Driver::memcpyDtoDAsync>();
  for (uint64_t call : {0, 1})
    EXPECT_EQ(onRanks(
                  2, 1,
                  [&](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                    bool ends = true;
                    if (rank.rank == 0) {
                      FailingCall failing(call);
                      std::unique_ptr<LaunchableGraph> graph;
                      EXPECT_NE(capture(*rank.plan, rank.stream, graph, rank.by), "");
                      graph->launch(rank.stream);
                      ends = rank.ends();
                      EXPECT_EQ(ends, call == 0);
                      if (!ends)
                        rank.plan.reset();
                      ends = rank.ends();
                    }
                    barrier.arrive_and_wait();
                    if (call == 1)
                      return ends ? "" : "the stream waits for good";
                    return runOnce(*rank.plan);
                  },
                  ringAllgather, copies),
              "")
        << call;
}

// Only the note of the point behind the plan fails, so the graph has the whole of it.
TEST(PlanGraphs, failuresOfAGraphAreFoundThoughItsCaptureFailed) {
  static const Driver records = watched<&Driver::eventRecord>();
  EXPECT_EQ(onRanks(
                2, 1,
                [](GraphRank &rank, std::barrier<> &barrier) -> std::string {
                  std::string wrong = rank.bindAnew();
                  std::unique_ptr<LaunchableGraph> graph;
                  if (rank.rank == 0) {
                    FailingCall failing(0);
                    EXPECT_NE(capture(*rank.plan, rank.stream, graph, rank.by), "");
                  } else {
                    wrong += capture(*rank.plan, rank.stream, graph);
                    graph->launch(rank.stream);
                    EXPECT_FALSE(rank.ends());
                    rank.plan.reset();
                  }
                  barrier.arrive_and_wait();
                  if (rank.rank == 0)
                    graph->launch(rank.stream);
                  bool ends = rank.endsAsItLooks();
                  if (rank.plan && rank.plan->wait(kLong))
                    return "the rank does not learn of the failure";
                  return ends ? wrong : "the stream waits for good";
                },
                ringAllgather, records),
            "");
}

/// A plan of one rank.
class PlanInGraph : public OneRank {
protected:
  PlanInGraph() { FakeDevice::reset({}); }
  /// Opens and runs the schedule.
  void open(const Binding &binding) {
    image_.emplace(builder_.schedule);
    auto opened = Plan::open(engine_, (*image_)->rank(kMe), (*image_)->sizeClass(), binding);
    ASSERT_TRUE(opened.ok()) << opened.message();
    plan_ = opened.take();
    ASSERT_EQ(runOnce(*plan_), "");
  }
  /// Why the plan cannot be captured; it runs as before.
  std::string refusal() {
    CapturingStream stream;
    std::unique_ptr<LaunchableGraph> graph;
    std::string why = capture(*plan_, stream, graph);
    EXPECT_EQ(runOnce(*plan_), "");
    EXPECT_EQ(FakeDevice::misuse(), "");
    return why;
  }
  Binding onDevice(std::vector<BoundBuffer> buffers) {
    Binding binding = deviceOnly(4, std::move(buffers));
    binding.deviceOnly = false;
    return binding;
  }

  std::unique_ptr<Plan> plan_;
};

TEST_F(PlanInGraph, launchesWithoutMessages) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::InOut, 1);
  builder_.combine(kMe, builder_.block(x, 0), builder_.block(y, 0), Reduction::Sum, Side::After);
  DeviceInts from(4), to(4);
  std::fill_n(from.data, 4, 3);
  std::fill_n(to.data, 4, 0);
  open(onDevice({from.bound(), to.bound()}));
  CapturingStream stream;
  std::unique_ptr<LaunchableGraph> graph;
  ASSERT_EQ(capture(*plan_, stream, graph), "");
  for (int launch = 0; launch < 100; ++launch)
    graph->launch(stream);
  EXPECT_TRUE(FakeDevice::synchronize(stream.get()));
  EXPECT_EQ(to.data[3], 3 * 101);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST_F(PlanInGraph, streamsFollowThePlanInItsLastCaptureOnly) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  DeviceInts from(4), to(4);
  open(onDevice({from.bound(), to.bound()}));
  auto follows = [&](const CapturingStream &stream) {
    return plan_->waitOnStream(driver(), stream.get()).ok();
  };
  CapturingStream elsewhere(1);
  elsewhere.begin();
  EXPECT_FALSE(follows(elsewhere)); // before any start
  CapturingStream first, second;
  first.begin();
  ASSERT_TRUE(plan_->startOnStream(driver(), first.get()).ok());
  EXPECT_TRUE(follows(first));
  EXPECT_EQ(plan_->startOnStream(driver(), elsewhere.get()).message(),
            "the stream that captures and the buffers are of different contexts");
  EXPECT_TRUE(follows(first));
  second.begin();
  EXPECT_FALSE(follows(second));
  ASSERT_TRUE(plan_->startOnStream(driver(), second.get()).ok());
  EXPECT_TRUE(follows(second));
  EXPECT_FALSE(follows(first));
  {
    device::CurrentContext current(driver(), FakeDevice::context(1));
    LaunchableGraph empty(elsewhere);
    ASSERT_TRUE(plan_->startOnStream(driver(), elsewhere.get()).ok());
    ASSERT_TRUE(plan_->wait(kLong).ok());
  }
  EXPECT_FALSE(follows(second));
  ASSERT_TRUE(plan_->startOnStream(driver(), second.get()).ok());
  EXPECT_TRUE(follows(second));
  ASSERT_TRUE(plan_->bind(onDevice({from.bound(), to.bound()})).ok());
  EXPECT_FALSE(follows(second));
  LaunchableGraph one(first), other(second);
  EXPECT_EQ(one.end(), device::kCudaSuccess);
  EXPECT_EQ(other.end(), device::kCudaSuccess);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST_F(PlanInGraph, refusesMemoryOfTheHost) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  DeviceInts from(4);
  Ints to(4);
  open(onDevice({from.bound(), {to.data(), to.size() * sizeof(int32_t)}}));
  EXPECT_EQ(refusal(), "the plan cannot be part of a CUDA graph, as op 0 (copy) needs the host: an "
                       "operand is memory of the host");
  Ints other(4);
  ASSERT_TRUE(plan_->bind(onDevice({{other.data(), 16}, {to.data(), 16}})).ok());
  EXPECT_EQ(refusal(), "a plan without buffers in device memory cannot be part of a CUDA graph");
}

TEST_F(PlanInGraph, refusesCalculationsOfTheHost) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  builder_.calc(kMe, 1000);
  DeviceInts from(4), to(4);
  open(onDevice({from.bound(), to.bound()}));
  EXPECT_TRUE(contains(refusal(), "op 1 (calc) needs the host: it is a time that the host spends"));
}

TEST_F(PlanInGraph, refusesMessagesByTheHost) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  builder_.send(kMe, kMe, {builder_.block(x, 0)});
  builder_.recv(kMe, kMe, {builder_.block(y, 0)});
  DeviceInts from(4), to(4);
  open(onDevice({from.bound(), to.bound()}));
  EXPECT_TRUE(contains(refusal(), "op 0 (send to rank 0) needs the host: messages of its kind pass "
                                  "through the host"));
}

TEST_F(PlanInGraph, refusesOperatorsOfTheCaller) {
  builder_ = Builder(1, ElementType::U8);
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::InOut, 1);
  builder_.combine(kMe, builder_.block(x, 0), builder_.block(y, 0), Reduction::Sum, Side::After);
  DeviceInts from(4), to(4);
  Binding binding = onDevice({from.bound(), to.bound()});
  binding.combiner.apply = [](std::byte *, const std::byte *, const std::byte *, uint64_t, Side,
                              void *) {};
  binding.combiner.elementBytes = sizeof(int32_t);
  open(binding);
  EXPECT_TRUE(contains(refusal(), "op 0 (combine) needs the host: its operator is one of the "
                                  "caller's"));
}

TEST_F(PlanInGraph, refusesLengthsOfCallTime) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  auto blockOf = [&](BufferId id) {
    Buffer &buffer = builder_.schedule.ranks[0].buffers[index(id)];
    buffer.layout = Layout::Capacity;
    buffer.blocks = 1;
    Slice slice;
    slice.endScale = 1;
    slice.buffer = id;
    slice.block = 0;
    return slice;
  };
  builder_.copy(kMe, {blockOf(x)}, {blockOf(y)});
  DeviceInts from(4), to(4);
  Binding binding = onDevice({from.bound(), to.bound()});
  binding.blocks = {{{}, {3}}, {}};
  open(binding);
  EXPECT_TRUE(contains(refusal(), "the lengths of its blocks change from run to run"));
}

/// Why two ranks with this binding do not capture a message of four numbers, one behind the other.
std::string refusalOfMessage(const std::function<void(Binding &)> &change,
                             const device::CudaDriver &by = driver(),
                             const FakeDeviceOptions &options = {}) {
  FakeDevice::reset(options);
  fake::World world(2);
  Builder builder(2);
  BufferId x = builder.buffer(BufferRole::InOut, 1);
  builder.send(Rank{0}, Rank{1}, {builder.block(x, 0)});
  builder.recv(Rank{1}, Rank{0}, {builder.block(x, 0)});
  LoadedImage image(builder.schedule);
  std::string whys[2];
  std::string wrong = runThreads(2, [&](Rank r) -> std::string {
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    DeviceInts ints(4);
    Binding binding = deviceOnly(4, {ints.bound(by)});
    change(binding);
    auto plan = Plan::open(engine, image->rank(r), image->sizeClass(), binding);
    if (!plan)
      return plan.message();
    std::string end = runOnce(**plan);
    CapturingStream stream;
    std::unique_ptr<LaunchableGraph> graph;
    whys[index(r)] = capture(**plan, stream, graph);
    return end + runOnce(**plan);
  });
  EXPECT_EQ(wrong + FakeDevice::misuse(), "");
  return whys[0] + whys[1];
}

TEST(PlanGraphs, refuseMessagesByTheHost) {
  EXPECT_TRUE(contains(refusalOfMessage([](Binding &b) { b.deviceMessagesFrom = 17; }),
                       "op 0 (send to rank 1) needs the host: messages of less than 17 bytes pass "
                       "through the host"));
  EXPECT_TRUE(contains(refusalOfMessage([](Binding &b) { b.deviceOnly = false; }),
                       "messages of plans that are not device-only pass through the host"));
  EXPECT_EQ(refusalOfMessage([](Binding &) {}), "");
  EXPECT_GT(FakeDevice::calls("cuStreamWaitValue64_v2"), 0u);
  EXPECT_TRUE(contains(refusalOfMessage([](Binding &b) { b.mayBeCaptured = false; }),
                       "the plan cannot be part of a CUDA graph: it was bound for runs alone"));
  EXPECT_EQ(FakeDevice::calls("cuStreamWaitValue64_v2"), 0u);
}

TEST(PlanGraphs, oldDriversAndDevicesAreErrors) {
  device::CudaDriver old = driver();
  old.streamWriteValue32 = nullptr;
  EXPECT_TRUE(contains(refusalOfMessage([](Binding &) {}, old),
                       "the plan cannot be part of a CUDA graph: the driver of CUDA is too old for "
                       "graphs: it has no function cuStreamWriteValue32_v2"));
  // An old device of one rank: a call of the driver fails when the plan is bound.
  std::string whys = refusalOfMessage([](Binding &) {}, driver(),
                                      {.failCall = "cuStreamWaitValue64_v2", .failCallAt = 1});
  EXPECT_TRUE(contains(whys, "the plan cannot be part of a CUDA graph: cuStreamWaitValue64 failed: "
                             "CUDA_ERROR_INVALID_HANDLE (400)"))
      << whys;
  EXPECT_TRUE(contains(whys, "has no words by which its device waits in graphs")) << whys;
}

} // namespace
} // namespace colldsl::test

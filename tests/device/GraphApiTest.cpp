// Plans of processes in CUDA graphs, through the C API and its C++ wrapper: libcuda.so.1 is the
// fake device.
#include "tests/api/Launcher.h"
#include "tests/device/FakeCuda.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <sys/mman.h>
#include <thread>

extern "C" {
int cuStreamCreate(void **stream, unsigned flags);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphLaunch(void *exec, void *stream);
}

namespace colldsl::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kCount = 600;
constexpr double kSeconds = 30;

int32_t *allocate(size_t count) {
  return static_cast<int32_t *>(fakeCudaMemory(count * sizeof(int32_t)));
}

void *newStream() {
  void *stream = nullptr;
  cuStreamCreate(&stream, 0);
  return stream;
}

void copy(void *stream, int32_t *to, const int32_t *from, size_t count) {
  cuMemcpyDtoDAsync_v2(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from),
                       count * sizeof(int32_t), stream);
}

/// True: the stream came to its end, which other processes may have to do with.
bool ends(void *stream, const std::function<void()> &meanwhile = {}) {
  auto deadline = Clock::now() + std::chrono::duration<double>(kSeconds);
  while (fakeCudaSynchronize(stream) != 0) {
    if (Clock::now() >= deadline)
      return false;
    if (meanwhile)
      meanwhile();
    std::this_thread::yield();
  }
  return true;
}

/// A sum of all ranks in memory of the device, all messages of which go from device to device.
struct Sum {
  explicit Sum(coll::Communicator &comm)
      : x(allocate(kCount)), y(allocate(kCount)), plan(comm, "allreduce") {
    plan.deviceOnly().deviceMessages(0);
    plan.bindDevice("x", x, kCount).bindDevice("y", y, kCount).count(kCount).commit();
  }
  int32_t *x, *y;
  coll::Plan plan;
};

/// The graph of a sum between two copies; null: it cannot be captured.
void *capture(Sum &sum, void *stream, const int32_t *input, int32_t *result) {
  void *graph = nullptr, *exec = nullptr;
  cuStreamBeginCapture_v2(stream, 0);
  copy(stream, sum.x, input, kCount);
  sum.plan.startOnStream(stream);
  sum.plan.waitOnStream(stream);
  copy(stream, result, sum.y, kCount);
  if (cuStreamEndCapture(stream, &graph) == 0)
    cuGraphInstantiateWithFlags(&exec, graph, 0);
  return exec;
}

// Each launch has numbers of its own, which the host writes between two of them.
std::string sumInGraphs(coll::Communicator &comm) {
  Sum sum(comm);
  int32_t *input = allocate(kCount), *result = allocate(kCount);
  sum.plan.run(kSeconds);
  void *stream = newStream();
  void *graph = capture(sum, stream, input, result);
  if (!graph)
    return "no graph";
  const auto ranks = static_cast<int32_t>(comm.size()), rank = static_cast<int32_t>(comm.rank());
  for (int32_t launch = 0; launch < 20; ++launch) {
    for (size_t i = 0; i < kCount; ++i)
      input[i] = launch * 1000 + rank + static_cast<int32_t>(i);
    cuGraphLaunch(graph, stream);
    if (!ends(stream))
      return "launch " + std::to_string(launch) + " waits for good";
    for (size_t i = 0; i < kCount; ++i)
      if (result[i] != ranks * (launch * 1000 + static_cast<int32_t>(i)) + ranks * (ranks - 1) / 2)
        return "launch " + std::to_string(launch) + ": element " + std::to_string(i) + " is " +
               std::to_string(result[i]);
  }
  sum.plan.wait(kSeconds);
  return fakeCudaMisuse();
}

TEST(GraphApi, sumsInGraphsOfProcesses) {
  for (uint32_t ranks : {2, 3, 4, 8})
    EXPECT_EQ(runRanks(ranks,
                       [&](coll::Communicator &comm) {
                         fakeCudaReset(ranks * 10 + comm.rank());
                         fakeCudaContext();
                         return sumInGraphs(comm);
                       }),
              "")
        << ranks << " ranks";
}

/// Counts processes that have come to a point, and lets them wait for each other.
class SharedCount {
public:
  SharedCount()
      : count_(static_cast<std::atomic<uint32_t> *>(mmap(
            nullptr, sizeof(*count_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
  }
  ~SharedCount() { munmap(count_, sizeof(*count_)); }
  SharedCount(const SharedCount &) = delete;
  SharedCount &operator=(const SharedCount &) = delete;
  void arriveAndAwait(uint32_t processes) {
    count_->fetch_add(1);
    auto deadline = Clock::now() + std::chrono::duration<double>(kSeconds);
    while (count_->load() < processes && Clock::now() < deadline)
      std::this_thread::yield();
  }

private:
  std::atomic<uint32_t> *count_;
};

// The others wait for it on their devices, and learn of it as they look. All keep their memory
// until no graph runs.
TEST(GraphApi, aRankThatDiesHoldsNoStream) {
  SharedCount captured, ended;
  std::string said = launch(3, [&](const colldsl_bootstrap &bootstrap) -> std::string {
    fakeCudaContext();
    coll::Context context;
    coll::LaunchedCommunicator comm(context, bootstrap);
    Sum sum(comm);
    sum.plan.run(kSeconds);
    void *stream = newStream();
    void *graph = capture(sum, stream, allocate(kCount), allocate(kCount));
    captured.arriveAndAwait(3);
    if (comm.rank() == 1)
      raise(SIGKILL);
    cuGraphLaunch(graph, stream);
    int isDone = 0;
    bool isOver = ends(stream, [&] { colldsl_plan_test(sum.plan.get(), &isDone); });
    colldsl_status status = COLLDSL_OK;
    auto deadline = Clock::now() + std::chrono::duration<double>(kSeconds);
    while (status == COLLDSL_OK && Clock::now() < deadline)
      status = colldsl_plan_wait(sum.plan.get(), kSeconds);
    std::string why = colldsl_last_error();
    ended.arriveAndAwait(2);
    if (!isOver)
      return "the stream waits for good";
    if (status != COLLDSL_ERROR_RUN || why.find("rank 1 died") == why.npos)
      return "status " + std::to_string(status) + ": " + why;
    return fakeCudaMisuse();
  });
  EXPECT_EQ(said, "rank 1: killed by signal 9\n");
}

// No op of the plan is open at the root, whose graph alone tells that it needs the other rank.
TEST(GraphApi, aRankThatClosesThePlanHoldsNoStream) {
  SharedCount launched, closed, ended;
  std::string said = runRanks(2, [&](coll::Communicator &comm) -> std::string {
    fakeCudaContext();
    std::optional<coll::Plan> plan(std::in_place, comm, "bcast");
    plan->deviceOnly().deviceMessages(0).count(kCount).set("root", 0);
    plan->bindDevice("buf", allocate(kCount), kCount).commit();
    plan->run(kSeconds);
    void *stream = newStream(), *graph = nullptr, *exec = nullptr;
    cuStreamBeginCapture_v2(stream, 0);
    plan->startOnStream(stream);
    if (cuStreamEndCapture(stream, &graph) != 0 ||
        cuGraphInstantiateWithFlags(&exec, graph, 0) != 0)
      return "no graph";
    if (comm.rank() == 0)
      cuGraphLaunch(exec, stream);
    launched.arriveAndAwait(2);
    if (comm.rank() == 1)
      plan.reset();
    closed.arriveAndAwait(2);
    int isDone = 0;
    bool isOver =
        comm.rank() == 1 || ends(stream, [&] { colldsl_plan_test(plan->get(), &isDone); });
    colldsl_status status =
        comm.rank() == 1 ? COLLDSL_ERROR_RUN : colldsl_plan_wait(plan->get(), kSeconds);
    ended.arriveAndAwait(2);
    return !isOver                       ? "the stream waits for good"
           : status != COLLDSL_ERROR_RUN ? "status " + std::to_string(status)
                                         : "";
  });
  EXPECT_EQ(said, "");
}

TEST(GraphApi, refusalsNameTheOp) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       fakeCudaContext();
                       int32_t *x = allocate(kCount), *y = allocate(kCount);
                       coll::Plan plan(comm, "allreduce");
                       plan.deviceOnly().bindDevice("x", x, kCount).bindDevice("y", y, kCount);
                       plan.count(kCount).commit();
                       plan.run(kSeconds);
                       void *stream = newStream(), *graph = nullptr;
                       cuStreamBeginCapture_v2(stream, 0);
                       colldsl_status status = colldsl_plan_start_on_stream(plan.get(), stream);
                       std::string why = colldsl_last_error();
                       if (cuStreamEndCapture(stream, &graph) != 0)
                         return "the capture is of no use";
                       plan.run(kSeconds);
                       if (status != COLLDSL_ERROR_PLAN ||
                           why.find("needs the host: messages of less than 16384 bytes") ==
                               why.npos)
                         return "not refused: " + why;
                       return fakeCudaMisuse();
                     }),
            "");
}

// Ranks that disagree are refused, as both ends of a message choose its way.
TEST(GraphApi, allRanksHaveTheSameMessagesBetweenDevices) {
  std::string wrong = runRanks(2, [](coll::Communicator &comm) -> std::string {
    fakeCudaContext();
    int32_t *x = allocate(kCount), *y = allocate(kCount);
    coll::Plan plan(comm, "allreduce");
    plan.deviceOnly().deviceMessages(comm.rank()).bindDevice("x", x, kCount);
    plan.bindDevice("y", y, kCount).count(kCount).commit();
    return "committed";
  });
  EXPECT_NE(wrong.find("messages between devices"), wrong.npos) << wrong;
  EXPECT_EQ(wrong.find("committed"), wrong.npos) << wrong;
}

} // namespace
} // namespace colldsl::test

// Plans in the order of streams, through the C API and its C++ wrapper: libcuda.so.1 is the fake
// device.
#include "tests/api/Launcher.h"
#include "tests/device/FakeCuda.h"

#include <cstdint>
#include <gtest/gtest.h>

extern "C" {
int cuStreamCreate(void **stream, unsigned flags);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
}

namespace colldsl::test {
namespace {

constexpr size_t kCount = 1000;

int32_t *allocate(size_t count) {
  return static_cast<int32_t *>(fakeCudaMemory(count * sizeof(int32_t)));
}

uint64_t addressOf(const int32_t *memory) { return reinterpret_cast<uint64_t>(memory); }

void *newStream() {
  void *stream = nullptr;
  cuStreamCreate(&stream, 0);
  return stream;
}

void copy(void *stream, int32_t *to, const int32_t *from) {
  cuMemcpyDtoDAsync_v2(addressOf(to), addressOf(from), kCount * sizeof(int32_t), stream);
}

/// Keeps the stream from going on.
void block(void *stream) {
  int32_t *never = allocate(1);
  *never = 0;
  cuStreamWaitValue32_v2(stream, addressOf(never), 1, 0);
}

/// A sum of all ranks in memory of the device.
struct Sum {
  explicit Sum(coll::Communicator &comm)
      : x(allocate(kCount)), y(allocate(kCount)), plan(comm, "allreduce") {
    plan.bindDevice("x", x, kCount).bindDevice("y", y, kCount).count(kCount).commit();
  }
  int32_t *x, *y;
  coll::Plan plan;
};

/// Empty, or what the device has found wrong, or that the stream cannot go on.
std::string endOf(void *stream) {
  return fakeCudaSynchronize(stream) != 0 ? "the stream waits for good" : fakeCudaMisuse();
}

// Input and result are copied on the stream, and the host looks at neither.
std::string sumOnStream(coll::Communicator &comm, void *stream) {
  Sum sum(comm);
  std::vector<int32_t *> results;
  for (int32_t run = 0; run < 3; ++run) {
    int32_t *input = allocate(kCount);
    for (size_t i = 0; i < kCount; ++i)
      input[i] = static_cast<int32_t>(i) + run * static_cast<int32_t>(comm.rank());
    copy(stream, sum.x, input);
    sum.plan.startOnStream(stream);
    sum.plan.waitOnStream(stream);
    copy(stream, results.emplace_back(allocate(kCount)), sum.y);
    sum.plan.wait(30);
  }
  if (std::string end = endOf(stream); !end.empty())
    return end;
  for (int32_t run = 0; run < 3; ++run)
    for (size_t i = 0; i < kCount; ++i)
      if (results[static_cast<size_t>(run)][i] != 3 * static_cast<int32_t>(i) + 3 * run)
        return "run " + std::to_string(run) + ": element " + std::to_string(i) + " is " +
               std::to_string(results[static_cast<size_t>(run)][i]);
  return "";
}

TEST(StreamApi, sumsInTheOrderOfAStream) {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(runRanks(3,
                       [&](coll::Communicator &comm) {
                         fakeCudaReset(seed * 10 + comm.rank());
                         fakeCudaContext();
                         return sumOnStream(comm, seed % 2 == 0 ? newStream() : nullptr);
                       }),
              "")
        << "seed " << seed;
}

TEST(StreamApi, aStreamThatStandsStillEndsInATimeout) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       fakeCudaContext();
                       Sum sum(comm);
                       void *producer = newStream(), *consumer = newStream();
                       if (comm.rank() == 0)
                         block(producer);
                       sum.plan.startOnStream(producer);
                       sum.plan.waitOnStream(consumer);
                       colldsl_status status = colldsl_plan_wait(sum.plan.get(), 0.1);
                       if (status == COLLDSL_OK)
                         return "the run ended";
                       std::string why = colldsl_last_error();
                       bool isNamed = why.find("before a stream came to the start of the run") !=
                                      std::string::npos;
                       if (comm.rank() == 0 && status == COLLDSL_ERROR_TIMEOUT && !isNamed)
                         return why;
                       return endOf(consumer);
                     }),
            "");
}

TEST(StreamApi, theDestructionOfAPlanLetsStreamsGoOn) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       fakeCudaContext();
                       void *producer = newStream(), *consumer = newStream();
                       {
                         Sum sum(comm);
                         block(producer);
                         sum.plan.startOnStream(producer);
                         sum.plan.waitOnStream(consumer);
                         if (fakeCudaSynchronize(consumer) == 0)
                           return "the stream does not wait";
                       }
                       return endOf(consumer);
                     }),
            "");
}

TEST(StreamApi, wrongCallsAreErrors) {
  EXPECT_EQ(
      runRanks(1,
               [](coll::Communicator &comm) -> std::string {
                 fakeCudaContext();
                 void *stream = newStream();
                 coll::Plan raw(comm, "allreduce");
                 if (colldsl_plan_start_on_stream(raw.get(), stream) != COLLDSL_ERROR_STATE ||
                     colldsl_plan_wait_on_stream(raw.get(), stream) != COLLDSL_ERROR_STATE)
                   return "a plan that is not committed runs";
                 if (colldsl_plan_start_on_stream(nullptr, stream) != COLLDSL_ERROR_ARGUMENT)
                   return "no plan is needed";
                 Sum sum(comm);
                 if (colldsl_plan_start_on_stream(sum.plan.get(), &stream) != COLLDSL_ERROR_PLAN)
                   return "no stream is needed";
                 std::string why = colldsl_last_error();
                 if (why != "cuStreamGetCaptureInfo failed: CUDA_ERROR_INVALID_HANDLE (400)")
                   return why;
                 block(stream);
                 sum.plan.startOnStream(stream);
                 if (colldsl_plan_start_on_stream(sum.plan.get(), stream) != COLLDSL_ERROR_STATE)
                   return "a plan that is running is started";
                 return fakeCudaMisuse();
               }),
      "");
}

} // namespace
} // namespace colldsl::test

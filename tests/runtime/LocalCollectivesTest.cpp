// Collectives of the standard library over local endpoints: a commit waits for no other rank.
#include "compiler/Compile.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"
#include "tests/protocol/AttachAlone.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>

namespace colldsl {
namespace {

constexpr uint64_t kElements = 100;
using Ints = std::vector<int32_t>;

// One collective with the names of its buffers, which have a block, or one per rank.
struct Call {
  Call(Communicator &communicator, Library &library, const char *name, uint32_t blocks = 1)
      : plan(communicator, library, name), x(kElements * blocks), y(x.size()) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<int32_t>(index(communicator.rank()) * 10000 + i);
  }

  Status commit(const char *in, const char *out) {
    if (in || out) {
      if (Status s = plan.setType(ElementType::I32); !s)
        return s;
      if (Status s = plan.setElements(kElements); !s)
        return s;
    }
    if (in)
      if (Status s = plan.bind(in, BoundBuffer::in(x.data(), x.size() * 4)); !s)
        return s;
    if (out)
      if (Status s = plan.bind(out, {y.data(), y.size() * 4}); !s)
        return s;
    return plan.commit();
  }

  Status run() {
    if (Status s = plan.start(); !s)
      return s;
    return plan.plan().wait(std::chrono::seconds(20));
  }

  CollectivePlan plan;
  Ints x, y;
};

Status wrong(const char *what) { return Status::error(std::string("wrong ") + what); }

Status runAll(Endpoint &endpoint, Library &library, std::atomic<int> &firstHasCommitted) {
  Communicator communicator(endpoint, Topology());
  uint32_t ranks = communicator.numRanks(), me = index(communicator.rank());
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (me != 0 && firstHasCommitted == 0) {
    if (std::chrono::steady_clock::now() > deadline)
      return Status::error("rank 0 waits for others");
    std::this_thread::yield();
  }
  Call barrier(communicator, library, "barrier_dissemination");
  Call bcast(communicator, library, "bcast_binomial");
  Call sum(communicator, library, "allreduce_recursive_doubling");
  Call all(communicator, library, "alltoall_rotated", ranks);
  bcast.y = bcast.x;
  for (Status s : {barrier.commit(nullptr, nullptr), bcast.commit(nullptr, "buf"),
                   sum.commit("x", "y"), all.commit("x", "y")})
    if (!s)
      return s;
  firstHasCommitted = 1;
  for (int run = 0; run < 3; ++run)
    for (Call *call : {&bcast, &sum, &all, &barrier})
      if (Status s = call->run(); !s)
        return s;
  for (uint32_t i = 0; i < kElements; ++i) {
    if (bcast.y[i] != static_cast<int32_t>(i))
      return wrong("broadcast");
    if (sum.y[i] != static_cast<int32_t>(10000 * ranks * (ranks - 1) / 2 + ranks * i))
      return wrong("sum");
    for (uint32_t r = 0; r < ranks; ++r)
      if (all.y[r * kElements + i] != static_cast<int32_t>(r * 10000 + me * kElements + i))
        return wrong("block");
  }
  return {};
}

TEST(CollectivesOverLocalEndpoints, areCommittedAlone) {
  Compilation compilation = compileFiles({COLLDSL_ALONG});
  ASSERT_TRUE(compilation.ok());
  std::vector<std::byte> bytes =
      encodeLibrary({{"test", 1, {}}, compilation.program(), {}, {}, {}, {}, {}, {}});
  auto *firstHasCommitted = static_cast<std::atomic<int> *>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (uint32_t ranks : {2u, 4u, 5u}) {
    *firstHasCommitted = 0;
    LocalOptions local;
    local.numRanks = ranks;
    local.timeout = std::chrono::seconds(60);
    local.attach = [](shm::World &world, Rank rank) { return test::attachAlone(world, rank, {}); };
    auto outcomes = runLocalRanks(local, [&](Endpoint &e) -> Result<std::vector<std::byte>> {
      auto library = Library::view(bytes);
      if (!library)
        return library.status();
      if (Status s = runAll(e, **library, *firstHasCommitted); !s)
        return s;
      return std::vector<std::byte>();
    });
    ASSERT_TRUE(outcomes.ok());
    Status s = firstFailure(*outcomes);
    EXPECT_TRUE(s.ok()) << ranks << " ranks: " << s.message();
  }
  munmap(firstHasCommitted, 4096);
}

} // namespace
} // namespace colldsl

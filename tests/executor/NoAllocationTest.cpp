// Runs after the first allocate nothing, and neither does a plan that is bound anew. Counts every
// allocation of the program.
#include "executor/Plan.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COLLDSL_COUNTS_ALLOCATIONS 0
#else
#define COLLDSL_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<uint64_t> allocations{0};
}

#if COLLDSL_COUNTS_ALLOCATIONS
// operator new comes here too.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
}
#endif

namespace colldsl::test {
namespace {

using Ints = std::vector<int32_t>;

BoundBuffer bound(Ints &values) { return {values.data(), values.size() * sizeof(int32_t)}; }

void addTriples(std::byte *target, const std::byte *first, const std::byte *source, uint64_t bytes,
                Side, void *) {
  for (uint64_t i = 0; i < bytes; i += 4)
    *reinterpret_cast<int32_t *>(target + i) = *reinterpret_cast<const int32_t *>(first + i) +
                                               *reinterpret_cast<const int32_t *>(source + i);
}

std::string countRestarts(Endpoint &endpoint, size_t n) {
  uint32_t numRanks = endpoint.numRanks();
  Ints x(n), y(n * numRanks), z(n);
  LoadedImage ring(ringAllgather(numRanks)), chain(reduceChain(numRanks, Reduction::Sum));
  LoadedImage bytes(reduceChain(numRanks, Reduction::Sum, ElementType::U8));
  Engine engine(endpoint);
  Rank me = endpoint.rank();
  auto gather =
      Plan::open(engine, ring->rank(me), ring->sizeClass(), {n, {bound(x), bound(y)}, {}});
  auto reduce =
      Plan::open(engine, chain->rank(me), chain->sizeClass(), {n, {bound(x), bound(z)}, {}});
  auto combine = Plan::open(engine, bytes->rank(me), bytes->sizeClass(),
                            {n / 3, {bound(x), bound(z)}, {}, {addTriples, nullptr, 12}});
  if (!gather || !reduce || !combine)
    return "not opened";
  uint64_t before = 0;
  for (int run = 0; run < 50; ++run) {
    if (run == 1)
      before = allocations;
    if (!(*gather)->start() || !(*reduce)->start() || !(*reduce)->wait() || !(*gather)->wait() ||
        !(*combine)->start() || !(*combine)->wait())
      return "failed";
  }
  uint64_t made = allocations - before;
  return made == 0 ? "" : std::to_string(made) + " allocations";
}

/// Bound to fewer elements than before, and to as many as before, between runs.
std::string countRebinds(Endpoint &endpoint, size_t n) {
  uint32_t numRanks = endpoint.numRanks();
  Ints x(n), y(n * numRanks), z(n);
  LoadedImage ring(ringAllgather(numRanks)), chain(reduceChain(numRanks, Reduction::Sum));
  Engine engine(endpoint);
  Rank me = endpoint.rank();
  std::vector<Binding> gathers, reduces;
  for (size_t elements : {n, n / 2, n, n - 1}) {
    gathers.push_back({elements, {bound(x), bound(y)}, {}});
    reduces.push_back({elements, {bound(x), bound(z)}, {}});
  }
  auto gather = Plan::open(engine, ring->rank(me), ring->sizeClass(), gathers[0]);
  auto reduce = Plan::open(engine, chain->rank(me), chain->sizeClass(), reduces[0]);
  if (!gather || !reduce)
    return "not opened";
  uint64_t before = 0;
  for (size_t run = 0; run < 40; ++run) {
    if (run == gathers.size())
      before = allocations;
    size_t size = run % gathers.size();
    if (!(*gather)->bind(gathers[size]) || !(*reduce)->bind(reduces[size]) || !(*gather)->start() ||
        !(*reduce)->start() || !(*reduce)->wait() || !(*gather)->wait())
      return "failed";
  }
  uint64_t made = allocations - before;
  return made == 0 ? "" : std::to_string(made) + " allocations";
}

class NoAllocation : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, NoAllocation, ::testing::Values(2, 100, 3000, 10000, 100000));

TEST_P(NoAllocation, inRestartsAndRebinds) {
  if (!COLLDSL_COUNTS_ALLOCATIONS)
    GTEST_SKIP() << "sanitizers have allocators of their own";
  uint64_t before = allocations;
  free(malloc(1));
  ASSERT_EQ(allocations, before + 1) << "allocations are not counted";
  for (const TransportSetup &setup :
       {onShmProcesses("shm", {}), onShmProcesses("tight", tightOptions(), tightProtocol())})
    for (auto count : {countRestarts, countRebinds})
      EXPECT_EQ(setup.run(3, [&](Endpoint &endpoint) { return count(endpoint, GetParam()); }), "")
          << setup.name << (count == countRebinds ? ", bound anew" : "");
}

} // namespace
} // namespace colldsl::test

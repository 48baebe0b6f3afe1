#include "runtime/job/NodeMemory.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

/// Rank 0 of so many, each alone on a node, all of them on this machine.
Oob amongNodesOfThisMachine(uint32_t numRanks) {
  Oob oob;
  oob.numRanks = numRanks;
  oob.allgather = [numRanks](const void *mine, void *all, size_t bytes) {
    EXPECT_EQ(bytes, sizeof(ProcessInfo));
    auto *processes = static_cast<ProcessInfo *>(all);
    std::fill_n(processes, numRanks, *static_cast<const ProcessInfo *>(mine));
    for (uint32_t r = 0; r < numRanks; ++r)
      processes[r].processNamespace += r;
    return Status();
  };
  return oob;
}

bool sharesCoresAmong(uint32_t numNodes) {
  Oob oob = amongNodesOfThisMachine(numNodes);
  ProcessInfoExchange exchange(oob);
  NodeMemory memory(oob, exchange, {});
  memory.offer();
  EXPECT_TRUE(exchange.run().ok());
  Result<WiredUp> wired = memory.share(firstOfNodes(exchange.processes(), 0));
  EXPECT_TRUE(wired.ok()) << wired.message();
  return wired.ok() && wired->world->sharesCores();
}

// Containers of one machine are nodes that share its cores.
TEST(NodeMemory, aWorldCountsTheRanksOfOtherNodesOnItsMachine) {
  EXPECT_FALSE(sharesCoresAmong(shm::numCores()));
  EXPECT_TRUE(sharesCoresAmong(shm::numCores() + 1));
}

} // namespace
} // namespace colldsl::test

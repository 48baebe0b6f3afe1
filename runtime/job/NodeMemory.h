/// Memory that the ranks of a node share. Internal to WireUp.
#pragma once

#include "runtime/job/WireUp.h"
#include "wireup/ProcessInfoExchange.h"

namespace colldsl {

class NodeMemory {
public:
  /// The arguments outlive it.
  NodeMemory(const Oob &oob, ProcessInfoExchange &exchange, const shm::Options &options)
      : oob_(oob), exchange_(exchange), options_(options) {}

  /// Called before the first exchange: rank 0 makes memory for all ranks. On one node the ranks
  /// need no other exchange for it.
  void offer();

  /// Collective, after the first exchange: the ranks of each node share its memory. `nodes`: by
  /// rank, the first rank of its node.
  Result<WiredUp> share(std::vector<uint32_t> nodes);

private:
  void make(uint32_t numRanks);
  void open(const ProcessInfo &owner, uint32_t numRanks);

  const Oob &oob_;
  ProcessInfoExchange &exchange_;
  shm::Options options_;
  std::unique_ptr<shm::World> world_;
};

} // namespace colldsl

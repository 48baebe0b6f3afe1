/// The exchange of the facts of all ranks' processes. All calls but the first are collective over
/// all ranks: a rank that has trouble takes part, so that all learn of it.
#pragma once

#include "topology/Nics.h"
#include "wireup/ProcessInfo.h"

namespace colldsl {

class ProcessInfoExchange {
public:
  /// `oob` outlives it.
  explicit ProcessInfoExchange(const Oob &oob);

  /// The facts that this rank sends with the next exchange.
  ProcessInfo &mine() { return mine_; }
  void note(const Status &trouble);
  /// The network, which all ranks have to know alike; shorter than ProcessInfo::network.
  void noteNetwork(std::string_view words) { colldsl::noteNetwork(mine_, words); }
  /// Adds the interfaces of this machine and COLLDSL_RANKS_PER_NODE to what this rank sends.
  void describeNode();

  /// Exchanges the facts of all ranks. An error, alike on all ranks: one has trouble, or they do
  /// not fit together.
  Status run();
  std::span<const ProcessInfo> processes() const { return processes_; }
  /// By rank, the first one of its node, as rank 0's COLLDSL_RANKS_PER_NODE has it.
  std::vector<uint32_t> nodes() const;

  /// Per rank of a node: the hardware thread it is taken to run on.
  std::vector<uint32_t> pusOf(std::span<const uint32_t> ranks) const;

  /// The hardware threads of the ranks of this host, up to this one.
  std::vector<Threads> boundThreads() const;

private:
  const Oob &oob_;
  ProcessInfo mine_;
  std::vector<ProcessInfo> processes_;
};

} // namespace colldsl

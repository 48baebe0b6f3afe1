/// The graph of a communicator whose neighbours sit on several nodes, as all its ranks know it. It
/// has the exchange that passes make of the messages between nodes, and the run from which it is
/// used.
#pragma once

#include "mpi/Mpi.h"
#include "runtime/graph/GraphExchange.h"
#include "runtime/job/Communicator.h"

#include <array>
#include <memory>
#include <optional>

namespace colldsl::mpi {

class Job;

/// Shared by a communicator and its duplicates. All methods but gather() are local, under a Guard.
class NeighborGraph {
public:
  /// Collective over `comm`. `peers`: the ranks on other nodes that this rank sends to, ascending;
  /// `degree`: the most such peers that any rank sends to or receives from.
  static std::shared_ptr<NeighborGraph> gather(Job &job, MPI_Comm comm, Communicator &ranks,
                                               std::vector<uint32_t> peers, uint32_t degree);

  /// True if a run uses exchange(), provided that is better: all ranks number runs alike. The runs
  /// before it are worth the cost of the search.
  bool isDue(uint32_t run) const { return run >= firstRun_; }

  /// The exchange that passes make of one in which each rank sends one block to all peers, or one
  /// to each. The passes run at the first call; with COLLDSL_VERBOSE=1 rank 0 prints the outcome.
  /// Null: nothing is gained.
  std::shared_ptr<const GraphExchange> exchange(bool sendsSame);

private:
  NeighborGraph(Job &job, Communicator &ranks);
  std::shared_ptr<const GraphExchange> search(bool sendsSame) const;
  void report(bool sendsSame, const Result<GraphExchange> &found) const;

  Job &job_;
  Topology topology_;
  Rank rank_;
  PeerLists peers_;
  uint32_t firstRun_ = UINT32_MAX;
  /// The exchanges of one block to each peer, and of one block to all.
  std::array<std::optional<std::shared_ptr<const GraphExchange>>, 2> found_;
};

} // namespace colldsl::mpi

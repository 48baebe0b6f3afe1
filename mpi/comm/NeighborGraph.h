/// The graph of a communicator whose neighbours sit on several nodes, as all its ranks know it. It
/// has the ways that passes make of the messages between nodes, and the run from which they are
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

/// The ranks on other nodes that a rank sends to, ascending.
struct FarPeers {
  std::vector<uint32_t> peers;
  std::vector<uint32_t> weights; ///< the sum of those of the edges to each peer; without weights 1
                                 ///< for each edge
  bool areWeighted = false;
};

/// Shared by a communicator and its duplicates. All methods but gather() are local, under a Guard.
class NeighborGraph {
public:
  /// Collective over `comm`. `degree`: the most such peers that any rank sends to or receives from.
  static std::shared_ptr<NeighborGraph> gather(Job &job, MPI_Comm comm, Communicator &ranks,
                                               const FarPeers &mine, uint32_t degree);

  /// True if a run uses exchange(), and may use others of ways(): all ranks number runs alike. The
  /// runs before it are worth the cost of the search.
  bool isDue(uint32_t run) const { return run >= firstRun_; }

  using Way = std::shared_ptr<const GraphExchange>;

  /// The ways of an exchange in which each rank sends one block to all peers, or one to each: those
  /// that the job may learn, or of which the model chooses. The search runs at the first call; with
  /// COLLDSL_VERBOSE=1 rank 0 prints the outcome. Empty: it failed.
  const std::vector<Way> &ways(bool sendsSame);
  /// The way that the model chooses. Null: `direct`.
  Way exchange(bool sendsSame);
  /// The way of this name, which is one of ways().
  Way way(bool sendsSame, const std::string &name);

private:
  NeighborGraph(Job &job, Communicator &ranks);
  std::vector<Way> search(bool sendsSame) const;
  void report(bool sendsSame, const Result<std::vector<GraphExchange>> &found) const;

  Job &job_;
  Topology topology_;
  Rank rank_;
  PeerLists peers_, weights_; ///< weights_ is empty if the edges have none
  uint32_t firstRun_ = UINT32_MAX;
  /// The ways of one block to each peer, and of one block to all.
  std::array<std::optional<std::vector<Way>>, 2> found_;
};

} // namespace colldsl::mpi

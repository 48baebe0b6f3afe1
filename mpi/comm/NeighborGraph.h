/// The graph of a communicator whose neighbours sit on several nodes, as all its ranks know it:
/// what passes make of the messages between nodes, and from which run on.
#pragma once

#include "mpi/Mpi.h"
#include "runtime/Communicator.h"
#include "runtime/GraphExchange.h"

#include <array>
#include <memory>
#include <optional>

namespace colldsl::mpi {

class Job;

/// Shared by a communicator and its duplicates. All but gather() is local, under a Guard.
class NeighborGraph {
public:
  /// Collective over `comm`. `peers`: those that this rank sends to on other nodes, ascending;
  /// `degree`: so many of them at most has a rank, or of those that send to it.
  static std::shared_ptr<NeighborGraph> gather(Job &job, MPI_Comm comm, Communicator &ranks,
                                               std::vector<uint32_t> peers, uint32_t degree);

  /// Whether a run goes the way of exchange(), if that is better: all ranks number runs alike. The
  /// runs before are worth what the search costs.
  bool isDue(uint32_t run) const { return run >= firstRun_; }

  /// What passes make of an exchange in which each rank sends one block to all, or one to each.
  /// They run at the first call, and rank 0 prints with COLLDSL_VERBOSE=1 what they did. Null:
  /// nothing is gained.
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
  /// Of one block to each, and of one to all.
  std::array<std::optional<std::shared_ptr<const GraphExchange>>, 2> found_;
};

} // namespace colldsl::mpi

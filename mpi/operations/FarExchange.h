/// The messages of a neighbourhood collective to and from other nodes. All blocks that one rank
/// sends to another in one run are one message. It goes straight, or, if it is short and the way
/// along the graph of the communicator has a schedule, together with others over ranks between
/// (NeighborGraph).
///
/// Runs: all ranks number them alike, and all messages of one run follow the same schedule. Under a
/// Guard.
#pragma once

#include "executor/RemoteExchange.h"
#include "mpi/comm/NeighborGraph.h"
#include "mpi/operations/RelayedExchange.h"

namespace colldsl::mpi {

class ServedComm;

class FarExchange {
public:
  /// `sendsSame`: all peers get the same block. `stream`: 0 for calls that follow each other, else
  /// a persistent call's own. `way`: one of NeighborGraph::ways(), for all runs; null: the one that
  /// the graph chooses. An error: there are too many streams.
  static Result<std::unique_ptr<FarExchange>> make(ServedComm &comm, bool sendsSame,
                                                   uint32_t stream, NeighborGraph::Way way);

  /// The context of the plans by which a persistent call relays messages; none: the graph has no
  /// relays, or there are too many streams.
  static std::optional<Job::Context> contextOfRelays(ServedComm &comm, uint32_t stream);

  // Called before open(), in the order of the pieces of one peer's message; peers come ascending.
  // Pieces without bytes are ignored.
  void send(int peer, std::span<const iovec> pieces) { add(out_, peer, pieces); }
  void recv(int peer, std::span<const iovec> pieces) { add(in_, peer, pieces); }
  Status open() { return route(); }

  /// Shifts as RemoteExchange::shift() does.
  void shift(ptrdiff_t sent, ptrdiff_t received, const std::function<bool(const void *)> &stays);

  /// Begins a run. The memory belongs to this object until the run is done.
  void start(uint32_t number);
  bool isDone() const;
  bool progress();
  /// Ends a run that is done.
  Status finish();
  /// Ends a run that cannot be finished.
  void cancel();
  /// The name of the way of the last run.
  std::string way() const { return way_ ? way_->name : "direct"; }

private:
  FarExchange(ServedComm &comm, bool sendsSame, uint32_t stream);
  static void add(std::vector<FarMessage> &messages, int peer, std::span<const iovec> pieces);
  Status route();
  void use(NeighborGraph::Way way);
  std::vector<const FarMessage *> inRounds() const;
  bool goesStraight(const FarMessage &message) const {
    return !relayed_ || message.bytes > way_->capacityBytes;
  }

  protocol::RemoteWorker &worker_;
  protocol::RankGroup group_;
  uint32_t stream_;
  bool sendsSame_;
  std::shared_ptr<const bool> hasStaticBuffers_; ///< by an info hint, which may be revoked
  bool keepsMemory_ = false;                     ///< straight_ keeps its memory registered
  std::shared_ptr<NeighborGraph> graph_;         ///< null once the way is known
  std::shared_ptr<PlanGroup> plans_;             ///< with a graph
  NeighborGraph::Way way_;                       ///< null: `direct`
  std::vector<FarMessage> out_, in_;             ///< by peer
  std::unique_ptr<RemoteExchange> straight_;     ///< null: there is none
  std::unique_ptr<RelayedExchange> relayed_;
  bool isRouted_ = false; ///< false: the last route() failed
  Status begun_;          ///< status of the run
};

} // namespace colldsl::mpi

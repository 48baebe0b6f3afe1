/// Connections of this rank to ranks of MPI_COMM_WORLD that sit on other nodes: over a network, or
/// over the messages of the MPI below.
///
/// Over a network any thread may progress it, arriving messages end a sleep, and peers are watched:
/// once one is gone everything fails, on all ranks. Over the MPI below the MPI itself has to detect
/// that a rank is gone.
///
/// Threads: one at a time. Errors: after a permanent failure nothing moves any more, see status().
#pragma once

#include "mpi/Mpi.h"
#include "protocol/local/LocalOptions.h"
#include "protocol/local/RunProgress.h"
#include "protocol/remote/RemoteWorker.h"
#include "runtime/job/OnNetwork.h"

namespace colldsl::mpi {

class RemoteRanks : protocol::RunStatus {
public:
  /// Collective over `world`. An error is one on all ranks. `runs`: of this rank.
  static Result<std::unique_ptr<RemoteRanks>>
  overNetwork(MPI_Comm world, const Network &network, WakeupPreference wakeup,
              std::shared_ptr<const protocol::ProgressTable> runs);
  /// Collective over `world`. Never null: see status().
  static std::unique_ptr<RemoteRanks> overMpi(MPI_Comm world,
                                              std::shared_ptr<const protocol::ProgressTable> runs);
  /// Called before MPI_Init, reads the environment of this process: true if there may be several
  /// nodes, connected by nothing but the MPI below.
  static bool mayBeOverMpi();
  RemoteRanks(const RemoteRanks &) = delete;

  protocol::RemoteWorker &worker() { return *worker_; }

  /// For people: "the MPI below", say.
  std::string name() const { return std::string(worker_->transport().capabilities().name); }

  /// True if progress calls the MPI below, which not every thread may.
  bool isOfMpi() const { return !worker_->transport().capabilities().isWatched; }

  /// Moves all messages once, and now and then checks for failures. True: something moved.
  bool progress();

  /// The event to wait for if nothing moves. Empty: something can move now.
  std::optional<protocol::Wakeup> wakeup();

  /// The permanent failure, if there is one.
  Status status() const;

  /// Collective, called last. Waits until all messages are sent, on this rank and on the others.
  void leave();

  /// The stream of an operation along the topology of a communicator. Its messages have tags
  /// {context, stream, run, owner} within a node; between nodes the owner of the context is part of
  /// the stream. Empty: there are too many.
  static std::optional<uint32_t> streamOf(uint32_t stream, uint32_t owner, uint32_t numRanks);

  /// The first stream of the plans of a context; the owner of the context is added. Streams of
  /// operations are below.
  static constexpr uint32_t kPlansOf = 1u << 31;

private:
  RemoteRanks(std::shared_ptr<const protocol::ProgressTable> runs, uint32_t numRanks)
      : runs_(std::move(runs)), numRanks_(numRanks) {}
  Status open(Rank self, OnNetwork network);
  bool isOverHere(const Tag &tag) const override;

  std::shared_ptr<const protocol::ProgressTable> runs_;
  uint32_t numRanks_;
  std::unique_ptr<protocol::RemoteWorker> worker_;
};

} // namespace colldsl::mpi

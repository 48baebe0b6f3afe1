/// How this rank reaches ranks of MPI_COMM_WORLD that sit on other nodes: over libfabric, or over
/// the messages of the MPI below.
///
/// Over libfabric any thread may progress it, what comes ends a sleep, and peers are watched: once
/// one is gone everything fails, on all ranks. Over the MPI below the MPI itself has to
/// notice that a rank is gone.
///
/// Threads: one at a time. Errors: once something failed for good nothing moves any more, see
/// status().
#pragma once

#include "mpi/Mpi.h"
#include "protocol/local/LocalOptions.h"
#include "protocol/local/RunProgress.h"
#include "protocol/remote/RemoteWorker.h"
#include "runtime/OnNetwork.h"

namespace colldsl::mpi {

class RemoteRanks : protocol::RunStatus {
public:
  /// Collective over `world`. An error is one on all ranks. `runs`: of this rank.
  static Result<std::unique_ptr<RemoteRanks>>
  overNetwork(MPI_Comm world, WakeupPreference wakeup,
              std::shared_ptr<const protocol::ProgressTable> runs);
  /// Collective over `world`. Never null: see status().
  static std::unique_ptr<RemoteRanks> overMpi(MPI_Comm world,
                                              std::shared_ptr<const protocol::ProgressTable> runs);
  /// Before MPI_Init, by the environment of this process: whether there may be several nodes, with
  /// nothing but the MPI below between them.
  static bool mayBeOverMpi();
  RemoteRanks(const RemoteRanks &) = delete;

  protocol::RemoteWorker &worker() { return *worker_; }

  /// For people: "the MPI below", say.
  std::string name() const { return std::string(worker_->carrier().capabilities().name); }

  /// Whether progress calls the MPI below, which not every thread may.
  bool isOfMpi() const { return !worker_->carrier().capabilities().isWatched; }

  /// Moves what can move, and looks for failures now and then. True: something moved.
  bool progress();

  /// What to wait for where nothing moves. Nothing: there is something now.
  std::optional<protocol::Wakeup> wakeup();

  /// What went wrong for good, if something did.
  Status status() const;

  /// Collective, last of all. Waits until all that was sent is gone, here and elsewhere.
  void leave();

  /// Of an operation along the topology of a communicator, whose messages have tags {context,
  /// stream, run, owner} on a node: there the owner of the context is part of the stream. Nothing:
  /// there are too many.
  static std::optional<uint32_t> streamOf(uint32_t stream, uint32_t owner, uint32_t numRanks);

  /// Of the plans of a context, by its owner. Streams of operations are below.
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

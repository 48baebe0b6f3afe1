/// The ranks of a communicator, and where they sit.
#pragma once

#include "mpi/Job.h"

namespace colldsl::mpi {

/// Never changes. Copies share the list of ranks: duplicates of a communicator have the same.
class CommRanks {
public:
  /// Reads the group of the communicator; local.
  CommRanks(Job &job, MPI_Comm comm);

  Job &job() const { return *job_; }
  int self() const { return self_; }
  int count() const { return static_cast<int>(members_->size()); }
  /// The members as ranks of MPI_COMM_WORLD; kNoRank: a process of another job.
  const std::shared_ptr<const std::vector<Rank>> &members() const { return members_; }
  /// Place of a rank of the communicator on this node; kNoRank: it is elsewhere.
  Rank onNode(int rank) const { return job_->onNode((*members_)[static_cast<size_t>(rank)]); }

  /// True if all processes are of this job.
  bool areOfJob() const;
  /// True if some rank is on another node.
  bool areSpread() const;
  /// True if the communicator has these ranks.
  bool areThoseOf(MPI_Comm comm) const;

private:
  Job *job_;
  int self_ = 0;
  std::shared_ptr<const std::vector<Rank>> members_;
};

} // namespace colldsl::mpi

#include "mpi/comm/CommRanks.h"

#include "mpi/Real.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mpi {
namespace {

std::vector<Rank> membersOf(const Job &job, MPI_Comm comm) {
  int ranks = 0;
  MPI_Group group = MPI_GROUP_NULL;
  real::Comm_size(comm, &ranks);
  real::Comm_group(comm, &group);
  std::vector<int> mine(static_cast<size_t>(ranks)), world(mine.size());
  std::iota(mine.begin(), mine.end(), 0);
  real::Group_translate_ranks(group, ranks, mine.data(), job.worldGroup(), world.data());
  real::Group_free(&group);
  std::vector<Rank> members;
  for (int rank : world)
    members.push_back(rank == MPI_UNDEFINED ? kNoRank : Rank{static_cast<uint32_t>(rank)});
  return members;
}

} // namespace

CommRanks::CommRanks(Job &job, MPI_Comm comm)
    : job_(&job), members_(std::make_shared<const std::vector<Rank>>(membersOf(job, comm))) {
  real::Comm_rank(comm, &self_);
}

bool CommRanks::areOfJob() const {
  return std::find(members_->begin(), members_->end(), kNoRank) == members_->end();
}

bool CommRanks::areSpread() const {
  return std::any_of(members_->begin(), members_->end(), [&](Rank member) {
    return member != kNoRank && job_->onNode(member) == kNoRank;
  });
}

bool CommRanks::areThoseOf(MPI_Comm comm) const { return membersOf(*job_, comm) == *members_; }

} // namespace colldsl::mpi

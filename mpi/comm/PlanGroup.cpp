#include "mpi/comm/PlanGroup.h"

#include "mpi/Job.h"
#include "mpi/remote/RemoteRanks.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

protocol::RankGroup onNode(const Job &job, const std::vector<Rank> &members, Rank self,
                           uint32_t context, protocol::RankGroup::Numbering runs) {
  protocol::RankGroup group{context, {}, self, runs};
  for (Rank member : members)
    group.ranks.push_back(job.onNode(member));
  return group;
}

Topology topologyOf(const Job &job, const std::vector<Rank> &members) {
  std::vector<Place> places;
  for (Rank member : members)
    places.push_back(job.topology().place(member));
  return Topology::fromPlaces(std::move(places));
}

} // namespace

PlanGroup::PlanGroup(Job &job, std::shared_ptr<const std::vector<Rank>> members, Rank self,
                     uint32_t context, uint32_t stream)
    : job_(job), progress_(job.worker().progressTable(), {context, stream, 0, 0}),
      local_(job.worker(), onNode(job, *members, self, context, {stream, &next_}), nullptr),
      communicator_(connect(*members, context, stream), topologyOf(job, *members)) {}

// If all ranks are on this node, plans use the local endpoint directly.
Endpoint &PlanGroup::connect(const std::vector<Rank> &members, uint32_t context, uint32_t stream) {
  std::vector<bool> isRemote;
  for (Rank member : members)
    isRemote.push_back(job_.onNode(member) == kNoRank);
  if (std::find(isRemote.begin(), isRemote.end(), true) == isRemote.end())
    return local_;
  protocol::RankGroup group{context, members, local_.rank(), {stream, &next_}};
  remote_.emplace(job_.remote()->worker(), std::move(group), nullptr);
  return hybrid_.emplace(local_, *remote_, std::move(isRemote));
}

} // namespace colldsl::mpi

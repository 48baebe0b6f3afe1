#include "runtime/Meeting.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace colldsl {
namespace {

Result<std::unique_ptr<shm::World>> openWorldOf(const Card &card, uint32_t numRanks,
                                                const shm::Options &options) {
  std::string path = concat("/proc/", card.process, "/fd/", card.descriptor);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return Status::error(concat("cannot open the shared memory of the node's first rank at ", path,
                                ": ", std::strerror(errno)));
  Result<std::unique_ptr<shm::World>> world = shm::World::open(file, numRanks, options);
  close(file);
  return world;
}

} // namespace

Meeting::Meeting(const OutOfBand &launcher, const shm::Options &options)
    : launcher_(launcher), options_(options), mine_(makeCard(launcher)) {
  if (launcher.rank >= launcher.numRanks)
    noteTrouble(mine_,
                concat("there is no rank ", launcher.rank, " among ", launcher.numRanks, " ranks"));
}

void Meeting::note(const Status &trouble) {
  if (!trouble && !mine_.trouble[0])
    noteTrouble(mine_, trouble.message());
}

Status Meeting::exchange() {
  if (Status s = exchangeCards(launcher_, mine_, cards_); !s)
    return s;
  return compare(cards_);
}

// On one node that is all that there is to be told of the memory.
Status Meeting::begin(bool offers) {
  if (launcher_.numRanks == 0)
    return Status::error("there are no ranks");
  if (offers && launcher_.rank == 0)
    make(launcher_.numRanks);
  return exchange();
}

void Meeting::make(uint32_t numRanks) {
  Result<std::unique_ptr<shm::World>> world = shm::World::create(numRanks, options_);
  note(world.status());
  if (!world)
    return;
  world_ = world.take();
  mine_.descriptor = world_->descriptor();
}

void Meeting::open(const Card &owner, uint32_t numRanks) {
  Result<std::unique_ptr<shm::World>> world = openWorldOf(owner, numRanks, options_);
  note(world.status());
  if (world)
    world_ = world.take();
}

Result<WiredUp> Meeting::share(std::vector<uint32_t> nodes) {
  std::vector<uint32_t> members = ranksOfNode(nodes, launcher_.rank);
  auto numRanks = static_cast<uint32_t>(members.size());
  bool isFirst = members[0] == launcher_.rank;
  if (!isOneNode(nodes)) {
    world_.reset();
    if (isFirst)
      make(numRanks);
    if (Status s = exchange(); !s)
      return s;
  }
  if (!isFirst)
    open(cards_[members[0]], numRanks);
  if (Status s = exchange(); !s)
    return s;
  world_->closeDescriptor();
  // So that one that dies before it joins is noticed.
  for (uint32_t i = 0; i < numRanks; ++i)
    world_->control(Rank{i}).pid.store(cards_[members[i]].process, std::memory_order_release);
  WiredUp wired;
  wired.world = std::move(world_);
  wired.nodes = std::move(nodes);
  wired.pus = pusOf(members);
  return wired;
}

std::vector<uint32_t> Meeting::pusOf(std::span<const uint32_t> ranks) const {
  std::vector<std::vector<uint32_t>> allowed;
  for (uint32_t r : ranks)
    allowed.push_back(listPus(cards_[r].allowed));
  return spreadRanks(allowed);
}

std::vector<Threads> Meeting::seats() const {
  std::vector<uint32_t> hosts = firstOfHosts(cards_);
  std::vector<Threads> seats;
  for (uint32_t r = 0; r <= launcher_.rank; ++r)
    if (hosts[r] == hosts[launcher_.rank])
      seats.push_back(listPus(cards_[r].allowed));
  return seats;
}

std::vector<uint32_t> ranksOfNode(std::span<const uint32_t> nodes, uint32_t rank) {
  std::vector<uint32_t> members;
  for (uint32_t r = 0; r < nodes.size(); ++r)
    if (nodes[r] == nodes[rank])
      members.push_back(r);
  return members;
}

bool isOneNode(std::span<const uint32_t> nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](uint32_t first) { return first == 0; });
}

} // namespace colldsl

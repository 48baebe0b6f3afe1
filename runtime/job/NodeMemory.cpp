#include "runtime/job/NodeMemory.h"

#include "ir/Concat.h"
#include "wireup/Nodes.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace colldsl {
namespace {

Result<std::unique_ptr<shm::World>> openWorldOf(const ProcessInfo &info, uint32_t numRanks,
                                                const shm::Options &options) {
  std::string path = concat("/proc/", info.process, "/fd/", info.descriptor);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return Status::error(concat("cannot open the shared memory of the node's first rank at ", path,
                                ": ", std::strerror(errno)));
  Result<std::unique_ptr<shm::World>> world = shm::World::open(file, numRanks, options);
  close(file);
  return world;
}

} // namespace

void NodeMemory::offer() {
  if (oob_.rank == 0 && oob_.numRanks > 0)
    make(oob_.numRanks);
}

void NodeMemory::make(uint32_t numRanks) {
  Result<std::unique_ptr<shm::World>> world = shm::World::create(numRanks, options_);
  exchange_.note(world.status());
  if (!world)
    return;
  world_ = world.take();
  exchange_.mine().descriptor = world_->descriptor();
}

void NodeMemory::open(const ProcessInfo &owner, uint32_t numRanks) {
  Result<std::unique_ptr<shm::World>> world = openWorldOf(owner, numRanks, options_);
  exchange_.note(world.status());
  if (world)
    world_ = world.take();
}

Result<WiredUp> NodeMemory::share(std::vector<uint32_t> nodes) {
  std::vector<uint32_t> members = ranksOfNode(nodes, oob_.rank);
  auto numRanks = static_cast<uint32_t>(members.size());
  bool isFirst = members[0] == oob_.rank;
  if (!isOneNode(nodes)) {
    world_.reset();
    if (options_.ranksOnMachine == 0) // other nodes may be on this machine, as containers are
      options_.ranksOnMachine = countOnMachine(exchange_.processes(), oob_.rank);
    if (isFirst)
      make(numRanks);
    if (Status s = exchange_.run(); !s)
      return s;
  }
  if (!isFirst)
    open(exchange_.processes()[members[0]], numRanks);
  if (Status s = exchange_.run(); !s)
    return s;
  world_->closeDescriptor();
  // Process ids are stored here, so that the death of a rank that has not joined yet is detected.
  for (uint32_t i = 0; i < numRanks; ++i)
    world_->control(Rank{i}).pid.store(exchange_.processes()[members[i]].process,
                                       std::memory_order_release);
  WiredUp wired;
  wired.world = std::move(world_);
  wired.nodes = std::move(nodes);
  wired.pus = exchange_.pusOf(members);
  return wired;
}

} // namespace colldsl

#include "transports/shm/World.h"
#include "transports/shm/ShmEndpoint.h"
#include "transports/shm/Sleep.h"

#include "ir/Concat.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl::shm {
namespace {

constexpr uint64_t kPage = 4096;

constexpr uint64_t roundUp(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

constexpr uint64_t kControlBegin = roundUp(sizeof(WorldHeader), kLineBytes);

uint64_t arenasBegin(uint32_t numRanks) {
  return roundUp(kControlBegin + uint64_t{numRanks} * sizeof(RankControl), kPage);
}

Status checkOptions(uint32_t numRanks, const Options &options) {
  if (numRanks == 0)
    return Status::error("a world needs at least one rank");
  if (options.reservedCells == 0 || options.cellsPerPlan < options.reservedCells)
    return Status::error("at least one cell is reserved, and no more than there are");
  if (options.cellBytes < kLineBytes || options.cellBytes % kLineBytes != 0)
    return Status::error("the size of a cell is a multiple of " + std::to_string(kLineBytes));
  if (options.arenaBytes % kPage != 0 || options.arenaBytes > UINT64_MAX / 2 / numRanks)
    return Status::error("the size of an arena is a multiple of " + std::to_string(kPage));
  return {};
}

} // namespace

std::string reasonOfDeath(Rank rank) { return concat("rank ", index(rank), " died"); }

Result<std::unique_ptr<World>> World::create(uint32_t numRanks, Options options) {
  if (Status s = checkOptions(numRanks, options); !s)
    return s;
  std::unique_ptr<World> world(new World(numRanks, std::move(options)));
  world->descriptor_ = memfd_create("colldsl", MFD_CLOEXEC);
  if (world->descriptor_ < 0)
    return Status::error(concat("cannot make shared memory: ", std::strerror(errno)));
  if (ftruncate(world->descriptor_, static_cast<off_t>(world->sizeBytes_)) != 0)
    return Status::error(concat("cannot make ", world->sizeBytes_,
                                " bytes of shared memory: ", std::strerror(errno)));
  if (Status s = world->map(world->descriptor_); !s)
    return s;
  new (world->base_) WorldHeader();
  for (uint32_t r = 0; r < numRanks; ++r)
    new (&world->control(Rank{r})) RankControl();
  return world;
}

Result<std::unique_ptr<World>> World::open(int descriptor, uint32_t numRanks, Options options) {
  if (Status s = checkOptions(numRanks, options); !s)
    return s;
  std::unique_ptr<World> world(new World(numRanks, std::move(options)));
  struct stat file {};
  if (fstat(descriptor, &file) != 0)
    return Status::error(concat("cannot read the size of shared memory: ", std::strerror(errno)));
  if (static_cast<uint64_t>(file.st_size) != world->sizeBytes_)
    return Status::error(concat("the shared memory has ", file.st_size, " bytes, not ",
                                world->sizeBytes_,
                                "; do all ranks have the same number of ranks and options?"));
  if (Status s = world->map(descriptor); !s)
    return s;
  return world;
}

World::World(uint32_t numRanks, Options options)
    : numRanks_(numRanks), options_(std::move(options)),
      sizeBytes_(arenasBegin(numRanks) + numRanks * options_.arenaBytes),
      bells_(std::make_unique<Bells>(numRanks)) {}

Status World::map(int descriptor) {
  void *memory =
      mmap(nullptr, sizeBytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED)
    return Status::error(
        concat("cannot map ", sizeBytes_, " bytes of shared memory: ", std::strerror(errno)));
  base_ = static_cast<std::byte *>(memory);
  return {};
}

void World::closeDescriptor() {
  if (descriptor_ >= 0)
    close(descriptor_);
  descriptor_ = -1;
}

World::~World() {
  closeDescriptor();
  if (base_)
    munmap(base_, sizeBytes_);
}

RankControl &World::control(Rank rank) const {
  return reinterpret_cast<RankControl *>(base_ + kControlBegin)[index(rank)];
}

uint64_t World::arenaBegin(Rank rank) const {
  return arenasBegin(numRanks_) + index(rank) * options_.arenaBytes;
}

Result<std::unique_ptr<Endpoint>> World::attach(Rank rank) {
  auto endpoint = std::make_unique<ShmEndpoint>(*this, rank);
  if (Status s = endpoint->join(); !s)
    return s;
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

void World::wakeSleeper(Rank rank) const {
  std::atomic<uint32_t> &word = control(rank).sleeping;
  uint32_t how = word.exchange(0, std::memory_order_acq_rel);
  if (how == RankControl::kOnBell)
    bells_->ring(index(rank), control(rank));
  else if (how != 0)
    futexWakeAll(word);
}

void World::report(uint64_t plan, const Fault &fault, uint32_t run) const {
  FailureLog &log = header().failures;
  uint32_t n = log.count.fetch_add(1, std::memory_order_acq_rel);
  if (n < FailureLog::kRecords) {
    FailureRecord &record = log.records[n];
    record.plan = plan;
    record.run = run;
    record.kind = fault.kind;
    record.culprit = fault.peer;
    std::strncpy(record.reason, fault.reason.c_str(), sizeof record.reason - 1);
    record.ready.store(1, std::memory_order_release);
  }
  for (uint32_t r = 0; r < numRanks_; ++r)
    wakeSleeper(Rank{r});
}

void World::reportDeath(Rank rank) const {
  report(FailureRecord::kEveryPlan, {rank, kNoOp, reasonOfDeath(rank), ErrorKind::RankDied});
}

std::optional<Fault> World::findFailure(uint64_t plan, uint32_t &seen, uint32_t run) const {
  const FailureLog &log = header().failures;
  uint32_t count = log.count.load(std::memory_order_acquire);
  if (count > FailureLog::kRecords)
    return Fault{kNoRank, kNoOp, "too many failures before", ErrorKind::Other};
  for (; seen < count; ++seen) {
    const FailureRecord &record = log.records[seen];
    if (record.ready.load(std::memory_order_acquire) == 0)
      return std::nullopt; // being written; next time
    bool isOurs = record.plan == plan && (record.run == 0 || record.run == run);
    if (isOurs || record.plan == FailureRecord::kEveryPlan)
      return Fault{record.culprit, kNoOp, record.reason, record.kind};
  }
  return std::nullopt;
}

} // namespace colldsl::shm

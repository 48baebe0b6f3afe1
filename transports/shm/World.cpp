#include "transports/shm/World.h"
#include "transports/shm/Sleep.h"

#include "ir/Concat.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
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
  if (options.arenaBytes % kPage != 0)
    return Status::error("the size of an arena is a multiple of " + std::to_string(kPage));
  if (options.arenaBytes > UINT64_MAX / 2 / numRanks ||
      options.lentBytes > UINT64_MAX / 4 / numRanks)
    return Status::error(std::to_string(numRanks) + " arenas of " +
                         std::to_string(options.arenaBytes) +
                         " bytes are more than an address space");
  return {};
}

// The longest wait for a writer, which is done in some hundred nanoseconds, unless it has lost its
// core, or its life.
constexpr std::chrono::milliseconds kLongestWrite{20};

// Failures of runs: a table in which each has its place, so that no reader searches.
// Example: with 4 places run 6 of a plan takes the place of its run 2, and all of its runs up to 2
// are lost: a rank that still waits in one of them learns that it failed.
// A late rank so learns at least that, however many runs have failed meanwhile.

// Runs are numbered modulo 2^32.
bool isAfter(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

void lose(RunFailures &failures, uint64_t plan, uint32_t run) {
  std::atomic<uint64_t> &lost = failures.lost[placeOf(plan)];
  uint64_t before = lost.load(std::memory_order_relaxed), now = 0;
  do {
    auto last = static_cast<uint32_t>(before);
    bool isOurs = before == 0 || before >> 32 == RunFailures::tagOf(plan);
    uint64_t tag = isOurs ? RunFailures::tagOf(plan) : RunFailures::kOfSeveral;
    now = tag << 32 | (before != 0 && isAfter(last, run) ? last : run);
  } while (now != before && !lost.compare_exchange_weak(before, now, std::memory_order_acq_rel));
}

bool isLost(const RunFailures &failures, uint64_t plan, uint32_t run) {
  uint64_t lost = failures.lost[placeOf(plan)].load(std::memory_order_acquire);
  uint64_t tag = lost >> 32;
  bool isOurs = tag == RunFailures::tagOf(plan) || tag == RunFailures::kOfSeveral;
  return isOurs && !isAfter(run, static_cast<uint32_t>(lost));
}

using Words = std::array<uint64_t, sizeof(RunFailure) / sizeof(uint64_t)>;

RunFailure contentOf(const RunFailures::Entry &entry) {
  Words words;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = entry.words[i].load(std::memory_order_acquire);
  RunFailure failure;
  std::memcpy(&failure, words.data(), sizeof failure);
  return failure;
}

// Reads an entry. True: no rank wrote it meanwhile, because its turn is the same before and after.
bool read(const RunFailures::Entry &entry, uint32_t &turn, RunFailure &failure) {
  turn = entry.turn.load(std::memory_order_acquire);
  failure = contentOf(entry);
  return turn % 2 == 0 && entry.turn.load(std::memory_order_acquire) == turn;
}

void write(RunFailures::Entry &entry, const RunFailure &failure) {
  Words words;
  std::memcpy(words.data(), &failure, sizeof failure);
  for (size_t i = 0; i < words.size(); ++i)
    entry.words[i].store(words[i], std::memory_order_release);
}

// Marks a failure that is pushed out as lost, if it is needed, before its place is claimed: a
// reader of a claimed place finds that there was a failure, and a rank that is killed while it
// writes hides none. If a claim never ends, its place stays as it is, and the new failure is lost.
template <typename IsNeeded>
void putDown(RunFailures &failures, const RunFailure &failure, IsNeeded isNeeded) {
  auto loseIfNeeded = [&](const RunFailure &lost) {
    if (isNeeded(lost))
      lose(failures, lost.plan, lost.run);
  };
  RunFailures::Entry &entry = failures.entries[placeOf(failure.plan, failure.run)];
  auto deadline = std::chrono::steady_clock::now() + kLongestWrite;
  while (std::chrono::steady_clock::now() < deadline) {
    RunFailure before;
    uint32_t turn;
    if (!read(entry, turn, before)) {
      std::this_thread::yield();
      continue;
    }
    bool isUsed = turn != 0;
    if (isUsed && before.plan == failure.plan && !isAfter(failure.run, before.run))
      return before.run == failure.run ? void() : loseIfNeeded(failure);
    if (isUsed)
      loseIfNeeded(before);
    if (entry.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acq_rel)) {
      write(entry, failure);
      entry.turn.store(turn + 2, std::memory_order_release);
      return;
    }
  }
  lose(failures, failure.plan, failure.run);
}

RunFailure failureOf(uint64_t plan, uint32_t run, const Fault &fault) {
  RunFailure failure{plan, run, fault.peer, fault.kind, {}};
  std::strncpy(failure.reason, fault.reason.c_str(), sizeof failure.reason - 1);
  return failure;
}

std::optional<Fault> find(const RunFailures &failures, uint64_t plan, uint32_t run,
                          const char *otherwise) {
  RunFailure found;
  uint32_t turn;
  if (read(failures.entries[placeOf(plan, run)], turn, found) && found.plan == plan &&
      found.run == run)
    return Fault{found.culprit, kNoOp, found.reason, found.kind};
  if (isLost(failures, plan, run))
    return Fault{kNoRank, kNoOp, otherwise, ErrorKind::Other};
  return std::nullopt;
}

uint64_t groupOf(uint64_t plan) { return plan >> 32; }

// Plans are numbered from 1, as runs are.
uint32_t numberOf(uint64_t plan) { return static_cast<uint32_t>(plan) + 1; }

} // namespace

std::string reasonOfDeath(Rank rank) { return concat("rank ", index(rank), " died"); }

Result<std::unique_ptr<World>> World::create(uint32_t numRanks, Options options) {
  if (Status s = checkOptions(numRanks, options); !s)
    return s;
  std::unique_ptr<World> world(new World(numRanks, std::move(options)));
  world->descriptor_ = memfd_create("colldsl", MFD_CLOEXEC);
  if (world->descriptor_ < 0)
    return Status::error(concat("cannot make shared memory: ", std::strerror(errno)));
  if (ftruncate(world->descriptor_, static_cast<off_t>(world->sizeBytes())) != 0)
    return Status::error(concat("cannot make ", world->sizeBytes(),
                                " bytes of shared memory: ", std::strerror(errno)));
  if (Status s = world->map(world->descriptor_); !s)
    return s;
  new (world->base_) WorldHeader();
  const Options &made = world->options_;
  world->header().ranksOnMachine = made.ranksOnMachine ? made.ranksOnMachine : numRanks;
  world->header().sharesCores = isOversubscribed(world->ranksOnMachine());
  world->wakersFence_ = world->sharesCores();
  bool mayChoose = made.measuresCopies && made.singleCopy == SingleCopy::On && numRanks > 1;
  std::optional<CopySizes> sizes;
  if (mayChoose)
    sizes = world->sharesCores() ? CopySizes{kSingleCopyOnSharedCores, UINT32_MAX} : made.copySizes;
  world->header().measuresCopies = mayChoose && !sizes;
  if (sizes)
    world->setCopySizes(*sizes);
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
  if (static_cast<uint64_t>(file.st_size) != world->sizeBytes())
    return Status::error(concat("the shared memory has ", file.st_size, " bytes, not ",
                                world->sizeBytes(),
                                "; do all ranks have the same number of ranks and options?"));
  if (Status s = world->map(descriptor); !s)
    return s;
  world->wakersFence_ = world->sharesCores();
  return world;
}

World::World(uint32_t numRanks, Options options)
    : numRanks_(numRanks), options_(std::move(options)),
      mappedBytes_(arenasBegin(numRanks) + numRanks * options_.arenaBytes),
      wakeupPipes_(std::make_unique<WakeupPipes>(numRanks)) {}

Status World::map(int descriptor) {
  void *memory = mmap(nullptr, mappedBytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      descriptor, 0);
  if (memory == MAP_FAILED)
    return Status::error(
        concat("cannot map ", mappedBytes_, " bytes of shared memory: ", std::strerror(errno)));
  base_ = static_cast<std::byte *>(memory);
  if (options_.lentBytes == 0)
    return {};
  Result<std::unique_ptr<LentMemory>> lent = LentMemory::open(descriptor);
  if (lent)
    lent_ = lent.take();
  return lent.status();
}

// A block that its rank changes just now is not the one that is searched.
std::byte *World::reachLent(uint64_t offset) const {
  if (std::byte *found = lent_->find(offset))
    return found;
  Rank owner{static_cast<uint32_t>((offset - mappedBytes_) / options_.lentBytes)};
  for (uint64_t at = control(owner).lentBlocks.load(std::memory_order_acquire); at != 0;) {
    const auto &block = *reinterpret_cast<const LentBlock *>(this->at(at));
    uint32_t use = block.use.load(std::memory_order_acquire);
    uint64_t into = offset - block.begin.load(std::memory_order_acquire);
    if (use % 2 != 0 && into < block.bytes.load(std::memory_order_acquire) &&
        block.use.load(std::memory_order_relaxed) == use)
      return lent_->reach(offset, block);
    at = block.next;
  }
  return nullptr;
}

uint32_t World::ranksOnMachine() const { return header().ranksOnMachine; }

bool World::sharesCores() const { return header().sharesCores != 0; }

// If the system cannot remove the pages, they stay. Its pages may be longer than those of the
// layout, and it rounds lengths up.
void World::returnPages(uint64_t offset, uint64_t bytes) const {
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t begin = roundUp(offset, page), end = (offset + bytes) / page * page;
  if (begin < end)
    (void)madvise(base_ + begin, end - begin, MADV_REMOVE);
}

void World::closeDescriptor() {
  if (descriptor_ >= 0)
    close(descriptor_);
  descriptor_ = -1;
}

World::~World() {
  closeDescriptor();
  if (base_)
    munmap(base_, mappedBytes_);
}

RankControl &World::control(Rank rank) const {
  return reinterpret_cast<RankControl *>(base_ + kControlBegin)[index(rank)];
}

uint64_t World::arenaBegin(Rank rank) const {
  return arenasBegin(numRanks_) + index(rank) * options_.arenaBytes;
}

// The exchange releases the event to the thread that announces its sleep next, and so finds it; the
// count comes behind it. The sleeper needs nothing of the count.
void World::wakeSleeper(Rank rank) const {
  std::atomic<uint32_t> &word = control(rank).sleeping;
  uint32_t how = word.exchange(0, std::memory_order_seq_cst);
  if (how == 0)
    return;
  control(rank).wakes.fetch_add(1, std::memory_order_seq_cst);
  if ((how & RankControl::kOnFd) != 0)
    wakeupPipes_->wake(index(rank), control(rank));
  if ((how & RankControl::kOnWord) != 0)
    futexWakeAll(control(rank).wakes);
}

WakeupEpoch World::armSleep(Rank self, uint32_t how) const {
  return shm::armSleep(control(self), wakersFence_, how);
}

void World::sleepOnWord(Rank self, WakeupEpoch epoch, std::chrono::nanoseconds atMost) const {
  sleepOn(control(self).wakes, epoch, boundedSleep(atMost, wakersFence_));
}

void World::sleepOnFd(Rank self, WakeupEpoch epoch, int file,
                      std::chrono::nanoseconds atMost) const {
  wakeupPipes_->sleep(control(self).wakes, epoch, file, boundedSleep(atMost, wakersFence_));
}

void World::notifyAll() const {
  header().reports.fetch_add(1, std::memory_order_acq_rel);
  for (uint32_t r = 0; r < numRanks_; ++r)
    wakeSleeper(Rank{r});
}

bool World::hasOpen(Rank rank, uint32_t number) const {
  for (uint64_t at = control(rank).openPlans.load(std::memory_order_acquire); at != 0;) {
    const auto &entry = *reinterpret_cast<const OpenPlan *>(this->at(at));
    if (entry.number.load(std::memory_order_acquire) == number)
      return true;
    at = entry.next;
  }
  return false;
}

// True if a rank has the plan open, or may open it. Ranks that died or left do not.
bool World::isNeeded(const RunFailure &failure) const {
  for (uint32_t r = 0; r < numRanks_; ++r) {
    uint32_t opened = control(Rank{r}).plansOpened.load(std::memory_order_acquire);
    if ((opened < failure.run || hasOpen(Rank{r}, failure.run)) && !isDead(Rank{r}) &&
        !hasLeft(Rank{r}))
      return true;
  }
  return false;
}

void World::report(uint64_t plan, const Fault &fault, bool isOfAll) const {
  RunFailure failure = failureOf(groupOf(plan), numberOf(plan), fault);
  putDown(header().planFailures, failure, [&](const RunFailure &lost) {
    return !isOfAll || lost.plan != failure.plan || isNeeded(lost);
  });
  notifyAll();
}

void World::reportToAll(const Fault &fault) const {
  RunFailures::Entry &entry = header().everything;
  if (uint32_t turn = 0; entry.turn.compare_exchange_strong(turn, 1, std::memory_order_acq_rel)) {
    write(entry, failureOf(0, 0, fault));
    entry.turn.store(2, std::memory_order_release);
  }
  notifyAll();
}

// Each reporter counts: another one may not have come so far, or die before it does. Who reads the
// count, which only read-modify-writes change, acquires all that they released.
void World::reportDeath(Rank rank) const {
  control(rank).isDead.store(1, std::memory_order_release);
  header().deaths.fetch_add(1, std::memory_order_release);
  notifyAll();
}

std::optional<Fault> World::findFailure(uint64_t plan) const {
  return find(header().planFailures, groupOf(plan), numberOf(plan),
              "too many plans failed since this one was opened");
}

// The rank that wrote the reason down may have died meanwhile.
std::optional<Fault> World::findFailureOfAll() const {
  const RunFailures::Entry &entry = header().everything;
  if (entry.turn.load(std::memory_order_acquire) == 0)
    return std::nullopt;
  RunFailure found;
  uint32_t turn;
  for (auto deadline = std::chrono::steady_clock::now() + kLongestWrite; !read(entry, turn, found);)
    if (std::chrono::steady_clock::now() > deadline)
      return Fault{kNoRank, kNoOp, "a rank failed before it could say why", ErrorKind::Other};
  return Fault{found.culprit, kNoOp, found.reason, found.kind};
}

void World::reportRun(uint64_t plan, uint32_t run, const Fault &fault) const {
  putDown(header().runFailures, failureOf(plan, run, fault),
          [](const RunFailure &) { return true; });
  notifyAll();
}

std::optional<Fault> World::findRunFailure(uint64_t plan, uint32_t run) const {
  return find(header().runFailures, plan, run, "too many runs failed since this one began");
}

} // namespace colldsl::shm

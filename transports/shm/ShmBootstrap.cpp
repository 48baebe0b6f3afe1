#include "transports/shm/ShmBootstrap.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace colldsl::shm {
namespace {

// A rank's bootstrap data lies in its arena: a directory, sorted by peer, then the bytes.
struct DirectoryEntry {
  Rank peer;
  uint32_t bytes;
  uint64_t offset; // in the mapping
};

} // namespace

// Fails everything, everywhere: no rank can go on without the missing one.
Status ShmBootstrap::fail(Rank rank, const std::string &what) const {
  std::string reason = "rank " + std::to_string(index(rank)) + " " + what;
  world_.reportToAll({rank, kNoOp, reason});
  return Status::error(reason);
}

// Yields at first, because ranks open plans at about the same time, and dozes later.
template <typename Condition> Status ShmBootstrap::waitFor(Rank rank, Condition condition) {
  const RankControl &control = world_.control(rank);
  auto begin = std::chrono::steady_clock::now();
  for (uint32_t turn = 0; !condition(control); ++turn) {
    if (whileWaiting_)
      whileWaiting_();
    failureDetector_.poll();
    // Failures of single plans are no reason to stop.
    auto fault = world_.findDeath([](Rank) { return true; });
    if (!fault)
      fault = world_.findFailureOfAll();
    if (fault)
      return Status::error(fault->kind, fault->reason);
    if (control.left.load(std::memory_order_acquire) != 0 && !condition(control))
      return fail(rank, "has left");
    const Options &options = world_.options();
    if (options.isInterrupted && options.isInterrupted())
      return fail(self_, "was interrupted");
    if (std::chrono::steady_clock::now() - begin > options.bootstrapTimeout)
      return fail(rank, "did not come");
    if (turn < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return {};
}

Status ShmBootstrap::exchangePids() {
  world_.control(self_).pid.store(getpid(), std::memory_order_release);
  for (uint32_t r = 0; r < world_.numRanks(); ++r) {
    Status s = waitFor(Rank{r}, [](const RankControl &control) {
      return control.pid.load(std::memory_order_acquire) != 0;
    });
    if (!s)
      return s;
  }
  return {};
}

Status exchangePids(World &world, Rank self) {
  Arena nothing(0, 0);
  std::mutex mutex;
  FailureDetector failureDetector(world, self);
  return ShmBootstrap(world, self, nothing, mutex, failureDetector).exchangePids();
}

Result<uint64_t> ShmBootstrap::putOut(std::span<const BootstrapData> out) {
  uint64_t directoryBytes = sizeof(uint64_t) + out.size() * sizeof(DirectoryEntry);
  uint64_t bytes = directoryBytes;
  for (const BootstrapData &data : out)
    bytes += data.bytes.size();
  std::unique_lock lock(arenaMutex_);
  uint64_t block = arena_.allocate(bytes);
  lock.unlock();
  if (block == Arena::kNoRoom)
    return fail(self_,
                "has no shared memory left for an exchange of " + std::to_string(bytes) + " bytes");
  uint64_t count = out.size();
  std::memcpy(world_.at(block), &count, sizeof count);
  auto *directory = reinterpret_cast<DirectoryEntry *>(world_.at(block) + sizeof count);
  uint64_t next = block + directoryBytes;
  for (const BootstrapData &data : out) {
    *directory++ = {data.peer, static_cast<uint32_t>(data.bytes.size()), next};
    std::copy(data.bytes.begin(), data.bytes.end(), world_.at(next));
    next += data.bytes.size();
  }
  return block;
}

void ShmBootstrap::fetch(BootstrapData &data) const {
  const std::byte *block =
      world_.at(world_.control(data.peer).bootstrapData.load(std::memory_order_relaxed));
  uint64_t count;
  std::memcpy(&count, block, sizeof count);
  auto *begin = reinterpret_cast<const DirectoryEntry *>(block + sizeof count);
  auto *entry = std::lower_bound(begin, begin + count, self_,
                                 [](const DirectoryEntry &e, Rank r) { return e.peer < r; });
  data.bytes.clear();
  if (entry != begin + count && entry->peer == self_)
    data.bytes.assign(world_.at(entry->offset), world_.at(entry->offset) + entry->bytes);
}

Status ShmBootstrap::exchange(std::span<const BootstrapData> out, std::span<BootstrapData> in) {
  Result<uint64_t> block = putOut(out);
  if (!block)
    return block.status();
  RankControl &own = world_.control(self_);
  own.bootstrapData.store(*block, std::memory_order_relaxed);
  own.exchangeSeq.store(++exchanges_, std::memory_order_release);
  Status status;
  for (BootstrapData &data : in) {
    status = waitFor(data.peer, [this](const RankControl &control) {
      return control.exchangeSeq.load(std::memory_order_acquire) == exchanges_;
    });
    if (!status)
      break;
    fetch(data);
  }
  if (status)
    status = barrier(); // all have fetched
  std::lock_guard lock(arenaMutex_);
  arena_.release(*block);
  return status;
}

// Rank 0 counts all ranks in and lets all out. The sequence numbers never go back, so "has come
// this far" is a comparison of differences.
Status ShmBootstrap::barrier() {
  uint32_t turn = ++barriers_;
  auto reached = [turn](const std::atomic<uint32_t> &word) {
    return static_cast<int32_t>(word.load(std::memory_order_acquire) - turn) >= 0;
  };
  RankControl &own = world_.control(self_);
  own.arriveSeq.store(turn, std::memory_order_release);
  if (self_ != Rank{0})
    return waitFor(Rank{0}, [&](const RankControl &root) { return reached(root.releaseSeq); });
  for (uint32_t r = 1; r < world_.numRanks(); ++r) {
    Status s =
        waitFor(Rank{r}, [&](const RankControl &control) { return reached(control.arriveSeq); });
    if (!s)
      return s;
  }
  own.releaseSeq.store(turn, std::memory_order_release);
  return {};
}

} // namespace colldsl::shm

#include "protocol/local/LocalWorker.h"

#include "transports/shm/Sleep.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace colldsl::protocol {

template class SendSide<shm::FifoSender>;
template class ReceiveSide<shm::FifoReceiver>;

namespace {

// Failures can wait for a few rests.
constexpr uint32_t kRestsPerCheck = 16;
// Rests between two calls of the hook if ranks share cores. The library below yields the core, too,
// and a rank that has given it away twice looks half as often.
constexpr uint32_t kRestsPerHook = 8;
// With a hook a rank looks at one message for a microsecond, while most answers are on their way.
constexpr uint32_t kPollsBeforeHook = 200;
// A hook that takes so long has moved something: one that has nothing to do takes less.
constexpr std::chrono::nanoseconds kBusyHook = std::chrono::microseconds(2);
// Shorter blocks are used again soon.
constexpr uint64_t kReturnedBytes = 1 << 20;
// Reading how far a peer is takes its cache line away from it.
constexpr uint32_t kChecksPerProbe = 64;

} // namespace

Status noMemoryFor(Rank peer) {
  return Status::error(ErrorKind::NoMemory, "no shared memory left for a connection to rank " +
                                                std::to_string(index(peer)));
}

LocalWorker::LocalWorker(shm::World &world, Rank self, LocalOptions options)
    : world_(world), self_(self), budget_(shm::spinBudgetAmong(world.ranksOnMachine())),
      options_(std::move(options)),
      mostEager_(static_cast<uint32_t>(std::min<uint64_t>(options_.rendezvousThresholdBytes,
                                                          options_.fifo.longestEagerBytes()))),
      arena_(world.arenaBegin(self), world.options().arenaBytes), lender_(world, self, arena_),
      failureDetector_(world, self),
      table_(std::make_shared<ProgressTable>(world, self, arena_)), context_{options_,
                                                                             discarded_,
                                                                             *table_,
                                                                             {}},
      sends_(world.numRanks()), receives_(world.numRanks()) {
  options_.rendezvousThresholdBytes = mostEager_;
  shm::registerWaker();
  cma::allowPeers();
  canReach_ = world.options().singleCopy == shm::SingleCopy::On;
  mayWarn_ = world.options().singleCopy != shm::SingleCopy::Off;
  sharesCores_ = world.sharesCores();
  budget_.polls = std::min(budget_.polls, options_.mostPolls);
  budget_.pollsInRow =
      std::min(budget_.polls, options_.progressHook ? kPollsBeforeHook : UINT32_MAX);
  if (sharesCores_) // an end that loses its core would keep a part from the other one
    options_.cooperativeMinBytes = UINT64_MAX / 4;
  else
    budget_.yielding = std::max(budget_.yielding, options_.leastYielding);
  if (options_.sleepsOnFiles)
    wakeupFd_ = world.wakeupPipes().create(world.control(self));
}

LocalWorker::~LocalWorker() {
  table_->close();
  world_.control(self_).left.store(1, std::memory_order_release);
}

LocalSends *LocalWorker::sendsTo(Rank peer) {
  std::unique_ptr<LocalSends> &sends = sends_[index(peer)];
  if (sends)
    return sends.get();
  uint64_t offset = arena_.allocate(shm::fifoBytes(options_.fifo.ringBytes));
  if (offset == shm::Arena::kNoRoom)
    return nullptr;
  std::memset(world_.at(offset), 0, shm::fifoBytes(0)); // header and stamps
  auto *header = new (world_.at(offset)) shm::FifoHeader();
  header->from = self_;
  sends = std::make_unique<LocalSends>(options_, world_, peer, offset, options_.fifo, canReach_,
                                       arena_);
  allSends_.push_back(sends.get());
  failureDetector_.watch(peer);
  std::atomic<uint64_t> &requests = world_.control(peer).connectRequests;
  header->nextRequest = requests.load(std::memory_order_relaxed);
  while (!requests.compare_exchange_weak(header->nextRequest, offset, std::memory_order_acq_rel))
    ;
  world_.wake(peer);
  return sends.get();
}

LocalReceives &LocalWorker::receivesFrom(Rank peer) {
  std::unique_ptr<LocalReceives> &receives = receives_[index(peer)];
  if (!receives) {
    receives = std::make_unique<LocalReceives>(context_, world_, peer, peer == self_, options_.fifo,
                                               canReach_, arena_);
    allReceives_.push_back(receives.get());
    failureDetector_.watch(peer);
  }
  return *receives;
}

// Accepts the newest first, back to those that were accepted before.
void LocalWorker::acceptConnections() {
  uint64_t newest = world_.control(self_).connectRequests.load(std::memory_order_acquire);
  for (uint64_t at = newest; at != accepted_ && at != 0;) {
    auto *header = reinterpret_cast<shm::FifoHeader *>(world_.at(at));
    receivesFrom(header->from).wire().connect(at);
    at = header->nextRequest;
  }
  accepted_ = newest;
}

// Posts in the order in which receives were deferred, which is that of the messages.
void LocalWorker::postDeferred() {
  while (firstDeferred_) {
    DeferredReceives &first = *firstDeferred_;
    undefer(first);
    first.post();
  }
}

bool LocalWorker::progress() {
  if (firstDeferred_)
    postDeferred();
  if (world_.control(self_).connectRequests.load(std::memory_order_relaxed) != accepted_)
    acceptConnections();
  bool moved = false;
  for (LocalReceives *receives : allReceives_)
    moved |= receives->progress();
  for (LocalSends *sends : allSends_)
    if (sends->isBusy())
      moved |= sends->progress();
  if (moved && !canReach_ && mayWarn_ && !isTrial_)
    warnOfRefusal();
  return moved;
}

void LocalWorker::warnOfRefusal() {
  mayWarn_ = false;
  if (world_.options().warn)
    world_.options().warn("the kernel does not let ranks read each other's memory; large messages "
                          "are copied twice");
}

// True: something moved, by the time that the hook took. If ranks share cores the time tells
// nothing, since a library may yield the core in there.
bool LocalWorker::progressHook() {
  using Clock = std::chrono::steady_clock;
  if (!options_.progressHook)
    return false;
  Clock::time_point begin = Clock::now();
  options_.progressHook->progress();
  return !sharesCores_ && Clock::now() - begin > kBusyHook;
}

// Messages that arrive after armSleep() end the sleep, so one more look must come between.
Status LocalWorker::rest(Yielding &yielding, const std::function<bool()> &move) {
  thread_local uint32_t rests = 0;
  ProgressHook *hook = options_.progressHook;
  ++rests;
  bool isHookDue = !sharesCores_ || rests % kRestsPerHook == 0;
  bool isBusy = isHookDue && progressHook();
  bool sleeps = !isBusy && !yielding.isWorthIt();
  if (sleeps && !isHookDue)
    progressHook();
  if ((isHookDue || sleeps) && hook && move()) { // others may have had the core meanwhile
    yielding.restart();
    return {};
  }
  if (rests % kRestsPerCheck == 0 || sleeps) {
    if (hook)
      hook->check();
    if (Status s = check(); !s)
      return s;
  }
  if (isBusy) {
    yielding.restart();
    return {};
  }
  WakeupEpoch epoch = sleeps ? armSleep() : 0;
  if (sleeps && move())
    return {};
  std::optional<Wakeup> wakeup = Wakeup{};
  if (sleeps && hook)
    wakeup = hook->wakeup();
  if (hook)
    hook->beforeWait();
  if (!sleeps)
    yielding.yield();
  else if (wakeup)
    sleep(epoch, {wakeup->file, std::min(wakeup->atMost, options_.longestSleep)});
  if (hook)
    hook->afterWait();
  return {};
}

Status LocalWorker::check() {
  failureDetector_.poll();
  std::optional<Fault> fault = world_.findDeath([](Rank) { return true; });
  if (!fault)
    fault = world_.findFailureOfAll();
  if (fault)
    return Status::error(fault->kind, fault->reason);
  if (++checks_ % kChecksPerProbe == 0 && !probes_.empty()) // one after the other
    probes_[checks_ / kChecksPerProbe % probes_.size()]->probe();
  return {};
}

void LocalWorker::setCopyLimits(const CopyLimits &limits) {
  options_.singleCopyMinBytes = limits.singleCopyMinBytes;
  options_.rendezvousThresholdBytes = std::min(mostEager_, limits.rendezvousThresholdBytes);
}

bool LocalWorker::endTrial() {
  isTrial_ = false;
  return std::exchange(canReach_, world_.options().singleCopy == shm::SingleCopy::On);
}

WakeupEpoch LocalWorker::armSleep() {
  return world_.armSleep(self_,
                         wakeupFd_ >= 0 ? shm::RankControl::kOnFd : shm::RankControl::kOnWord);
}

void LocalWorker::sleep(WakeupEpoch epoch, const Wakeup &wakeup) {
  if (wakeup.atMost <= std::chrono::nanoseconds::zero())
    std::this_thread::yield();
  if (wakeupFd_ >= 0)
    world_.sleepOnFd(self_, epoch, wakeup.file, wakeup.atMost);
  else
    world_.sleepOnWord(self_, epoch, wakeup.atMost);
}

void *LocalWorker::allocate(uint64_t bytes) {
  uint64_t offset = arena_.allocate(bytes);
  return offset == shm::Arena::kNoRoom ? nullptr : world_.at(offset);
}

void LocalWorker::release(void *memory) {
  if (lender_.takeBack(memory))
    return;
  uint64_t offset = *world_.offsetOf(memory, 1), bytes = arena_.release(offset);
  if (bytes >= kReturnedBytes)
    world_.returnPages(offset, bytes);
}

bool LocalWorker::owns(const void *memory) const { return world_.offsetOf(memory, 1).has_value(); }

void LocalWorker::discard(const Tag &scope) {
  StreamId stream = streamOf(scope);
  if (scope.run == kAllRuns)
    discarded_.add(stream);
  else
    discarded_.add(RunId{stream, scope.run});
  for (LocalReceives *receives : allReceives_)
    if (scope.run != kAllRuns)
      receives->discard(scope);
    else if (receives->hasClosed(stream))
      receives->closeStream(stream);
}

void LocalWorker::cancel(const CompletionCounter &counter) {
  for (LocalSends *sends : allSends_)
    cancelSends(*sends, counter);
  for (LocalReceives *receives : allReceives_) {
    while (!receives->cancelRtrs(counter) && !world_.isDead(receives->peer())) {
      std::this_thread::yield();
      failureDetector_.poll();
    }
    receives->cancel(counter);
  }
}

// The peer is over with the run, so that it copies nothing just now.
uint32_t LocalWorker::cancel(const CompletionCounter &counter, Rank peer) {
  uint32_t cancelled = receivesFrom(peer).cancel(counter);
  if (LocalSends *sends = sends_[index(peer)].get())
    cancelled += cancelSends(*sends, counter);
  return cancelled;
}

// A copy that the peer has begun ends soon, unless the peer dies.
uint32_t LocalWorker::cancelSends(LocalSends &sends, const CompletionCounter &counter) {
  uint32_t cancelled = 0;
  while (!sends.cancel(counter, cancelled)) {
    std::this_thread::yield();
    failureDetector_.poll();
  }
  return cancelled;
}

} // namespace colldsl::protocol

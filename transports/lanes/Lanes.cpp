#include "transports/lanes/Lanes.h"

#include "transports/shm/Sleep.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace colldsl::lanes {
namespace {

// Failures can wait for a few rests.
constexpr uint32_t kRestsPerCheck = 16;
// With a hook a rank looks at one message for a microsecond, while most answers are on their way.
constexpr uint32_t kLooksBeforeHook = 200;
// A hook that takes so long has moved something: what it has nothing to do for takes less.
constexpr std::chrono::nanoseconds kBusyHook = std::chrono::microseconds(2);
// Looking how far a peer is takes its line away from it.
constexpr uint32_t kChecksPerDoubt = 64;

} // namespace

Status noRoomFor(Rank peer) {
  return Status::error(ErrorKind::NoMemory,
                       "no shared memory left for a lane to rank " + std::to_string(index(peer)));
}

Lanes::Lanes(shm::World &world, Rank self, Options options)
    : world_(world), self_(self),
      patience_(
          shm::patienceAmong(options.ranksOnMachine ? options.ranksOnMachine : world.numRanks())),
      options_(std::move(options)), mostEager_(options_.eagerBytes),
      arena_(world.arenaBegin(self), world.options().arenaBytes), health_(world, self),
      book_(std::make_shared<RunBook>(world, self, arena_)), senders_(world.numRanks()),
      receivers_(world.numRanks()) {
  shm::registerWaker();
  cma::allowPeers();
  canReach_ = world.options().singleCopy == shm::SingleCopy::On;
  mayWarn_ = world.options().singleCopy != shm::SingleCopy::Off;
  bool isCrowded =
      shm::isCrowd(options_.ranksOnMachine ? options_.ranksOnMachine : world.numRanks());
  patience_.looks = std::min(patience_.looks, options_.mostLooks);
  patience_.looksInRow =
      std::min(patience_.looks, options_.progressHook ? kLooksBeforeHook : UINT32_MAX);
  if (!isCrowded)
    patience_.yielding = std::max(patience_.yielding, options_.leastYielding);
  if (options_.sleepsOnFiles)
    bell_ = world.bells().hang(world.control(self));
}

Lanes::~Lanes() {
  book_->close();
  world_.control(self_).left.store(1, std::memory_order_release);
}

LaneSender *Lanes::sender(Rank peer) {
  std::unique_ptr<LaneSender> &sender = senders_[index(peer)];
  if (sender)
    return sender.get();
  uint64_t offset = arena_.allocate(laneBytes(options_.ringBytes));
  if (offset == shm::Arena::kNoRoom)
    return nullptr;
  std::memset(world_.at(offset), 0, laneBytes(0)); // header and stamps
  auto *header = new (world_.at(offset)) LaneHeader();
  header->from = self_;
  sender = std::make_unique<LaneSender>(world_, peer, offset, options_, canReach_, arena_);
  allSenders_.push_back(sender.get());
  health_.watch(peer);
  std::atomic<uint64_t> &knocks = world_.control(peer).knocks;
  header->nextKnock = knocks.load(std::memory_order_relaxed);
  while (!knocks.compare_exchange_weak(header->nextKnock, offset, std::memory_order_acq_rel))
    ;
  world_.wake(peer);
  return sender.get();
}

LaneReceiver &Lanes::receiver(Rank peer) {
  std::unique_ptr<LaneReceiver> &receiver = receivers_[index(peer)];
  if (!receiver) {
    receiver = std::make_unique<LaneReceiver>(world_, peer, peer == self_, options_, canReach_,
                                              refused_, *book_, part_);
    allReceivers_.push_back(receiver.get());
    health_.watch(peer);
  }
  return *receiver;
}

// The newest first, back to those that were answered before.
void Lanes::answerKnocks() {
  uint64_t newest = world_.control(self_).knocks.load(std::memory_order_acquire);
  for (uint64_t at = newest; at != answered_ && at != 0;) {
    auto *header = reinterpret_cast<LaneHeader *>(world_.at(at));
    LaneReceiver &from = receiver(header->from);
    from.connect(at);
    at = header->nextKnock;
  }
  answered_ = newest;
}

// In the order in which they were put off, which is that of what comes.
void Lanes::postAll() {
  while (firstPutOff_) {
    PutOff &first = *firstPutOff_;
    takeUp(first);
    first.post();
  }
}

bool Lanes::poll() {
  if (firstPutOff_)
    postAll();
  if (world_.control(self_).knocks.load(std::memory_order_relaxed) != answered_)
    answerKnocks();
  bool moved = false;
  for (LaneReceiver *receiver : allReceivers_)
    moved |= receiver->poll();
  for (LaneSender *sender : allSenders_)
    if (sender->isBusy())
      moved |= sender->poll();
  if (moved && !canReach_ && mayWarn_)
    warnOfRefusal();
  return moved;
}

void Lanes::warnOfRefusal() {
  mayWarn_ = false;
  if (world_.options().warn)
    world_.options().warn("the kernel does not let ranks read each other's memory; large messages "
                          "are copied twice");
}

// True: something moved, as far as can be told. Where ranks share cores it cannot: a library may
// give the core away in there.
bool Lanes::progressHook() {
  using Clock = std::chrono::steady_clock;
  if (!options_.progressHook)
    return false;
  Clock::time_point begin = Clock::now();
  options_.progressHook->progress();
  bool hasOwnCore = patience_.yielding >= options_.leastYielding;
  return hasOwnCore && Clock::now() - begin > kBusyHook;
}

// Whatever arrives after armSleep() ends the sleep, so one more look must come between.
Status Lanes::rest(Yielding &yielding, const std::function<bool()> &move) {
  thread_local uint32_t rests = 0;
  ProgressHook *hook = options_.progressHook;
  bool isBusy = progressHook();
  bool sleeps = !isBusy && !yielding.isWorthIt();
  if (++rests % kRestsPerCheck == 0 || sleeps) {
    if (hook)
      hook->check();
    if (Status s = check(); !s)
      return s;
  }
  if (isBusy) {
    yielding.restart();
    return {};
  }
  SleepTicket ticket = sleeps ? armSleep() : 0;
  if (sleeps && move())
    return {};
  std::optional<News> news = News{};
  if (sleeps && hook)
    news = hook->news();
  if (hook)
    hook->leave();
  if (!sleeps)
    yielding.yield();
  else if (news)
    sleep(ticket, {news->file, std::min(news->atMost, options_.longestSleep)});
  if (hook)
    hook->comeBack();
  return {};
}

Status Lanes::check() {
  health_.look();
  std::optional<Fault> fault = world_.findDeath([](Rank) { return true; });
  if (!fault)
    fault = world_.findFailureOfAll();
  if (fault)
    return Status::error(fault->kind, fault->reason);
  if (++checks_ % kChecksPerDoubt == 0 && !doubters_.empty()) // one after the other
    doubters_[checks_ / kChecksPerDoubt % doubters_.size()]->doubt();
  return {};
}

void Lanes::setSingleCopyMin(uint64_t bytes) {
  options_.singleCopyMinBytes = bytes;
  options_.eagerBytes = static_cast<uint32_t>(std::min<uint64_t>(mostEager_, bytes - 1));
}

SleepTicket Lanes::armSleep() {
  return world_.armSleep(self_, bell_ >= 0 ? shm::RankControl::kOnBell : shm::RankControl::kOnWord);
}

void Lanes::sleep(SleepTicket ticket, const News &news) {
  if (bell_ >= 0)
    world_.sleepOnBell(self_, ticket, news.file, news.atMost);
  else
    world_.sleepOnWord(self_, ticket, news.atMost);
}

void *Lanes::allocate(uint64_t bytes) {
  uint64_t offset = arena_.allocate(bytes);
  return offset == shm::Arena::kNoRoom ? nullptr : world_.at(offset);
}

void Lanes::release(void *memory) { arena_.release(*world_.offsetOf(memory, 1)); }

bool Lanes::owns(const void *memory) const { return world_.offsetOf(memory, 1).has_value(); }

void Lanes::refuse(StreamId stream) {
  refused_.streams.push_back(stream);
  for (LaneReceiver *receiver : allReceivers_)
    if (receiver->hasClosed(stream))
      receiver->close(stream);
}

void Lanes::refuseRun(StreamId stream, uint32_t run) {
  refused_.add({stream, run});
  for (LaneReceiver *receiver : allReceivers_)
    receiver->drop({stream, run});
}

void Lanes::forget(const Tally &tally) {
  for (LaneSender *sender : allSenders_)
    cancelSends(*sender, tally);
  for (LaneReceiver *receiver : allReceivers_) {
    while (!receiver->revokeAll(tally) && !world_.isDead(receiver->peer())) {
      std::this_thread::yield();
      health_.look();
    }
    receiver->forget(tally);
  }
}

// Of a peer that is over with the run: it is in the middle of nothing.
uint32_t Lanes::forget(const Tally &tally, Rank peer) {
  uint32_t forgotten = receiver(peer).forget(tally);
  if (LaneSender *to = senders_[index(peer)].get())
    forgotten += cancelSends(*to, tally);
  return forgotten;
}

// A copy that the peer has begun with ends soon, unless the peer dies.
uint32_t Lanes::cancelSends(LaneSender &sender, const Tally &tally) {
  uint32_t cancelled = 0;
  while (!sender.cancel(tally, cancelled)) {
    std::this_thread::yield();
    health_.look();
  }
  return cancelled;
}

} // namespace colldsl::lanes

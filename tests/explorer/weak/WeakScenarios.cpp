#include "tests/explorer/weak/WeakScenarios.h"

#include "protocol/local/LocalWorker.h"
#include "transports/RunPlaces.h"
#include "transports/shm/FailureDetector.h"
#include "transports/shm/OpenPlans.h"
#include "transports/shm/ShmBootstrap.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace colldsl::test::weak {
namespace {

using shm::FifoReceiver;
using shm::FifoSender;

constexpr uint64_t kArenaBytes = 64 << 10;
constexpr Rank kSender{0}, kReceiver{1};

/// A world that is as new for each execution.
class FreshWorld {
public:
  FreshWorld() : world_(std::move(*shm::World::create(2, options()))) {
    begin_ = world_->at(0);
    bytes_ = world_->arenaBegin(kReceiver) + kArenaBytes;
    image_.assign(begin_, begin_ + bytes_);
  }
  shm::World &renew() {
    std::memcpy(begin_, image_.data(), bytes_);
    share(begin_, bytes_);
    world_->wakersFence_ = false;
    return *world_;
  }

private:
  static shm::Options options() {
    shm::Options options;
    options.arenaBytes = kArenaBytes;
    return options;
  }

  std::unique_ptr<shm::World> world_;
  std::byte *begin_;
  size_t bytes_;
  std::vector<std::byte> image_;
};

shm::World &freshWorld() {
  static FreshWorld world;
  return world.renew();
}

/// Bytes that tell which message they are of. They own nothing: threads are abandoned anywhere.
struct Bytes {
  explicit Bytes(uint64_t bytes, uint8_t message = 0) : piece{data.data(), bytes} {
    std::fill_n(data.begin(), bytes, std::byte{message});
  }
  Bytes(const Bytes &) = delete;
  Payload payload() const { return {&piece, 1, false, false, piece.iov_len}; }

  std::array<std::byte, shm::kEagerPartBytes + 64> data;
  iovec piece;
};

void expectMessage(const std::byte *at, uint64_t bytes, uint8_t message) {
  bool isWhole =
      std::all_of(at, at + bytes, [&](std::byte byte) { return byte == std::byte{message}; });
  expect(isWhole, "a message has other bytes than were sent");
}

Tag tagOf(uint32_t message) { return {0, 0, 1, message}; }

/// A rank that sends to another one.
class Pipe : public Scenario {
protected:
  explicit Pipe(shm::FifoOptions options)
      : world(freshWorld()), options(options), ownArena(world.arenaBegin(kSender), kArenaBytes),
        otherArena(world.arenaBegin(kReceiver), kArenaBytes),
        fifo(ownArena.allocate(shm::fifoBytes(options.ringBytes))),
        sender(world, kReceiver, fifo, this->options, canReach, ownArena),
        receiver(world, kSender, false, this->options, canReach, otherArena) {
    new (world.at(fifo)) shm::FifoHeader{};
    receiver.connect(fifo);
  }

  /// Memory of a rank that both have mapped.
  std::byte *allocate(shm::Arena &arena, uint64_t bytes) { return world.at(arena.allocate(bytes)); }

  shm::World &world;
  shm::FifoOptions options;
  bool canReach = true;
  shm::Arena ownArena, otherArena;
  uint64_t fifo;
  FifoSender sender;
  FifoReceiver receiver;
};

shm::FifoOptions fifoOptions(uint32_t ringBytes, uint32_t slotsBytes) {
  shm::FifoOptions options;
  options.ringBytes = ringBytes;
  options.slotsBytes = slotsBytes;
  return options;
}

/// Takes what comes, and does nothing with it.
struct Handler {
  using Rts = shm::Rts;

  bool onLongerEager(const Tag &, const shm::RingMessage &) { return true; }
  void onEager(const Tag &, const std::byte *, uint64_t) {}
  void onRts(const Tag &, uint16_t, const Rts &) {}
  void onFragment(uint16_t, const std::byte *, uint64_t) {}
  void onPut(uint16_t) {}
  void onRtsCancelled(uint16_t) {}
  void onStaticRtrs(StreamId, const shm::StaticRtrs &) {}
  void onStreamClosed(StreamId) {}
  void onEarlyRtrPut(const Tag &) {}
  void onStaticRts(const Tag &, const Rts &) {}
};

// Eager messages.

/// Messages of some length, behind others that have gone. Thread 1 takes them as they come, or each
/// by its tag.
class Eager : public Pipe {
public:
  Eager(shm::FifoOptions options, uint64_t bytes, uint32_t count, bool isByTag, uint32_t before = 0,
        uint32_t unread = 0)
      : Pipe(options), bytes_(bytes), count_(count), isByTag_(isByTag) {
    Bytes old(8), to(8);
    for (uint32_t i = 0; i < before; ++i) {
      sender.trySendInline(tagOf(0), old.payload());
      if (i >= unread)
        receiver.tryTake(tagOf(0), to.payload(), [](const auto &) { return true; });
    }
    unread_ = unread;
  }

  void run(uint32_t thread) override { thread == 0 ? send() : receive(); }

private:
  void send() {
    for (uint32_t i = 1; i <= count_; ++i) {
      Bytes from(bytes_, static_cast<uint8_t>(i));
      await([&] {
        return bytes_ <= FifoSender::kInlineBytes ? sender.trySendInline(tagOf(i), from.payload())
                                                  : sender.trySendLonger(tagOf(i), from.payload());
      });
    }
  }

  void receive() {
    struct Taker : Handler {
      uint32_t taken = 0, unread = 0;
      void take(const std::byte *at, uint64_t bytes) {
        if (unread > 0)
          --unread;
        else
          expectMessage(at, bytes, static_cast<uint8_t>(++taken));
      }
      void onEager(const Tag &, const std::byte *at, uint64_t bytes) { take(at, bytes); }
      bool onLongerEager(const Tag &, const shm::RingMessage &message) {
        bool isWhole = message.isWhole();
        if (isWhole)
          take(message.begin(), message.bytes());
        return isWhole;
      }
    } taker;
    taker.unread = unread_;
    while (!isByTag_ && taker.taken < count_)
      await([&] { return receiver.progress(taker); });
    for (uint32_t i = 1; isByTag_ && i <= count_; ++i)
      takeByTag(i);
  }

  void takeByTag(uint32_t i) {
    Bytes to(bytes_);
    auto store = [&](const shm::RingMessage &message) {
      return message.storeParts([&](uint64_t offset, const std::byte *from, uint64_t bytes) {
        std::memcpy(to.data.data() + offset, from, bytes);
      });
    };
    await([&] { return receiver.tryTake(tagOf(i), to.payload(), store); });
    expectMessage(to.data.data(), bytes_, static_cast<uint8_t>(i));
  }

  uint64_t bytes_;
  uint32_t count_, unread_;
  bool isByTag_;
};

// Rendezvous.

enum class Way : uint8_t { Read, Written, Withdrawn, Fragments, Cooperative };

/// Messages by requests to send, of which an end may cancel the first one. The id is used again.
class Rendezvous : public Pipe {
public:
  static constexpr uint64_t kBytes = 64; ///< two parts

  Rendezvous(Way way, uint8_t count, bool senderCancels = false, bool receiverCancels = false)
      : Pipe(fifoOptions(256, 40)), way_(way), count_(count), senderCancels_(senderCancels),
        receiverCancels_(receiverCancels), from_(allocate(ownArena, kBytes)),
        to_(allocate(otherArena, kBytes)) {}

  void run(uint32_t thread) override { thread == 0 ? send() : receive(); }

private:
  iovec pieceOf(std::byte *at) const { return {at, kBytes}; }

  void send() {
    for (uint8_t i = 1; i <= count_; ++i) {
      std::memset(from_, i, kBytes);
      iovec piece = pieceOf(from_);
      Payload payload{&piece, 1, false, false, kBytes};
      uint16_t id = 0;
      await([&] { return sender.trySendRts(tagOf(i), payload, Mover::Either, {}, id); });
      if (senderCancels_ && i == 1)
        await([&] { return sender.cancelRts(id); });
      else
        finish(tagOf(i), payload, id);
    }
  }

  void finish(const Tag &tag, const Payload &payload, uint16_t id) {
    await([&] { return isSent(tag, payload, id); });
    sender.release(id);
  }

  bool isSent(const Tag &tag, const Payload &payload, uint16_t id) {
    switch (sender.replyTo(id)) {
    case FifoSender::Replied::Nothing:
      return false;
    case FifoSender::Replied::Fin:
      return true;
    case FifoSender::Replied::Rtr:
      return sender.put(tag, payload, id) == FifoSender::PutResult::Done;
    case FifoSender::Replied::Fragments:
      return sender.trySendFragment(tag, payload, 0, kBytes, id);
    }
    return false;
  }

  // The receiver. A message ends as it is received, or cancelled.
  struct Taker : Handler {
    explicit Taker(Rendezvous &of) : of(of) {}
    Rendezvous &of;
    std::optional<Rts> rts;
    bool isPut = false, isCancelled = false;
    void onRts(const Tag &tag, uint16_t, const Rts &came) {
      of.newest_ = static_cast<uint8_t>(tag.message);
      rts = came;
    }
    void onFragment(uint16_t, const std::byte *at, uint64_t bytes) {
      std::memcpy(of.to_, at, bytes);
      isPut = true;
    }
    void onPut(uint16_t) { isPut = true; }
    void onRtsCancelled(uint16_t) { isCancelled = true; }
  };

  void receive() {
    Taker taker(*this);
    while (message_ < count_) {
      await([&] { return taker.rts || receiver.progress(taker); });
      if (!taker.rts)
        continue;
      shm::Rts rts = *std::exchange(taker.rts, std::nullopt);
      message_ = newest_;
      taker.isPut = taker.isCancelled = false;
      bool isCancelled = receiver.isCancelled(rts);
      if (receiver.claim(rts)) {
        expect(!isCancelled, "a cancelled request is claimed");
        answer(taker, rts);
      }
    }
  }

  void answer(Taker &taker, const shm::Rts &rts) {
    iovec piece = pieceOf(to_);
    shm::RemoteBuffer buffer = receiver.remoteBufferOf({&piece, 1, false, false, kBytes});
    // Once one was cancelled, the simplest one shows that the id is free.
    switch (senderCancels_ && message_ > 1 ? Way::Read : way_) {
    case Way::Read:
      std::memcpy(to_, receiver.map(rts.buffer), kBytes);
      receiver.sendFin(rts);
      return expectMessage(to_, kBytes, message_);
    case Way::Fragments:
      receiver.requestFragments(rts);
      return awaitPut(taker);
    case Way::Written:
      receiver.sendRtr(rts, buffer);
      if (!receiverCancels_ || message_ > 1)
        return awaitPut(taker);
      await([&] { return receiver.cancelRtr(rts); });
      std::memset(to_, 0, kBytes); // no byte of the message comes any more
      return;
    case Way::Withdrawn:
      receiver.sendRtr(rts, buffer);
      if (!receiver.withdrawRtr(rts))
        return awaitPut(taker);
      std::memcpy(to_, receiver.map(rts.buffer), kBytes);
      receiver.sendFin(rts);
      return expectMessage(to_, kBytes, message_);
    case Way::Cooperative:
      receiver.startCooperation(rts, buffer);
      if (!receiverCancels_)
        return cooperate(taker, rts);
      await([&] { return receiver.cancelRtr(rts); });
      std::memset(to_, 0, kBytes);
      return;
    }
  }

  void awaitPut(Taker &taker) {
    await([&] { return taker.isPut || taker.isCancelled || receiver.progress(taker); });
    if (taker.isPut)
      expectMessage(to_, kBytes, message_);
    else if (!taker.isCancelled)
      awaitPut(taker);
  }

  void cooperate(Taker &taker, const shm::Rts &rts) {
    const cooperative::Parts parts(kBytes);
    while (std::optional<cooperative::Claim> claim = receiver.claimParts(rts, parts.count)) {
      uint64_t offset = parts.beginOf(*claim);
      std::memcpy(to_ + offset, receiver.map(rts.buffer) + offset, parts.bytesOf(*claim));
      cooperative::Outcome outcome = receiver.leaveParts(rts, parts.count, true);
      if (outcome == cooperative::Outcome::Pending)
        continue;
      receiver.endCooperation(rts, outcome);
      return outcome == cooperative::Outcome::Copied ? expectMessage(to_, kBytes, message_)
                                                     : void();
    }
    awaitPut(taker);
  }

  Way way_;
  uint8_t count_;
  bool senderCancels_, receiverCancels_;
  std::byte *from_, *to_;
  uint8_t newest_ = 0, message_ = 0; ///< that has come; that is received
};

// Static messages.

/// A static message in several runs. The sender may send one in another way, and the receiver
/// cancel.
class Static : public Pipe {
public:
  Static(bool isPut, bool hasCanary, bool endsInCanary = false, uint64_t bytes = kMostBytes,
         bool cancels = false)
      : Pipe(fifoOptions(256, 40)), bytes_(bytes), endsInCanary_(endsInCanary), cancels_(cancels),
        from_(allocate(ownArena, bytes)), to_(allocate(otherArena, bytes)) {
    for (shm::StaticEnd *end : {&sending_, &receiving_}) {
      end->isPut = isPut;
      end->usesCanary = hasCanary;
    }
    receiving_.rtr = sending_.rtr = receiver.makeStaticRtrs({}, 1);
  }

  void run(uint32_t thread) override { thread == 0 ? send() : receive(); }

private:
  static constexpr uint64_t kMostBytes = 24;
  static constexpr uint8_t kRuns = 2;

  static RequestPayload payloadOf(const iovec &piece, shm::StaticEnd &end) {
    RequestPayload payload(Payload{&piece, 1, false, false, piece.iov_len});
    payload.fixed = &end;
    return payload;
  }
  Tag tag(uint8_t run) const { return {0, 0, run, 0}; }
  std::array<std::byte, kMostBytes> contentOf(uint8_t run) const {
    std::array<std::byte, kMostBytes> content;
    content.fill(std::byte{run});
    if (endsInCanary_)
      std::memcpy(content.data() + bytes_ - sizeof shm::kCanary, &shm::kCanary,
                  sizeof shm::kCanary);
    return content;
  }

  void send() {
    iovec piece{from_, bytes_};
    RequestPayload payload = payloadOf(piece, sending_);
    for (uint8_t run = 1; run <= kRuns; ++run) {
      std::array<std::byte, kMostBytes> content = contentOf(run);
      std::memcpy(from_, content.data(), bytes_);
      if (sending_.isPut) {
        await([&] {
          return sender.putStatic(tag(run), payload) == FifoSender::StaticPut::Done ||
                 isCancelled_.load(std::memory_order_acquire) != 0;
        });
        continue;
      }
      sender.sendStaticRts(tag(run), payload, false);
      if (cancels_) {
        await([&] { return sender.cancelStaticRts(tag(run), payload); });
        std::memset(from_, 0, bytes_);
        isCancelled_.store(1, std::memory_order_release);
        return;
      }
      await([&] { return sender.replyToStatic(tag(run), payload) == FifoSender::Replied::Fin; });
    }
  }

  void receive() {
    struct Taker : Handler {
      std::optional<Rts> rts;
      bool isPut = false;
      void onEarlyRtrPut(const Tag &) { isPut = true; }
      void onStaticRts(const Tag &, const Rts &came) { rts = came; }
    };
    iovec piece{to_, bytes_};
    RequestPayload payload = payloadOf(piece, receiving_);
    for (uint8_t run = 1; run <= kRuns; ++run) {
      Taker taker;
      receiver.expectStatic(tag(run), payload, false);
      if (cancels_ && receiving_.isPut) {
        await([&] { return receiver.cancelEarlyRtr(tag(run), payload); });
        std::memset(to_, 0, bytes_); // no byte of the message comes any more
        isCancelled_.store(1, std::memory_order_release);
        return;
      }
      await([&] {
        return receiver.progress(taker) || isCancelled_.load(std::memory_order_acquire) != 0;
      });
      if (!taker.rts && !taker.isPut)
        return;
      if (taker.rts) {
        std::memcpy(to_, receiver.map(taker.rts->buffer), bytes_);
        receiver.sendFin(*taker.rts);
      }
      std::array<std::byte, kMostBytes> content = contentOf(run);
      expect(std::memcmp(to_, content.data(), bytes_) == 0,
             "a static message has other bytes than were sent");
      std::memset(to_, 0, bytes_);
    }
  }

  uint64_t bytes_;
  bool endsInCanary_, cancels_; ///< the end that does not copy cancels
  std::byte *from_, *to_;
  shm::StaticEnd sending_, receiving_;
  std::atomic<uint32_t> &isCancelled_ =
      *new (allocate(ownArena, sizeof(uint32_t))) std::atomic<uint32_t>(0);
};

// Sleep.

/// A thread of a rank that sleeps until its events have come, each by a rank of its own.
class Sleep : public Scenario {
public:
  Sleep(uint32_t wakers, bool wakersFence) : wakers_(wakers) {
    world_.wakersFence_ = wakersFence;
    events_ = new (world_.at(world_.arenaBegin(kSender))) std::atomic<uint32_t>[wakers]();
    shm::registerWaker();
  }

  uint32_t threads() const override { return wakers_ + 1; }
  void run(uint32_t thread) override {
    if (thread == wakers_)
      return sleep();
    events_[thread].store(1, std::memory_order_release);
    world_.wake(kReceiver);
  }

private:
  bool areHere() const {
    for (uint32_t i = 0; i < wakers_; ++i)
      if (events_[i].load(std::memory_order_acquire) == 0)
        return false;
    return true;
  }
  void sleep() {
    while (!areHere()) {
      WakeupEpoch epoch = world_.armSleep(kReceiver, shm::RankControl::kOnWord);
      if (!areHere())
        world_.sleepOnWord(kReceiver, epoch, std::chrono::seconds(1));
    }
  }

  shm::World &world_ = freshWorld();
  uint32_t wakers_;
  std::atomic<uint32_t> *events_;
};

// Tables that all ranks read.

/// Runs of a plan fail that share one place of the table. A rank that sees a report finds its
/// failure.
class Reports : public Scenario {
public:
  void run(uint32_t thread) override {
    if (thread == 0)
      for (uint32_t run : {1u, 1 + kRunPlaces})
        world_.reportRun(kPlan, run, {kSender, kNoOp, "why", ErrorKind::Other});
    for (uint32_t seen = 0; thread == 1 && seen < 2;)
      await([&] {
        uint32_t reports = world_.numReports();
        if (reports == seen)
          return false;
        seen = reports;
        expectFound(1);
        if (reports == 2)
          expectFound(1 + kRunPlaces);
        return true;
      });
  }

private:
  static constexpr uint64_t kPlan = 5;

  // Nobody knows the reason of one that has lost its place.
  void expectFound(uint32_t run) const {
    std::optional<Fault> fault = world_.findRunFailure(kPlan, run);
    expect(fault.has_value(), "a run that failed is not found");
    expect(!fault || fault->peer == kNoRank || (fault->peer == kSender && fault->reason == "why"),
           "a failure is found in parts");
  }

  shm::World &world_ = freshWorld();
};

/// A rank dies, which two others report. A third one that sees a report finds the death.
class Death : public Scenario {
public:
  uint32_t threads() const override { return 3; }
  void run(uint32_t thread) override {
    if (thread < 2)
      return world_.reportDeath(kSender);
    await([&] { return world_.numReports() > 0; });
    expect(world_.findDeath([](Rank) { return true; }).has_value(), "a death is not found");
  }

private:
  shm::World &world_ = freshWorld();
};

/// A rank opens plans and closes them. Another one finds what may be open still.
class Plans : public Scenario {
public:
  Plans() { world_.control(kReceiver).left.store(1, std::memory_order_relaxed); }
  void run(uint32_t thread) override { thread == 0 ? open() : look(); }

private:
  // What one plan leaves, the next one uses.
  void open() {
    plans_.open(0, [&](uint64_t bytes) { return arena_.allocate(bytes); });
    plans_.open(1, [&](uint64_t bytes) { return arena_.allocate(bytes); });
    plans_.close(0);
    isClosed_.store(1, std::memory_order_release);
    plans_.open(2, [&](uint64_t bytes) { return arena_.allocate(bytes); });
  }
  // Plan 1 is never closed; plans are numbered from 1 here.
  void look() {
    expect(isNeeded(2), "an open plan is not found");
    bool isClosed = isClosed_.load(std::memory_order_acquire) != 0;
    bool isFound = isNeeded(1);
    expect(!isClosed || !isFound, "a closed plan is found");
    expect(isNeeded(3), "a plan to come is not found");
  }
  bool isNeeded(uint32_t plan) const {
    return world_.isNeeded({0, plan, kSender, ErrorKind::Other, {}});
  }

  shm::World &world_ = freshWorld();
  shm::Arena arena_{world_.arenaBegin(kSender), kArenaBytes};
  std::atomic<uint32_t> &isClosed_ =
      *new (world_.at(arena_.allocate(sizeof(uint32_t)))) std::atomic<uint32_t>(0);
  shm::OpenPlans plans_{world_, kSender};
};

/// A stream ends, and another one uses its counter. A peer that finds a run over finds what was
/// sent in it.
class Progress : public Scenario {
public:
  Progress() {
    other_.left.store(1, std::memory_order_relaxed); // of the rank that looks
    first_.emplace(table_, streamTag(1));
  }
  void run(uint32_t thread) override { thread == 0 ? work() : look(); }

private:
  static Tag streamTag(uint32_t stream) { return {0, stream, 1, 7}; }

  void work() {
    sent_->store(1, std::memory_order_relaxed);
    first_->whole(1);
    first_.reset();
    protocol::RunProgress second(table_, streamTag(2)); // the same counter
    sent_->store(2, std::memory_order_relaxed);
    second.begin(1);
    second.end(1);
    protocol::RunProgress third(table_, streamTag(3)); // a new one
  }
  void look() {
    for (uint32_t stream : {1u, 2u})
      if (table_->isOver(kSender, streamTag(stream)))
        expect(sent_->load(std::memory_order_relaxed) >= stream,
               "a run is over before its messages");
    expect(!table_->isOver(kSender, streamTag(3)), "a run is over that has not begun");
  }

  shm::World &world_ = freshWorld();
  shm::Arena arena_{world_.arenaBegin(kSender), kArenaBytes};
  shm::RankControl &other_ = world_.control(kReceiver);
  std::atomic<uint32_t> *sent_ =
      new (world_.at(arena_.allocate(sizeof(uint32_t)))) std::atomic<uint32_t>(0);
  std::shared_ptr<protocol::ProgressTable> table_ =
      std::make_shared<protocol::ProgressTable>(world_, kSender, arena_);
  std::optional<protocol::RunProgress> first_;
};

/// Ranks join, and exchange bytes twice.
class Exchange : public Scenario {
public:
  Exchange() {
    for (Rank rank : {kSender, kReceiver})
      ranks_[index(rank)] = std::make_unique<Member>(world_, rank);
  }
  void run(uint32_t thread) override {
    Member &own = *ranks_[thread];
    WeakExplorer::current()->memory().beginRound(thread);
    expect(own.bootstrap.exchangePids().ok(), "a rank does not come");
    for (uint8_t i = 1; i <= 2; ++i)
      exchange(own, Rank{1 - thread}, i);
  }

private:
  struct Member {
    Member(shm::World &world, Rank rank)
        : arena(world.arenaBegin(rank), kArenaBytes), detector(world, rank),
          bootstrap(world, rank, arena, mutex, detector) {}
    shm::Arena arena;
    std::mutex mutex;
    shm::FailureDetector detector;
    shm::ShmBootstrap bootstrap;
    std::array<BootstrapData, 1> out, in;
  };

  void exchange(Member &own, Rank peer, uint8_t number) {
    own.out[0] = {peer, {std::byte{number}}};
    own.in[0] = {peer, {}};
    expect(own.bootstrap.exchange(own.out, own.in).ok(), "an exchange fails");
    expect(own.in[0].bytes.size() == 1 && own.in[0].bytes[0] == std::byte{number},
           "other bytes come than were given");
  }

  shm::World &world_ = freshWorld();
  std::array<std::unique_ptr<Member>, 2> ranks_;
};

/// Two ranks make their first connection to one of them, and one leaves.
class Connect : public Scenario {
public:
  Connect() {
    protocol::LocalOptions options;
    options.fifo = fifoOptions(kSmallRing, 40);
    for (Rank rank : {kSender, kReceiver})
      workers_[index(rank)] = std::make_unique<protocol::LocalWorker>(world_, rank, options);
  }
  void run(uint32_t thread) override {
    protocol::LocalWorker &own = *workers_[thread];
    Bytes from(8, static_cast<uint8_t>(thread)), to(8);
    own.sendsTo(kReceiver)->wire().trySendInline(tagOf(1), from.payload());
    if (thread == 0)
      workers_[0].reset(); // leaves
    for (uint32_t other = 0; thread == 1 && other < 2; ++other) {
      await([&] {
        bool hasLeft = world_.hasLeft(Rank{other});
        own.acceptConnections();
        bool isTaken =
            own.receivesFrom(Rank{other}).wire().tryTake(tagOf(1), to.payload(), [](const auto &) {
              return true;
            });
        expect(isTaken || !hasLeft, "a rank has left before its message comes");
        return isTaken;
      });
      expectMessage(to.data.data(), 8, static_cast<uint8_t>(other));
    }
  }

private:
  static constexpr uint32_t kSmallRing = 128;

  shm::World &world_ = freshWorld();
  std::array<std::unique_ptr<protocol::LocalWorker>, 2> workers_;
};

constexpr uint32_t kSmallRing = 128, kPartRing = 32 << 10;

#define SCENARIO(name, ...)                                                                        \
  NamedScenario {                                                                                  \
    name, [] { return std::unique_ptr<Scenario>(new __VA_ARGS__); }                                \
  }

const NamedScenario kScenarios[] = {
    SCENARIO("eager, one slot", Eager(fifoOptions(kSmallRing, 40), 8, 3, false)),
    SCENARIO("eager, one slot, by tag", Eager(fifoOptions(kSmallRing, 40), 8, 2, true)),
    SCENARIO("eager, three slots", Eager(fifoOptions(kSmallRing, 160), 150, 2, false)),
    SCENARIO("eager, three slots, by tag", Eager(fifoOptions(kSmallRing, 160), 150, 2, true)),
    SCENARIO("eager, all slots used", Eager(fifoOptions(kSmallRing, 40), 8, 2, false, 255, 255)),
    SCENARIO("eager, in the ring", Eager(fifoOptions(kSmallRing, 40), 64, 3, false)),
    SCENARIO("eager, in the ring, by tag", Eager(fifoOptions(kSmallRing, 40), 64, 3, true)),
    SCENARIO("eager, two parts", Eager(fifoOptions(kPartRing, 40), (8 << 10) + 8, 1, false)),
    SCENARIO("eager, two parts, by tag", Eager(fifoOptions(kPartRing, 40), (8 << 10) + 8, 1, true)),
    SCENARIO("read", Rendezvous(Way::Read, 2)),
    SCENARIO("read, the sender cancels", Rendezvous(Way::Read, 2, true)),
    SCENARIO("written", Rendezvous(Way::Written, 2)),
    SCENARIO("written, the sender cancels", Rendezvous(Way::Written, 2, true)),
    SCENARIO("written, the receiver cancels", Rendezvous(Way::Written, 1, false, true)),
    SCENARIO("withdrawn", Rendezvous(Way::Withdrawn, 2)),
    SCENARIO("fragments", Rendezvous(Way::Fragments, 2)),
    SCENARIO("cooperative", Rendezvous(Way::Cooperative, 1)),
    SCENARIO("cooperative, the sender cancels", Rendezvous(Way::Cooperative, 2, true)),
    SCENARIO("cooperative, the receiver cancels", Rendezvous(Way::Cooperative, 1, false, true)),
    SCENARIO("static, put", Static(true, false)),
    SCENARIO("static, put with a canary", Static(true, true)),
    SCENARIO("static, a canary of four bytes", Static(true, true, false, 20)),
    SCENARIO("static, a canary of two bytes", Static(true, true, false, 22)),
    SCENARIO("static, a canary of one byte", Static(true, true, false, 23)),
    SCENARIO("static, ends in the canary", Static(true, true, true)),
    SCENARIO("static, put, the receiver cancels", Static(true, false, false, 24, true)),
    SCENARIO("static, got", Static(false, false)),
    SCENARIO("static, got, the sender cancels", Static(false, false, false, 24, true)),
    SCENARIO("sleep, sleepers fence", Sleep(1, false)),
    SCENARIO("sleep, wakers fence", Sleep(1, true)),
    SCENARIO("sleep for two events, the sleeper fences", Sleep(2, false)),
    SCENARIO("sleep for two events, wakers fence", Sleep(2, true)),
    SCENARIO("reports", Reports()),
    SCENARIO("death", Death()),
    SCENARIO("plans", Plans()),
    SCENARIO("progress", Progress()),
    SCENARIO("exchange", Exchange()),
    SCENARIO("connect", Connect()),
};

} // namespace

std::span<const NamedScenario> allScenarios() { return kScenarios; }

} // namespace colldsl::test::weak

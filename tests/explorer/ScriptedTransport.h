/// A network in one thread, of which every event is a step that its user takes: a frame arrives,
/// the bytes of a read or a write move, a rank is notified of that, or of the loss of a peer.
///
/// Frames from rank to rank arrive in order; reads and writes of memory pass by them. What arrives
/// at a rank is taken by its next poll, which is to follow at once. A read or a write is not taken
/// before accept(). Bytes move between memory that both ends have registered at that time; if one
/// of them has not, none move, and the operation fails.
#pragma once

#include "tests/explorer/WorkerState.h"

#include <array>
#include <deque>
#include <functional>
#include <map>

namespace colldsl::test {

/// Of states: those with different contents differ.
class Digest {
public:
  void add(const void *bytes, size_t count);
  template <typename Value> void addValue(const Value &value) { add(&value, sizeof value); }
  bool operator==(const Digest &) const = default;
  uint64_t low = 0x9e3779b97f4a7c15u, high = 0xc2b2ae3d27d4eb4fu;
};

struct DigestHash {
  size_t operator()(const Digest &digest) const { return digest.low; }
};

/// The bit that stands for it.
constexpr uint8_t maskOf(network::Access access) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(access));
}

class ScriptedTransport;

class ScriptedNetwork {
public:
  static constexpr uint32_t kMaxRanks = 3;

  /// Bytes of this rank's memory are about to be read or written.
  using OnTouch =
      std::function<void(uint32_t rank, const std::byte *at, uint64_t bytes, bool isWritten)>;
  /// Which of the rank's memory this is: its keys are named for that, and not for the order in
  /// which memory was registered.
  using PlaceOf = std::function<uint32_t(uint32_t rank, const std::byte *at)>;
  explicit ScriptedNetwork(OnTouch onTouch, PlaceOf placeOf = nullptr)
      : onTouch_(std::move(onTouch)), placeOf_(std::move(placeOf)) {}

  // Steps.

  size_t numFrames(uint32_t from, uint32_t to) const { return wires_[from][to].size(); }
  /// The next one.
  std::span<const std::byte> frame(uint32_t from, uint32_t to) const {
    return wires_[from][to].front().bytes;
  }
  void arrive(uint32_t from, uint32_t to);

  size_t numRmas() const { return rmas_.size(); }
  uint32_t originOf(size_t rma) const { return rmas_[rma].origin; }
  uint32_t targetOf(size_t rma) const { return rmas_[rma].target; }
  bool mayMoveBytes(size_t rma) const { return !rmas_[rma].hasMoved; }
  void moveBytes(size_t rma);
  bool mayNotify(size_t rma) const { return rmas_[rma].hasMoved && !rmas_[rma].isNotified; }
  /// The target of a write. Of a silent one it is only a turn of that rank.
  void notify(size_t rma);
  bool mayFinish(size_t rma) const { return rmas_[rma].hasMoved && !rmas_[rma].isFinished; }
  void finish(size_t rma); ///< at its origin

  /// Frames to the rank and its reads and writes vanish, or still arrive.
  void kill(uint32_t rank);
  bool isDead(uint32_t rank) const { return isDead_[rank]; }
  /// It takes nothing any more; what it has sent still arrives.
  void leave(uint32_t rank);
  bool mayLose(uint32_t rank, uint32_t dead) const;
  void lose(uint32_t rank, uint32_t dead);

  /// Whether the rank has offered a read or a write in vain, and may again.
  bool mayAccept(uint32_t rank) const { return hasRefused_[rank]; }
  void accept(uint32_t rank, bool accepts) {
    accepts_[rank] = accepts;
    hasRefused_[rank] &= !accepts;
  }

  /// All frames that are under way have arrived, but are not taken before the next poll.
  void arriveLater();
  /// Those of this rank are taken now.
  void arriveNow(uint32_t to);

  /// Whether ranks that live were to move bytes of memory that was not registered.
  bool hasMissed() const { return hasMissed_; }

  /// Whether frames of this rank have arrived, which it has not been notified of.
  bool hasArrivals(uint32_t rank) const { return !taken_[rank].empty(); }
  size_t numEvents(uint32_t rank) const { return inboxes_[rank].size(); }

  /// Appends all that is under way, and what is registered.
  void describe(StateWords &words, const WorkerOf &workerOf) const;
  /// Appends what each rank was notified of, and did, in its order.
  void describeHistories(StateWords &words) const;
  /// Of this rank alone.
  const Digest &history(uint32_t rank) const { return histories_[rank]; }
  /// What a rank does by itself, in that order too.
  void note(uint32_t rank, uint64_t what) { histories_[rank].addValue(what); }
  /// Registrations of memory that peers may reach, or that is moved.
  size_t numRegistered(uint32_t rank) const { return registered_[rank].size(); }

private:
  friend class ScriptedTransport;
  struct Registration;
  struct Memory {
    std::byte *begin;
    uint64_t bytes;
    network::Access access;
  };
  struct Sent {
    network::Frame *frame;
    std::vector<std::byte> bytes;
  };
  struct Rma {
    uint32_t number; ///< at its origin
    uint32_t origin, target;
    bool writes;
    network::RmaOperation *operation; ///< gone once its origin has left
    uint16_t id;                      ///< of the operation, at its origin
    network::RmaSpec spec;
    std::vector<network::RemoteIov> remoteIovs;
    bool hasMoved = false, hasFailed = false, isNotified = false, isFinished = false;
  };
  struct Event {
    enum class Kind : uint8_t { Frame, RmaDone, Failed, RemoteWrite, Lost } kind;
    std::vector<std::byte> bytes = {};
    network::RmaOperation *rma = nullptr;
    uint32_t number = 0; ///< of the read or write, the RTR id, or the rank
  };

  void describe(StateWords &words, const Event &event, uint32_t to, const WorkerOf &workerOf) const;
  void describe(StateWords &words, const Rma &rma, const WorkerOf &workerOf) const;
  void note(uint32_t rank, const Event &event);
  void dropTo(uint32_t rank);
  bool copy(Rma &rma);
  const Memory *find(uint32_t rank, uint64_t key, network::Access access) const;
  void dropOver();

  OnTouch onTouch_;
  PlaceOf placeOf_;
  std::array<std::array<std::deque<Sent>, kMaxRanks>, kMaxRanks> wires_;
  std::array<std::deque<Event>, kMaxRanks> inboxes_;
  std::array<std::vector<network::Frame *>, kMaxRanks> taken_; ///< frames that have arrived
  std::array<std::map<uint64_t, Memory>, kMaxRanks> registered_;
  std::array<std::map<uint64_t, uint32_t>, kMaxRanks> lastKey_; ///< by memory and access
  std::array<uint32_t, kMaxRanks> lastRma_ = {};
  std::array<Digest, kMaxRanks> histories_ = {};
  std::array<std::array<size_t, kMaxRanks>, kMaxRanks> arrived_ = {}; ///< frames of the wire
  std::array<bool, kMaxRanks> accepts_ = {}, hasRefused_ = {};
  std::array<bool, kMaxRanks> isDead_ = {}, hasLeft_ = {};
  std::array<std::array<bool, kMaxRanks>, kMaxRanks> isLost_ = {}, isReached_ = {};
  std::deque<Rma> rmas_;
  bool hasMissed_ = false;
};

/// One rank's end of it, which outlives it.
class ScriptedTransport final : public network::Transport {
public:
  ScriptedTransport(ScriptedNetwork &network, uint32_t self);

  void pinPages() { capabilities_.pinsPages = true; }
  void holdFrames() { capabilities_.holdsFrames = true; }

  uint8_t refused = 0;      ///< kinds of access, a bit each, that it registers no memory for
  std::optional<Wait> wait; ///< of ifIdle()

  Result<std::vector<std::byte>> address() const override { return std::vector<std::byte>(1); }
  Status start(network::TransportHandler &handler, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  network::PostResult read(network::RmaOperation &rma, const network::RmaSpec &spec) override {
    return begin(rma, spec, false);
  }
  network::PostResult write(network::RmaOperation &rma, const network::RmaSpec &spec) override {
    return begin(rma, spec, true);
  }
  Result<network::Region> registerMemory(std::span<const iovec> pieces,
                                         network::Access access) override;
  bool poll() override;
  bool isIdle(const network::Peer &peer) const override;
  std::optional<Wait> ifIdle() override { return wait; }
  void stop() override { network_.leave(self_); }
  uint64_t numRefused() const override { return 0; }
  uint64_t bytes() const override { return 0; }

private:
  network::PostResult begin(network::RmaOperation &rma, const network::RmaSpec &spec, bool writes);
  void deliver(const ScriptedNetwork::Event &event);

  ScriptedNetwork &network_;
  uint32_t self_;
  network::TransportHandler *handler_ = nullptr;
  std::array<network::Peer *, ScriptedNetwork::kMaxRanks> peers_ = {};
};

} // namespace colldsl::test

/// A network in one thread, of which every event is a step that its user takes: a frame arrives,
/// the bytes of a read or a write move, a rank is notified of that, or of the loss of a peer.
///
/// Frames from rank to rank arrive in order; reads and writes of memory pass by them. What arrives
/// at a rank is taken by its next poll, which is to follow at once. A read or a write is not taken
/// before accept(). Bytes move between memory that both ends have registered at that time; if one
/// of them has not, none move, and the operation fails.
#pragma once

#include "transports/network/ActiveMessages.h"

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

class ScriptedCarrier;

class ScriptedNetwork {
public:
  static constexpr uint32_t kMaxRanks = 3;

  /// Bytes of this rank's memory are about to be read or written.
  using OnTouch =
      std::function<void(uint32_t rank, const std::byte *at, uint64_t bytes, bool isWritten)>;
  explicit ScriptedNetwork(OnTouch onTouch) : onTouch_(std::move(onTouch)) {}

  // Steps.

  size_t numFrames(uint32_t from, uint32_t to) const { return wires_[from][to].size(); }
  /// The next one.
  std::span<const std::byte> frame(uint32_t from, uint32_t to) const {
    return wires_[from][to].front().bytes;
  }
  void arrive(uint32_t from, uint32_t to);

  size_t numMoves() const { return moves_.size(); }
  uint32_t originOf(size_t move) const { return moves_[move].origin; }
  uint32_t targetOf(size_t move) const { return moves_[move].target; }
  bool mayMoveBytes(size_t move) const { return !moves_[move].hasMoved; }
  void moveBytes(size_t move);
  bool mayNotify(size_t move) const { return moves_[move].hasMoved && !moves_[move].isNotified; }
  void notify(size_t move); ///< the target of a write
  bool mayFinish(size_t move) const { return moves_[move].hasMoved && !moves_[move].isFinished; }
  void finish(size_t move); ///< at its origin

  /// Frames to the rank and its reads and writes vanish, or still arrive.
  void kill(uint32_t rank);
  bool isDead(uint32_t rank) const { return isDead_[rank]; }
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

  size_t numNews(uint32_t rank) const { return inboxes_[rank].size(); }

  /// Everything that a later step depends on, and what each rank was notified of, in its order.
  void describe(Digest &digest) const;
  /// What a rank does by itself, in that order too.
  void note(uint32_t rank, uint64_t what) { histories_[rank].addValue(what); }
  /// Registrations of memory that peers may reach, or that is moved.
  size_t numRegistered(uint32_t rank) const { return registered_[rank].size(); }

private:
  friend class ScriptedCarrier;
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
  struct Move {
    uint32_t number; ///< at its origin
    uint32_t origin, target;
    bool writes;
    network::Move *operation;
    network::MoveSpec spec;
    std::vector<network::RemoteIov> remoteIovs;
    bool hasMoved = false, hasFailed = false, isNotified = false, isFinished = false;
  };
  struct News {
    enum class Kind : uint8_t { Frame, Moved, Failed, Written, Lost } kind;
    std::vector<std::byte> bytes = {};
    network::Move *move = nullptr;
    uint32_t number = 0; ///< of the move, the ticket, or the rank
  };

  static void describe(Digest &digest, const News &news);
  bool copy(Move &move);
  const Memory *find(uint32_t rank, uint64_t key, network::Access access) const;
  void dropOver();

  OnTouch onTouch_;
  std::array<std::array<std::deque<Sent>, kMaxRanks>, kMaxRanks> wires_;
  std::array<std::deque<News>, kMaxRanks> inboxes_;
  std::array<std::vector<network::Frame *>, kMaxRanks> taken_; ///< frames that have arrived
  std::array<std::map<uint64_t, Memory>, kMaxRanks> registered_;
  std::array<uint64_t, kMaxRanks> lastKey_ = {};
  std::array<uint32_t, kMaxRanks> lastMove_ = {};
  std::array<Digest, kMaxRanks> histories_ = {};
  std::array<std::array<size_t, kMaxRanks>, kMaxRanks> arrived_ = {}; ///< frames of the wire
  std::array<bool, kMaxRanks> accepts_ = {}, hasRefused_ = {};
  std::array<bool, kMaxRanks> isDead_ = {};
  std::array<std::array<bool, kMaxRanks>, kMaxRanks> isLost_ = {};
  std::deque<Move> moves_;
  bool hasMissed_ = false;
};

/// One rank's end of it, which outlives it.
class ScriptedCarrier final : public network::Carrier {
public:
  ScriptedCarrier(ScriptedNetwork &network, uint32_t self);

  bool refusesWrites = false; ///< to register memory for writes of this rank

  Result<std::vector<std::byte>> address() const override { return std::vector<std::byte>(1); }
  Status start(network::CarrierReader &reader, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  network::PostResult inject(network::Peer &, std::span<const std::byte>) override {
    return network::PostResult::NoResource;
  }
  network::PostResult read(network::Move &move, const network::MoveSpec &spec) override {
    return begin(move, spec, false);
  }
  network::PostResult write(network::Move &move, const network::MoveSpec &spec) override {
    return begin(move, spec, true);
  }
  Result<network::Region> registerMemory(std::span<const iovec> pieces,
                                         network::Access access) override;
  bool poll() override;
  bool isIdle(const network::Peer &peer) const override;
  std::optional<Wait> ifIdle() override { return std::nullopt; }
  void stop() override {}
  uint64_t numRefused() const override { return 0; }
  uint64_t bytes() const override { return 0; }

private:
  network::PostResult begin(network::Move &move, const network::MoveSpec &spec, bool writes);
  void tell(const ScriptedNetwork::News &news);

  ScriptedNetwork &network_;
  uint32_t self_;
  network::CarrierReader *reader_ = nullptr;
  std::array<network::Peer *, ScriptedNetwork::kMaxRanks> peers_ = {};
};

} // namespace colldsl::test

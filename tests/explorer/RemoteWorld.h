/// Ranks whose plans stand on the protocol of remote ranks, as it is, over a scripted network: what
/// can happen next, and what must not have happened.
#pragma once

#include "tests/explorer/RemoteRank.h"
#include "tests/explorer/VirtualClock.h"

namespace colldsl::test {

class RemoteWorld {
public:
  struct Step {
    enum class Kind : uint8_t {
      Post,      ///< rank, its end of a message
      Cancel,    ///< rank, plan
      Close,     ///< rank, plan
      Open,      ///< rank, plan
      Run,       ///< rank, plan: its next run
      Leave,     ///< rank
      Start,     ///< rank: its reads and writes begin
      Fail,      ///< rank
      Die,       ///< rank
      Arrive,    ///< from, to: a frame
      MoveBytes, ///< index of a read or a write: its bytes
      Notify,    ///< the same: its target
      Finish,    ///< the same: its origin
      Lose,      ///< rank, the dead one
      Late,      ///< more time passes than ranks wait; 1: what they sent has arrived by then
      Pass,      ///< time passes, for nothing else can happen
    } kind;
    uint8_t a = 0, b = 0;
  };

  /// `scenario` outlives it.
  explicit RemoteWorld(const Scenario &scenario);
  ~RemoteWorld();
  RemoteWorld(const RemoteWorld &) = delete;

  /// In an order that depends on the state alone. None: it is over.
  std::vector<Step> steps() const;
  void take(const Step &step);
  static std::string nameOf(const Step &step);

  /// Equal if the states are, for all that comes; and, where that is asked for, if each rank did
  /// and was notified of the same in the same order.
  Digest digest(bool hasHistories) const;
  /// Empty: this state may be.
  std::string violation() const;
  /// Where no step is left; empty: all have ended, and nothing is left.
  std::string unfinished() const;

private:
  static constexpr uint32_t kMaxPasses = 4;

  bool isAnnounced(uint8_t rank, const MessageEnd &end) const;
  void addOfRank(uint8_t rank, std::vector<Step> &steps) const;
  void addFrames(std::vector<Step> &steps) const;
  void addMoves(std::vector<Step> &steps) const;
  void touch(uint32_t rank, const std::byte *at, uint64_t bytes, bool isWritten);
  void begin(const Step &step);
  uint32_t placeOf(uint32_t rank, const std::byte *at) const;
  void poll(uint32_t rank);
  bool takesEvents(uint32_t rank) const {
    return !network_.isDead(rank) && !ranks_[rank]->hasLeft() && !ranks_[rank]->isDeaf();
  }
  bool commutes(uint8_t from, uint8_t to) const;
  bool findStepAtOnce(std::vector<Step> &steps) const;
  bool mayDie(uint8_t rank) const;
  void endWaits(bool hasArrived);
  void pollWaiting();
  void pass();
  bool areAllGone() const;
  std::string violationOfWindow() const;
  uint32_t sentAhead(uint8_t from, uint8_t to) const;
  std::string unfinishedOf(const RemoteRank &rank) const;

  const Scenario &scenario_;
  VirtualClock clock_;
  ScriptedNetwork network_;
  std::vector<std::unique_ptr<RemoteRank>> ranks_;
  std::string wrong_;
  uint32_t passes_ = 0;
  bool hasFailed_ = false;
  bool wasLate_ = false;
  bool leftLate_ = false;
};

} // namespace colldsl::test

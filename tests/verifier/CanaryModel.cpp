#include "tests/verifier/CanaryModel.h"

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace colldsl::proof {
namespace {

constexpr uint8_t kBytes = 3;  ///< of the payload: the last one and others
constexpr uint8_t kRounds = 2; ///< the second round finds the leftovers of the first

// The contents of a byte of memory: rubbish or an earlier round's data (Old), the canary, or this
// round's data. Data in the last byte may look like the canary.
enum class Byte : uint8_t { Old, OldLikeCanary, Canary, New, NewLikeCanary };

bool looksLikeCanary(Byte byte) {
  return byte == Byte::Canary || byte == Byte::NewLikeCanary || byte == Byte::OldLikeCanary;
}

enum class Receiver : uint8_t { ClearFlag, WriteCanary, SayReady, Poll, Done };

struct State {
  uint8_t round = 0;
  uint8_t clashes = 0;  ///< bit r: the payload of round r ends in the canary
  uint8_t flying = 0;   ///< writes on their way: a bit for each byte, and one for the flag
  bool isReady = false; ///< the sender knows that the receiver is ready
  bool hasFlag = false;
  Receiver receiver = Receiver::ClearFlag;
  Byte memory[kBytes] = {};

  auto key() const {
    return std::tuple(round, clashes, flying, isReady, hasFlag, receiver, memory[0], memory[1],
                      memory[2]);
  }
  bool operator<(const State &other) const { return key() < other.key(); }
  bool clash() const { return (clashes >> round & 1) != 0; }
};

class Explorer {
public:
  explicit Explorer(const CanaryModel &model) : model_(model) {}

  std::string run() {
    for (uint8_t clashes = 0; clashes < 1 << kRounds; ++clashes) {
      State start;
      start.clashes = clashes;
      visit(start);
    }
    while (wrong_.empty() && !open_.empty()) {
      State state = open_.back();
      open_.pop_back();
      size_t before = moves_;
      stepReceiver(state);
      stepSender(state);
      stepMemory(state);
      if (moves_ == before && state.round < kRounds)
        wrong_ = state.clash() ? "a payload that ends in the canary never completes"
                               : "a message never completes";
    }
    return wrong_;
  }

private:
  void visit(const State &state) {
    ++moves_;
    if (seen_.insert(state).second)
      open_.push_back(state);
  }

  void stepReceiver(State state) {
    if (state.round == kRounds)
      return;
    switch (state.receiver) {
    case Receiver::ClearFlag:
      state.hasFlag = state.hasFlag && !model_.clearsFlag;
      state.receiver = model_.lastByteFirst ? Receiver::WriteCanary : Receiver::SayReady;
      return visit(state);
    case Receiver::WriteCanary:
      state.memory[kBytes - 1] = Byte::Canary;
      state.receiver = model_.lastByteFirst ? Receiver::SayReady : Receiver::Poll;
      return visit(state);
    case Receiver::SayReady:
      state.isReady = true;
      state.receiver = model_.lastByteFirst ? Receiver::Poll : Receiver::WriteCanary;
      return visit(state);
    case Receiver::Poll:
      if (looksLikeCanary(state.memory[kBytes - 1]) && !state.hasFlag)
        return;
      state.receiver = Receiver::Done;
      return visit(state);
    case Receiver::Done:
      return finishRound(state);
    }
  }

  /// Ends a round. All bytes must have arrived; the next round finds them as old data.
  void finishRound(State state) {
    for (Byte &byte : state.memory) {
      if (byte != Byte::New && byte != Byte::NewLikeCanary) {
        wrong_ = "a message is taken to be complete before all of its bytes are there";
        return;
      }
      byte = byte == Byte::New ? Byte::Old : Byte::OldLikeCanary;
    }
    ++state.round;
    state.receiver = Receiver::ClearFlag;
    visit(state);
  }

  void stepSender(State state) {
    if (!state.isReady)
      return;
    state.isReady = false;
    state.flying |= (1 << kBytes) - 1;
    if (state.clash() && model_.setsFlag)
      state.flying |= 1 << kBytes;
    visit(state);
  }

  /// Any write on its way takes effect, or the first one only.
  void stepMemory(const State &state) {
    for (uint8_t i = 0; i <= kBytes; ++i) {
      if ((state.flying >> i & 1) == 0)
        continue;
      State next = state;
      next.flying = static_cast<uint8_t>(next.flying & ~(1 << i));
      if (i == kBytes)
        next.hasFlag = true;
      else
        next.memory[i] = i == kBytes - 1 && state.clash() ? Byte::NewLikeCanary : Byte::New;
      visit(next);
      if (model_.commitsInOrder)
        return;
    }
  }

  CanaryModel model_;
  std::set<State> seen_;
  std::vector<State> open_;
  size_t moves_ = 0;
  std::string wrong_;
};

} // namespace

std::string refuteCanary(const CanaryModel &model) { return Explorer(model).run(); }

} // namespace colldsl::proof

#include "transports/verbs/Handshake.h"

#include <algorithm>

namespace colldsl::verbs {
namespace {

constexpr std::chrono::nanoseconds kFirstPatience = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds kMostPatience = std::chrono::milliseconds(500);

} // namespace

Shake Handshake::say(Shake::Kind kind, uint32_t answers) {
  Shake shake;
  shake.from = self_;
  shake.sequence = sequence_++;
  shake.answers = answers;
  shake.kind = kind;
  return shake;
}

void Handshake::expectAnswer(const Shake &said, Clock::time_point now) {
  open_ = said;
  patience_ = kFirstPatience;
  nextAt_ = now + patience_;
}

Shake Handshake::begin(Clock::time_point now) {
  state_ = State::Requested;
  expectAnswer(say(Shake::Kind::Request, 0), now);
  return open_;
}

Handshake::Step Handshake::hear(const Shake &shake, Clock::time_point now) {
  switch (shake.kind) {
  case Shake::Kind::Request:
    return hearRequest(shake, now);
  case Shake::Kind::Reply:
    return hearReply(shake);
  case Shake::Kind::Confirm:
    return hearConfirm(shake);
  }
  return {};
}

Handshake::Step Handshake::hearRequest(const Shake &shake, Clock::time_point now) {
  bool loses = state_ == State::Requested && index(peer_) > index(self_);
  if (state_ == State::Idle || loses) {
    state_ = State::Replied;
    answered_ = shake;
    expectAnswer(say(Shake::Kind::Reply, shake.sequence), now);
    return {.receives = true, .sends = false, .say = open_};
  }
  bool isAgain = state_ == State::Replied && shake.sequence == answered_.sequence;
  return {.receives = false, .sends = false, .say = isAgain ? std::optional(open_) : std::nullopt};
}

Handshake::Step Handshake::hearReply(const Shake &shake) {
  if (state_ == State::Requested && shake.answers == open_.sequence) {
    state_ = State::Ready;
    asked_ = true;
    answered_ = shake;
    open_ = say(Shake::Kind::Confirm, shake.sequence);
    return {.receives = true, .sends = true, .say = open_};
  }
  bool isAgain = state_ == State::Ready && asked_ && shake.sequence == answered_.sequence;
  return {.receives = false, .sends = false, .say = isAgain ? std::optional(open_) : std::nullopt};
}

Handshake::Step Handshake::hearConfirm(const Shake &shake) {
  if (state_ != State::Replied || shake.answers != open_.sequence)
    return {};
  state_ = State::Ready;
  return {.receives = false, .sends = true, .say = std::nullopt};
}

std::optional<Shake> Handshake::again(Clock::time_point now) {
  if (now < nextAt())
    return std::nullopt;
  patience_ = std::min(2 * patience_, kMostPatience);
  nextAt_ = now + patience_;
  return open_;
}

} // namespace colldsl::verbs

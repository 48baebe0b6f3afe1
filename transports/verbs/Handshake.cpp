#include "transports/verbs/Handshake.h"

#include <algorithm>

namespace colldsl::verbs {
namespace {

constexpr std::chrono::nanoseconds kFirstTimeout = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds kMaxTimeout = std::chrono::milliseconds(500);

} // namespace

HandshakeMessage Handshake::make(HandshakeMessage::Kind kind, uint32_t answers) {
  HandshakeMessage message;
  message.from = self_;
  message.sequence = sequence_++;
  message.answers = answers;
  message.kind = kind;
  return message;
}

void Handshake::expectReply(const HandshakeMessage &sent, Clock::time_point now) {
  open_ = sent;
  timeout_ = kFirstTimeout;
  nextAt_ = now + timeout_;
}

HandshakeMessage Handshake::begin(Clock::time_point now) {
  state_ = State::Requested;
  expectReply(make(HandshakeMessage::Kind::Request, 0), now);
  return open_;
}

Handshake::Step Handshake::receive(const HandshakeMessage &message, Clock::time_point now) {
  switch (message.kind) {
  case HandshakeMessage::Kind::Request:
    return onRequest(message, now);
  case HandshakeMessage::Kind::Reply:
    return onReply(message);
  case HandshakeMessage::Kind::Confirm:
    return onConfirm(message);
  }
  return {};
}

Handshake::Step Handshake::onRequest(const HandshakeMessage &message, Clock::time_point now) {
  bool loses = state_ == State::Requested && index(peer_) > index(self_);
  if (state_ == State::Idle || loses) {
    state_ = State::Replied;
    answered_ = message;
    expectReply(make(HandshakeMessage::Kind::Reply, message.sequence), now);
    return {.mayReceive = true, .maySend = false, .reply = open_};
  }
  bool isAgain = state_ == State::Replied && message.sequence == answered_.sequence;
  return {.mayReceive = false,
          .maySend = false,
          .reply = isAgain ? std::optional(open_) : std::nullopt};
}

Handshake::Step Handshake::onReply(const HandshakeMessage &message) {
  if (state_ == State::Requested && message.answers == open_.sequence) {
    state_ = State::Ready;
    isInitiator_ = true;
    answered_ = message;
    open_ = make(HandshakeMessage::Kind::Confirm, message.sequence);
    return {.mayReceive = true, .maySend = true, .reply = open_};
  }
  bool isAgain = state_ == State::Ready && isInitiator_ && message.sequence == answered_.sequence;
  return {.mayReceive = false,
          .maySend = false,
          .reply = isAgain ? std::optional(open_) : std::nullopt};
}

Handshake::Step Handshake::onConfirm(const HandshakeMessage &message) {
  if (state_ != State::Replied || message.answers != open_.sequence)
    return {};
  state_ = State::Ready;
  return {.mayReceive = false, .maySend = true, .reply = std::nullopt};
}

std::optional<HandshakeMessage> Handshake::again(Clock::time_point now) {
  if (now < nextAt())
    return std::nullopt;
  timeout_ = std::min(2 * timeout_, kMaxTimeout);
  nextAt_ = now + timeout_;
  return open_;
}

} // namespace colldsl::verbs

/// What the server has yet to do: messages of the client and findings of the proofs.
#pragma once

#include "tools/lsp/Prover.h"
#include "tools/lsp/Rpc.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <variant>

namespace colldsl::lsp {

/// The client's stream ended, or makes no sense (`why`).
struct StreamEnd {
  std::string why;
};

/// A message that the client cancelled before it was looked at.
struct Cancelled {
  json::Value id;
};

using Event = std::variant<Message, BadMessage, Cancelled, Prover::Finding, StreamEnd>;

/// Thread safe.
class Inbox {
public:
  void push(Event event);
  /// A request that waits becomes Cancelled.
  void cancel(const json::Value &id);

  /// Waits until there is one; nothing: none came within the time. No time: for ever.
  std::optional<Event> pop(std::optional<std::chrono::milliseconds> time);

private:
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<Event> events_;
};

/// Reads the stream to its end into the inbox.
void readAll(MessageReader &reader, Inbox &inbox);

} // namespace colldsl::lsp

/// The queue of the server: messages of the client and findings of the proofs.
#pragma once

#include "lsp/ProofThread.h"
#include "lsp/Rpc.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <variant>

namespace colldsl::lsp {

/// The client's stream ended, or is malformed (`why`).
struct StreamEnd {
  std::string why;
};

/// A request that the client cancelled before the server took it.
struct Cancelled {
  json::Value id;
};

using Event = std::variant<Message, BadMessage, Cancelled, ProofThread::Finding, StreamEnd>;

/// Thread safe.
class Inbox {
public:
  void push(Event event);
  /// Replaces the waiting request of that id by Cancelled.
  void cancel(const json::Value &id);

  /// Waits for an event; nothing: none came within the time. Without a time it waits for ever.
  std::optional<Event> pop(std::optional<std::chrono::milliseconds> time);

private:
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<Event> events_;
};

/// Reads the stream to its end into the inbox.
void readAll(MessageReader &reader, Inbox &inbox);

} // namespace colldsl::lsp

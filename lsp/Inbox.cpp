#include "lsp/Inbox.h"

namespace colldsl::lsp {

void Inbox::push(Event event) {
  {
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  wakeup_.notify_one();
}

void Inbox::cancel(const json::Value &id) {
  std::lock_guard lock(mutex_);
  for (Event &event : events_)
    if (Message *message = std::get_if<Message>(&event);
        message && !message->method.empty() && message->id == id)
      event = Cancelled{id};
}

std::optional<Event> Inbox::pop(std::optional<std::chrono::milliseconds> time) {
  std::unique_lock lock(mutex_);
  auto isThere = [&] { return !events_.empty(); };
  if (!time)
    wakeup_.wait(lock, isThere);
  else if (!wakeup_.wait_for(lock, *time, isThere))
    return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void readAll(MessageReader &reader, Inbox &inbox) {
  while (true) {
    Result<std::optional<std::string>> content = reader.next();
    if (!content)
      return inbox.push(StreamEnd{content.message()});
    if (!*content)
      return inbox.push(StreamEnd{});
    std::variant<Message, BadMessage> parsed = parseMessage(**content);
    if (BadMessage *bad = std::get_if<BadMessage>(&parsed)) {
      inbox.push(std::move(*bad));
      continue;
    }
    Message &message = std::get<Message>(parsed);
    const json::Value *cancelled = message.params.get("id");
    bool isExit = message.method == "exit";
    if (message.method == "$/cancelRequest" && cancelled)
      inbox.cancel(*cancelled);
    else
      inbox.push(std::move(message));
    if (isExit)
      return;
  }
}

} // namespace colldsl::lsp

/// Messages of one peer that came before their receives were posted: whole eager messages, and
/// requests to send. Memory that was released is used again.
#pragma once

#include "transports/Tag.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

namespace colldsl::protocol {

template <typename Rts> struct Unexpected {
  Tag tag;
  uint16_t rendezvousId = 0;
  std::optional<Rts> rts;       ///< nothing: an eager message
  std::vector<std::byte> bytes; ///< of the eager message
};

/// Not thread safe.
template <typename Rts> class UnexpectedQueue {
public:
  using Message = Unexpected<Rts>;
  using Iterator = typename std::list<Message>::iterator;

  bool empty() const { return messages_.empty(); }
  size_t size() const { return messages_.size(); }
  /// Of eager messages, with what it takes to keep them.
  uint64_t bytes() const { return bytes_; }

  void addEager(const Tag &tag, const std::byte *bytes, uint64_t count) {
    Message &message = fresh(tag);
    message.rts.reset();
    message.bytes.assign(bytes, bytes + count);
    bytes_ += bytesOf(message);
  }
  void addRts(const Tag &tag, uint16_t rendezvousId, const Rts &rts) {
    Message &message = fresh(tag);
    message.rendezvousId = rendezvousId;
    message.rts = rts;
  }

  /// Of an eager message that there is room for, with what it takes to keep it. Only grows, but for
  /// 0.
  void setReservedBytes(uint64_t bytes) {
    reservedBytes_ = bytes == 0 ? 0 : std::max(reservedBytes_, bytes);
    for (Message &spare : spare_)
      spare.bytes.reserve(reservedBytes_);
  }
  uint64_t bytesOfReserved() const { return sizeof(Message) + reservedBytes_; }
  /// Has room for so many messages, those that are here included.
  void reserve(size_t messages) {
    while (messages_.size() + spare_.size() < messages)
      spare_.emplace_back().bytes.reserve(reservedBytes_);
  }
  void shrinkTo(size_t messages) {
    while (!spare_.empty() && messages_.size() + spare_.size() > messages)
      spare_.pop_front();
  }

  /// The oldest with this tag, or end().
  Iterator find(const Tag &tag) {
    auto at = messages_.begin();
    while (at != messages_.end() && at->tag != tag)
      ++at;
    return at;
  }
  Iterator end() { return messages_.end(); }

  void release(Iterator message) {
    bytes_ -= bytesOf(*message);
    spare_.splice(spare_.begin(), messages_, message);
  }

  /// Releases those for which isGone(message) is true.
  template <typename IsGone> void releaseIf(IsGone isGone) {
    for (auto at = messages_.begin(); at != messages_.end();) {
      auto next = std::next(at);
      if (isGone(*at))
        release(at);
      at = next;
    }
  }

private:
  static uint64_t bytesOf(const Message &message) {
    return message.rts ? 0 : sizeof(Message) + message.bytes.size();
  }
  Message &fresh(const Tag &tag) {
    if (spare_.empty())
      spare_.emplace_back();
    messages_.splice(messages_.end(), spare_, spare_.begin());
    messages_.back().tag = tag;
    return messages_.back();
  }

  std::list<Message> messages_, spare_;
  uint64_t bytes_ = 0;
  uint64_t reservedBytes_ = 0;
};

} // namespace colldsl::protocol

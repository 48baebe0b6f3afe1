/// Messages of one peer that came before their receives were posted: whole eager messages, and
/// requests to send. Memory that was released is used again.
#pragma once

#include "protocol/TagTable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace colldsl::protocol {

template <typename Rts> struct Unexpected {
  Tag tag;
  uint16_t rendezvousId = 0;
  Unexpected *next = nullptr;
  std::optional<Rts> rts;       ///< nothing: an eager message
  std::vector<std::byte> bytes; ///< of the eager message
};

/// Not thread safe.
template <typename Rts> class UnexpectedQueue {
public:
  using Message = Unexpected<Rts>;

  bool empty() const { return messages_.empty(); }
  size_t size() const { return messages_.size(); }
  /// Bytes of the eager messages and of their records.
  uint64_t bytes() const { return bytes_; }

  void addEager(const Tag &tag, const std::byte *bytes, uint64_t count) {
    Message &message = fresh(tag);
    message.rts.reset();
    message.bytes.assign(bytes, bytes + count);
    bytes_ += bytesOf(message);
    messages_.add(message);
  }
  void addRts(const Tag &tag, uint16_t rendezvousId, const Rts &rts) {
    Message &message = fresh(tag);
    message.rendezvousId = rendezvousId;
    message.rts = rts;
    messages_.add(message);
  }

  /// Bytes that room for one eager message takes, its record included.
  uint64_t bytesOfReserved() const { return sizeof(Message) + reservedBytes_; }
  /// Before reserve(): notes the length of the longest eager message that comes.
  void growReservedBytes(uint64_t bytes) { reservedBytes_ = std::max(reservedBytes_, bytes); }
  void resetReservedBytes() { reservedBytes_ = 0; }
  /// Has room for so many messages, those that are here included.
  void reserve(size_t messages) {
    messages_.reserve(messages);
    while (memory_.size() < messages)
      recycle(memory_.emplace_back());
    size_t ready = messages_.size();
    for (Message *spare = spare_; spare && ready < messages; spare = spare->next, ++ready)
      spare->bytes.reserve(reservedBytes_);
  }
  /// Gives the memory of eager messages back, but for so many messages.
  void shrinkTo(size_t messages) {
    size_t kept = messages_.size();
    for (Message *spare = spare_; spare; spare = spare->next)
      if (++kept > messages)
        spare->bytes = {};
  }

  /// The oldest with this tag; null: there is none.
  Message *find(const Tag &tag) const { return messages_.find(tag); }

  /// Releases a message that find() returned.
  void release(const Message &message) {
    Message &released = *messages_.take(message.tag);
    bytes_ -= bytesOf(released);
    recycle(released);
  }

  /// Releases the messages for which isGone(message) is true.
  template <typename IsGone> void releaseIf(IsGone isGone) {
    messages_.removeIf([&](Message &message) {
      if (!isGone(message))
        return false;
      bytes_ -= bytesOf(message);
      recycle(message);
      return true;
    });
  }

private:
  static uint64_t bytesOf(const Message &message) {
    return message.rts ? 0 : sizeof(Message) + message.bytes.size();
  }
  void recycle(Message &message) {
    message.next = spare_;
    spare_ = &message;
  }
  Message &fresh(const Tag &tag) {
    if (!spare_)
      recycle(memory_.emplace_back());
    Message &message = *spare_;
    spare_ = message.next;
    message.tag = tag;
    return message;
  }

  TagTable<Message> messages_;
  std::deque<Message> memory_; ///< messages stay where they are
  Message *spare_ = nullptr;   ///< not used now, linked by `next`
  uint64_t bytes_ = 0;
  uint64_t reservedBytes_ = 0;
};

} // namespace colldsl::protocol

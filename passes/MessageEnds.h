/// The messages of a schedule, with both of their ends.
#pragma once

#include "ir/Schedule.h"

namespace colldsl {

struct MessageEnds {
  Rank from, to;
  OpId send, recv;
};

/// The messages in the order of the senders' ops. An error: an end without a partner.
Result<std::vector<MessageEnds>> messagesOf(const Schedule &schedule);

/// The sizes of one rank, of a list with one entry for all or one for each.
inline const Sizes &sizesOf(const std::vector<Sizes> &sizes, Rank rank) {
  return sizes.size() == 1 ? sizes.front() : sizes[index(rank)];
}

/// Numbers the ops of all ranks.
class OpNumbers {
public:
  explicit OpNumbers(const Schedule &schedule);
  size_t size() const { return first_.back(); }
  size_t operator()(Rank rank, OpId op) const { return first_[index(rank)] + index(op); }

private:
  std::vector<size_t> first_; ///< per rank, and one more
};

/// Per message: the number of sends before its own on the longest way to it. Ways lead through
/// messages and local dependencies, through the starts of receives, for which a send without
/// buffering waits, and through channels that keep the order of their messages. Sends of one level
/// never wait for each other, on any transport, except those of one channel, which follow their
/// order. An error: the schedule waits for itself.
Result<std::vector<uint32_t>> sendLevels(const Schedule &schedule,
                                         const std::vector<MessageEnds> &messages);

} // namespace colldsl

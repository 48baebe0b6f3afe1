#include "passes/CanaryRte.h"

#include "passes/MessageEnds.h"

namespace colldsl {

void CanaryRte::describe(PassOptions &options) {
  options.number("most", "BYTES", "bytes that the transport commits in order (default: 64)", most);
}

Result<DagOutcome> addCanaries(Schedule schedule, const CanaryRte &options,
                               const DagContext &context) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  uint32_t count = 0;
  for (const MessageEnds &m : *messages) {
    Dag &from = schedule.ranks[index(m.from)];
    Op &send = from.ops[index(m.send)];
    if (send.transfer.protocol != Protocol::Static)
      continue;
    uint64_t bytes = payloadBytes(from, send, sizesOf(context.sizes, m.from));
    if (bytes == 0 || bytes > options.most)
      continue;
    send.transfer.canary = true;
    schedule.ranks[index(m.to)].ops[index(m.recv)].transfer.canary = true;
    ++count;
  }
  return DagOutcome{std::move(schedule), std::to_string(count) + " canaries"};
}

} // namespace colldsl

#include "passes/ProtocolChoice.h"

#include "passes/MessageEnds.h"

namespace colldsl {

void ProtocolChoice::describe(PassOptions &options) {
  options.numbers("eager", "BYTESxBYTESxBYTESxBYTES",
                  "the most that goes eagerly between cores that share a cache, within a socket, "
                  "within a node, between nodes (default: 32KiBx2KiBx1KiBx8KiB)",
                  eager);
  options.flag("static", "true|false", "buffers are the same in every call (default: false)",
               isStatic);
  options.number("skew", "NS", "how late receivers come (default: 0)", skewNs);
}

namespace {

constexpr unsigned kReaches = 4;

unsigned reachOf(unsigned distance) {
  return distance <= 1 ? 0 : distance == 2 || distance == 4 ? 1 : distance < 7 ? 2 : 3;
}

} // namespace

Result<DagOutcome> chooseProtocols(Schedule schedule, const ProtocolChoice &options,
                                   const DagContext &context) {
  if (options.eager.size() != kReaches)
    return Status::error("eager: four sizes with x between them are expected");
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  const MemoryCosts &copy = context.cost.machine.copy;
  uint32_t counts[kProtocols] = {};
  for (const MessageEnds &m : *messages) {
    Dag &from = schedule.ranks[index(m.from)], &to = schedule.ranks[index(m.to)];
    Op &send = from.ops[index(m.send)], &recv = to.ops[index(m.recv)];
    if (send.kind != OpKind::Send)
      continue;
    uint64_t bytes = payloadBytes(from, send, sizesOf(context.sizes, m.from));
    unsigned reach = reachOf(context.topology.distance(m.from, m.to));
    Protocol protocol = bytes <= options.eager[reach] || copy.ns(bytes) < options.skewNs
                            ? Protocol::Eager
                        : options.isStatic ? Protocol::Static
                                           : Protocol::Rendezvous;
    send.transfer = Transfer{.protocol = protocol, .multicast = send.transfer.multicast};
    recv.transfer = Transfer{.protocol = protocol,
                             .streamed = recv.transfer.streamed,
                             .multicast = recv.transfer.multicast};
    ++counts[static_cast<size_t>(protocol)];
  }
  std::string remark;
  for (size_t p = 1; p < kProtocols; ++p)
    remark += (p == 1 ? "" : ", ") + std::to_string(counts[p]) + " " +
              std::string(spelling(static_cast<Protocol>(p)));
  return DagOutcome{std::move(schedule), std::move(remark)};
}

} // namespace colldsl

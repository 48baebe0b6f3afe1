#include "passes/Direction.h"

#include "passes/MessageEnds.h"

#include <map>

namespace colldsl {

void Direction::describe(PassOptions &options) {
  options.number("least", "BYTES", "only messages of so many bytes or more (default: 16KiB)",
                 least);
}

Result<DagOutcome> chooseMovers(Schedule schedule, const Direction &options,
                                const DagContext &context) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  Result<std::vector<uint32_t>> levels = sendLevels(schedule, *messages);
  if (!levels)
    return DagOutcome{std::move(schedule), "left as it is: " + levels.message()};
  std::map<std::pair<Rank, uint32_t>, uint32_t> sent, received; // by rank and level
  auto isLocal = [&](const MessageEnds &m) {
    const Dag &dag = schedule.ranks[index(m.from)];
    const Op &op = dag.op(m.send);
    return op.kind == OpKind::Send && op.transfer.protocol != Protocol::Eager &&
           context.topology.distance(m.from, m.to) < kOtherNode &&
           payloadBytes(dag, op, sizesOf(context.sizes, m.from)) >= options.least;
  };
  for (size_t i = 0; i < messages->size(); ++i)
    if (const MessageEnds &m = (*messages)[i]; isLocal(m)) {
      ++sent[{m.from, (*levels)[i]}];
      ++received[{m.to, (*levels)[i]}];
    }
  uint32_t readers = 0, writers = 0;
  for (size_t i = 0; i < messages->size(); ++i) {
    const MessageEnds &m = (*messages)[i];
    if (!isLocal(m))
      continue;
    uint32_t out = sent[{m.from, (*levels)[i]}], in = received[{m.to, (*levels)[i]}];
    Mover mover = out > in ? Mover::Reader : in > out ? Mover::Writer : Mover::Either;
    schedule.ranks[index(m.from)].ops[index(m.send)].transfer.mover = mover;
    schedule.ranks[index(m.to)].ops[index(m.recv)].transfer.mover = mover;
    readers += mover == Mover::Reader;
    writers += mover == Mover::Writer;
  }
  return DagOutcome{std::move(schedule), std::to_string(readers) + " by readers, " +
                                             std::to_string(writers) + " by writers"};
}

} // namespace colldsl

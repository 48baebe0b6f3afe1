#include "executor/Edges.h"

#include "ir/Concat.h"
#include "ir/EpochTable.h"

#include <algorithm>
#include <tuple>

namespace colldsl {
namespace {

// The id of the answer to a message. Ids are counts or hashes; group() refuses two that are equal.
MessageId answerTo(MessageId message) { return MessageId{mixHash(value(message), 0xa45e3)}; }

/// A message that leaves this rank, or one that comes to it.
struct Message {
  Rank peer;
  MessageId id;
  Transfer way;
  uint32_t op;
  bool isAnswer;
};

Status twice(bool sends, const Message &a, const Message &b) {
  return Status::error(concat("ops ", std::min(a.op, b.op), " and ", std::max(a.op, b.op), " both ",
                              sends ? "send" : "receive", " message ", value(a.id),
                              sends ? " to rank " : " from rank ", index(a.peer)));
}

Status group(std::vector<Message> messages, bool sends, std::vector<EdgeSpec> &specs,
             Edges &edges) {
  std::sort(messages.begin(), messages.end(), [](const Message &a, const Message &b) {
    return std::tuple(a.peer, a.id, a.op) < std::tuple(b.peer, b.id, b.op);
  });
  const Message *before = nullptr;
  for (const Message &message : messages) {
    if (!before || before->peer != message.peer)
      specs.push_back({message.peer, {}, {}});
    else if (before->id == message.id)
      return twice(sends, *before, message);
    EdgeSpec &spec = specs.back();
    MessageSlot slot{static_cast<uint32_t>(specs.size() - 1),
                     static_cast<uint32_t>(spec.messages.size())};
    if (message.isAnswer)
      edges.answers[message.op] = slot;
    else
      edges.slots[message.op] = slot;
    spec.messages.push_back(message.id);
    spec.ways.push_back(message.way);
    before = &message;
  }
  return {};
}

} // namespace

Result<Edges> Edges::of(const RankView &view,
                        const std::function<bool(const ImageOp &)> &isAnswered) {
  Edges edges;
  edges.slots.resize(view.ops.size());
  std::vector<Message> out, in;
  for (uint32_t i = 0; i < view.ops.size(); ++i) {
    const ImageOp &op = view.ops[i];
    if (!travels(op))
      continue;
    bool sends = sendsMessage(op.kind);
    (sends ? out : in).push_back({op.peer, op.message, op.transfer(), i, false});
    if (!isAnswered || !isAnswered(op))
      continue;
    edges.answers.resize(view.ops.size());
    (sends ? in : out).push_back({op.peer, answerTo(op.message), {}, i, true});
  }
  if (Status s = group(std::move(out), true, edges.out, edges); !s)
    return s;
  if (Status s = group(std::move(in), false, edges.in, edges); !s)
    return s;
  return edges;
}

} // namespace colldsl

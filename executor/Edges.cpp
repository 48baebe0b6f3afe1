#include "executor/Edges.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl {
namespace {

// The ops that send, or receive, sorted by peer and message.
std::vector<uint32_t> sortedMessages(std::span<const ImageOp> ops, bool sends) {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < ops.size(); ++i)
    if (travels(ops[i]) && sendsMessage(ops[i].kind) == sends)
      found.push_back(i);
  std::sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(ops[a].peer, ops[a].message) < std::pair(ops[b].peer, ops[b].message);
  });
  return found;
}

Status twice(bool sends, uint32_t a, uint32_t b, const ImageOp &op) {
  return Status::error(concat("ops ", std::min(a, b), " and ", std::max(a, b), " both ",
                              sends ? "send" : "receive", " message ", value(op.message),
                              sends ? " to rank " : " from rank ", index(op.peer)));
}

Status group(std::span<const ImageOp> ops, bool sends, std::vector<EdgeSpec> &edges,
             std::vector<MessageSlot> &slots) {
  uint32_t before = index(kNoOp);
  for (uint32_t i : sortedMessages(ops, sends)) {
    if (edges.empty() || edges.back().peer != ops[i].peer)
      edges.push_back({ops[i].peer, {}, {}});
    else if (ops[before].message == ops[i].message)
      return twice(sends, before, i, ops[i]);
    std::vector<MessageId> &messages = edges.back().messages;
    slots[i] = {static_cast<uint32_t>(edges.size() - 1), static_cast<uint32_t>(messages.size())};
    messages.push_back(ops[i].message);
    edges.back().ways.push_back(ops[i].transfer());
    before = i;
  }
  return {};
}

} // namespace

Result<Edges> Edges::of(const RankView &view) {
  Edges edges;
  edges.slots.resize(view.ops.size());
  if (Status s = group(view.ops, true, edges.out, edges.slots); !s)
    return s;
  if (Status s = group(view.ops, false, edges.in, edges.slots); !s)
    return s;
  return edges;
}

} // namespace colldsl

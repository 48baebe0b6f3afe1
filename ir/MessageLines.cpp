#include "ir/MessageLines.h"

#include <algorithm>
#include <tuple>

namespace colldsl {
namespace {

struct InLine {
  bool isReceive;
  Rank peer;
  uint32_t tag;
  OpId op;

  auto line() const { return std::tie(isReceive, peer, tag); }
};

} // namespace

void forEachInLine(std::span<const Op> ops, const std::function<void(OpId, OpId)> &visit) {
  std::vector<InLine> ends;
  for (uint32_t i = 0; i < ops.size(); ++i)
    if (isMessage(ops[i].kind))
      ends.push_back({receivesMessage(ops[i].kind), ops[i].peer, tagOf(ops[i].message), OpId{i}});
  std::sort(ends.begin(), ends.end(), [](const InLine &a, const InLine &b) {
    return std::tuple_cat(a.line(), std::tie(a.op)) < std::tuple_cat(b.line(), std::tie(b.op));
  });
  for (size_t i = 0; i < ends.size(); ++i) {
    bool isFirst = i == 0 || ends[i].line() != ends[i - 1].line();
    visit(ends[i].op, isFirst ? kNoOp : ends[i - 1].op);
  }
}

} // namespace colldsl

#include "passes/RtrTree.h"

#include "passes/DagEditor.h"
#include "passes/MessageEnds.h"

#include <algorithm>
#include <map>

namespace colldsl {

void RtrTree::describe(PassOptions &options) {
  options.number("degree", "N", "of the trees (default: L / o, at least 2)", degree, 1);
}

namespace {

/// The tree of one sender: the sender has place 0, its receivers the places behind. All ops of the
/// tree come first in program order, tree by tree in one order on every rank. On a channel that
/// keeps the order of its messages no notice then waits behind data, nor behind a tree that waits
/// for it.
class NoticeTree {
public:
  NoticeTree(std::vector<DagEditor> &editors, uint64_t degree, uint64_t &serial)
      : editors_(editors), degree_(degree), serial_(serial) {}

  void build(Rank sender, const std::vector<MessageEnds> &messages) {
    std::map<Rank, std::vector<EditId>> receivesOf;
    for (const MessageEnds &m : messages)
      receivesOf[m.to].push_back(DagEditor::of(m.recv));
    std::vector<Rank> ranks{sender};
    for (const auto &[rank, receives] : receivesOf)
      ranks.push_back(rank);
    std::vector<std::vector<EditId>> heard(ranks.size()); // per place, its waits
    for (size_t i = ranks.size(); i-- > 1;) {             // those below first
      size_t above = (i - 1) / degree_;
      Op op;
      op.message = MessageId{kFirstNewMessage + serial_++};
      op.kind = OpKind::Signal;
      op.peer = ranks[above];
      EditId signal = editor(ranks[i]).add(op, {}, {}, EditId{0});
      editor(ranks[i]).moveToFront(signal);
      for (EditId receive : receivesOf[ranks[i]]) {
        editor(ranks[i]).moveToFront(receive);
        editor(ranks[i]).wait(signal, receive, DepKind::IRequires);
      }
      for (EditId wait : heard[i])
        editor(ranks[i]).wait(signal, wait);
      op.kind = OpKind::Wait;
      op.peer = ranks[i];
      EditId wait = editor(ranks[above]).add(op, {}, {}, EditId{0});
      editor(ranks[above]).moveToFront(wait);
      heard[above].push_back(wait);
    }
    for (const MessageEnds &m : messages) {
      for (EditId wait : heard[0])
        editor(sender).wait(DagEditor::of(m.send), wait);
      editor(sender).op(DagEditor::of(m.send)).transfer.announced = true;
      editor(m.to).op(DagEditor::of(m.recv)).transfer.announced = true;
    }
  }

private:
  DagEditor &editor(Rank rank) { return editors_[index(rank)]; }

  std::vector<DagEditor> &editors_;
  uint64_t degree_;
  uint64_t &serial_;
};

/// The degree of a tree: the number of signals that one rank can take in while one is on its way.
uint64_t degreeFor(Rank sender, const std::vector<MessageEnds> &messages,
                   const DagContext &context) {
  std::vector<Rank> receivers;
  for (const MessageEnds &m : messages)
    receivers.push_back(m.to);
  const LogGop &p = context.cost.farthest(sender, receivers, context.topology);
  uint64_t o = std::max<uint64_t>(p.o, 1);
  return std::max<uint64_t>(2, (p.L + o - 1) / o);
}

} // namespace

Result<DagOutcome> addRtrTrees(Schedule schedule, const RtrTree &options,
                               const DagContext &context) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  std::map<Rank, std::vector<MessageEnds>> ofSender;
  for (const MessageEnds &m : *messages) {
    const Op &recv = schedule.ranks[index(m.to)].op(m.recv);
    bool fits = recv.transfer.protocol == Protocol::Static && !recv.transfer.announced &&
                recv.depCount == 0 && m.from != m.to;
    if (fits)
      ofSender[m.from].push_back(m);
  }
  std::vector<DagEditor> editors(schedule.ranks.begin(), schedule.ranks.end());
  uint64_t serial = 0, largest = 0;
  uint32_t trees = 0;
  for (const auto &[sender, announced] : ofSender) {
    if (announced.size() < 2)
      continue;
    uint64_t degree = options.degree ? options.degree : degreeFor(sender, announced, context);
    largest = std::max(largest, degree);
    NoticeTree(editors, degree, serial).build(sender, announced);
    ++trees;
  }
  for (uint32_t r = 0; r < schedule.numRanks(); ++r)
    if (Status s = editors[r].buildInto(schedule.ranks[r]); !s)
      return s;
  renumberMessages(schedule);
  std::string remark = std::to_string(trees) + " trees";
  if (trees > 0)
    remark += " of degree " + std::to_string(largest);
  return DagOutcome{std::move(schedule), remark + ", " + std::to_string(serial) + " signals"};
}

} // namespace colldsl

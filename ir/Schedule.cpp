#include "ir/Schedule.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace colldsl {

uint64_t Schedule::numOps() const {
  uint64_t count = 0;
  for (const Dag &dag : ranks)
    count += dag.size();
  return count;
}

namespace {

/// One end of a message: op `op` of rank `from` (a send) or of rank `to` (a receive).
struct End {
  Rank from;
  Rank to;
  MessageId message;
  OpId op;
  uint32_t tag;

  auto pair() const { return std::tie(from, to); }
};

bool byOp(const End &a, const End &b) {
  return std::tie(a.from, a.to, a.op) < std::tie(b.from, b.to, b.op);
}
bool byMessage(const End &a, const End &b) {
  return std::tie(a.from, a.to, a.message, a.op) < std::tie(b.from, b.to, b.message, b.op);
}

void collectEnds(const Schedule &schedule, std::vector<End> &sends, std::vector<End> &recvs) {
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const Dag &dag = schedule.ranks[r];
    for (uint32_t i = 0; i < dag.size(); ++i) {
      const Op &op = dag.ops[i];
      if (sendsMessage(op.kind))
        sends.push_back({Rank{r}, op.peer, op.message, OpId{i}, 0});
      else if (receivesMessage(op.kind))
        recvs.push_back({op.peer, Rank{r}, op.message, OpId{i}, 0});
    }
  }
}

void numberSends(std::vector<End> &sends) {
  std::sort(sends.begin(), sends.end(), byOp);
  for (size_t i = 1; i < sends.size(); ++i)
    sends[i].tag = sends[i].pair() == sends[i - 1].pair() ? sends[i - 1].tag + 1 : 0;
}

// Both spans hold the ends of one pair of ranks, sorted by message.
void numberReceives(std::span<const End> sends, std::span<End> recvs) {
  auto lonelyTag = static_cast<uint32_t>(sends.size());
  size_t s = 0;
  for (End &recv : recvs) {
    while (s < sends.size() && sends[s].message < recv.message)
      ++s;
    bool meets = s < sends.size() && sends[s].message == recv.message;
    recv.tag = meets ? sends[s++].tag : lonelyTag++;
  }
}

// The ends of the next pair of ranks, beginning at `at`, which moves behind them.
std::span<End> takePair(std::vector<End> &ends, size_t &at, std::tuple<Rank, Rank> pair) {
  size_t begin = at;
  while (at < ends.size() && ends[at].pair() == pair)
    ++at;
  return {ends.data() + begin, at - begin};
}

void numberAllReceives(std::vector<End> &sends, std::vector<End> &recvs) {
  std::sort(sends.begin(), sends.end(), byMessage);
  std::sort(recvs.begin(), recvs.end(), byMessage);
  size_t s = 0;
  size_t r = 0;
  while (r < recvs.size()) {
    std::tuple<Rank, Rank> pair = recvs[r].pair();
    while (s < sends.size() && sends[s].pair() < pair)
      ++s;
    std::span<End> pairSends = takePair(sends, s, pair);
    numberReceives(pairSends, takePair(recvs, r, pair));
  }
}

} // namespace

void renumberMessages(Schedule &schedule) {
  std::vector<End> sends;
  std::vector<End> recvs;
  collectEnds(schedule, sends, recvs);
  numberSends(sends);
  numberAllReceives(sends, recvs);
  for (const End &end : sends)
    schedule.ranks[index(end.from)].ops[index(end.op)].message = makeMessageId(end.tag, 0);
  for (const End &end : recvs)
    schedule.ranks[index(end.to)].ops[index(end.op)].message = makeMessageId(end.tag, 0);
}

} // namespace colldsl

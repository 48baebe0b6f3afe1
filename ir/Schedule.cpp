#include "ir/Schedule.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace colldsl {

uint64_t Schedule::numOps() const {
  uint64_t count = 0;
  for (const Dag &dag : ranks)
    count += dag.size();
  return count;
}

bool Schedule::hasCallTimeBlocks() const {
  auto hasBlocks = [](const Buffer &buffer) { return buffer.layout != Layout::Dense; };
  return std::any_of(ranks.begin(), ranks.end(), [&](const Dag &dag) {
    return std::any_of(dag.buffers.begin(), dag.buffers.end(), hasBlocks);
  });
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

std::vector<End> sendsOf(const Dag &dag, Rank rank) {
  std::vector<End> sends;
  for (uint32_t i = 0; i < dag.size(); ++i)
    if (const Op &op = dag.ops[i]; sendsMessage(op.kind))
      sends.push_back({rank, op.peer, op.message, OpId{i}, 0});
  return sends;
}

/// The ends of one sender lie beside each other; those that come from no rank are at the end.
struct Receives {
  std::vector<End> ends;
  std::vector<uint32_t> beginOf; ///< per sender, of those from no rank, and the end

  explicit Receives(const Schedule &schedule) {
    uint32_t numRanks = schedule.numRanks();
    auto place = [&](const Op &op) { return std::min(index(op.peer), numRanks); };
    beginOf.assign(size_t{numRanks} + 2, 0);
    for (const Dag &dag : schedule.ranks)
      for (const Op &op : dag.ops)
        if (receivesMessage(op.kind))
          ++beginOf[place(op) + 1];
    std::partial_sum(beginOf.begin(), beginOf.end(), beginOf.begin());
    ends.resize(beginOf.back());
    std::vector<uint32_t> next(beginOf.begin(), beginOf.end() - 1);
    for (uint32_t r = 0; r < numRanks; ++r)
      for (uint32_t i = 0; i < schedule.ranks[r].size(); ++i)
        if (const Op &op = schedule.ranks[r].ops[i]; receivesMessage(op.kind))
          ends[next[place(op)]++] = {op.peer, Rank{r}, op.message, OpId{i}, 0};
  }

  std::span<End> from(uint32_t place) {
    return std::span(ends).subspan(beginOf[place], beginOf[place + 1] - beginOf[place]);
  }
};

void numberSends(std::span<End> sends) {
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
std::span<End> takePair(std::span<End> ends, size_t &at, std::tuple<Rank, Rank> pair) {
  size_t begin = at;
  while (at < ends.size() && ends[at].pair() == pair)
    ++at;
  return {ends.data() + begin, at - begin};
}

/// All of one sender.
void numberAllReceives(std::span<End> sends, std::span<End> recvs) {
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
  Receives receives(schedule);
  auto setMessage = [&](Rank rank, const End &end) {
    schedule.ranks[index(rank)].ops[index(end.op)].message = makeMessageId(end.tag, 0);
  };
  for (uint32_t r = 0; r <= schedule.numRanks(); ++r) {
    std::vector<End> sends;
    if (r < schedule.numRanks())
      sends = sendsOf(schedule.ranks[r], Rank{r});
    numberSends(sends);
    numberAllReceives(sends, receives.from(r));
    for (const End &end : sends)
      setMessage(end.from, end);
    for (const End &end : receives.from(r))
      setMessage(end.to, end);
  }
}

} // namespace colldsl

#include "passes/MessageEnds.h"

#include "ir/Channel.h"

#include <algorithm>
#include <tuple>

namespace colldsl {
namespace {

struct HalfMessage {
  Rank from, to;
  MessageId message;
  OpId op;

  auto key() const { return std::tie(from, to, message); }
};

bool byKey(const HalfMessage &a, const HalfMessage &b) { return a.key() < b.key(); }

Status unmet(const HalfMessage &end, bool isSend) {
  return Status::error("rank " + std::to_string(index(isSend ? end.from : end.to)) + ", op " +
                       std::to_string(index(end.op)) + ": its message meets no " +
                       (isSend ? "receive" : "send") + " on rank " +
                       std::to_string(index(isSend ? end.to : end.from)));
}

} // namespace

Result<std::vector<MessageEnds>> messagesOf(const Schedule &schedule) {
  std::vector<HalfMessage> sends, recvs;
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const Dag &dag = schedule.ranks[r];
    for (uint32_t i = 0; i < dag.size(); ++i)
      if (const Op &op = dag.ops[i]; sendsMessage(op.kind))
        sends.push_back({Rank{r}, op.peer, op.message, OpId{i}});
      else if (receivesMessage(op.kind))
        recvs.push_back({op.peer, Rank{r}, op.message, OpId{i}});
  }
  std::sort(sends.begin(), sends.end(), byKey);
  std::sort(recvs.begin(), recvs.end(), byKey);
  std::vector<MessageEnds> messages(sends.size());
  for (size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
    if (i >= recvs.size() || (i < sends.size() && sends[i].key() < recvs[i].key()))
      return unmet(sends[i], true);
    if (i >= sends.size() || recvs[i].key() < sends[i].key())
      return unmet(recvs[i], false);
    messages[i] = {sends[i].from, sends[i].to, sends[i].op, recvs[i].op};
  }
  std::sort(messages.begin(), messages.end(), [](const MessageEnds &a, const MessageEnds &b) {
    return std::tie(a.from, a.send) < std::tie(b.from, b.send);
  });
  return messages;
}

OpNumbers::OpNumbers(const Schedule &schedule) : first_{0} {
  for (const Dag &dag : schedule.ranks)
    first_.push_back(first_.back() + dag.size());
}

namespace {

// Two events per op: 2 i its start, 2 i + 1 its finish.
class LevelGraph {
public:
  explicit LevelGraph(size_t ops) : begin_(2 * ops + 2, 0) {}

  template <typename ForEachEdge> void build(ForEachEdge forEachEdge) {
    forEachEdge([&](size_t from, size_t, bool = false) { ++begin_[from + 2]; });
    for (size_t i = 2; i < begin_.size(); ++i)
      begin_[i] += begin_[i - 1];
    to_.resize(begin_.back());
    waits_.assign(begin_.size() - 2, 0);
    forEachEdge([&](size_t from, size_t to, bool isLight = false) {
      to_[begin_[from + 1]++] = {to, isLight};
      ++waits_[to];
    });
  }

  /// The levels of all events; nothing if there is a cycle. A path's level rises behind each event
  /// with isSendStart(event), except along light edges.
  template <typename IsSendStart>
  std::optional<std::vector<uint32_t>> levels(IsSendStart isSendStart) {
    std::vector<uint32_t> level(waits_.size(), 0);
    std::vector<size_t> open;
    for (size_t e = 0; e < waits_.size(); ++e)
      if (waits_[e] == 0)
        open.push_back(e);
    size_t done = 0;
    for (; !open.empty(); ++done) {
      size_t event = open.back();
      open.pop_back();
      uint32_t after = level[event] + (isSendStart(event) ? 1 : 0);
      for (size_t i = begin_[event]; i < begin_[event + 1]; ++i) {
        auto [to, isLight] = to_[i];
        level[to] = std::max(level[to], isLight ? level[event] : after);
        if (--waits_[to] == 0)
          open.push_back(to);
      }
    }
    if (done != waits_.size())
      return std::nullopt;
    return level;
  }

private:
  std::vector<size_t> begin_; ///< of an event's successors; shifted while they are filled in
  std::vector<std::pair<size_t, bool>> to_;
  std::vector<uint32_t> waits_;
};

} // namespace

namespace {

/// Channel by channel, in the order in which messages are sent in the program.
std::vector<MessageEnds> byChannel(std::vector<MessageEnds> messages) {
  std::sort(messages.begin(), messages.end(), [](const MessageEnds &a, const MessageEnds &b) {
    return std::tie(a.from, a.to, a.send) < std::tie(b.from, b.to, b.send);
  });
  return messages;
}

/// Adds the edges of a channel of finite length that keeps its messages' order: see
/// docs/verifier.md.
template <typename Edge>
void addChannelEdges(const std::vector<MessageEnds> &channels, const OpNumbers &number, Edge edge) {
  constexpr size_t kSlots = kChannelSlots;
  auto sameChannel = [&](size_t i, size_t j) {
    return channels[i].from == channels[j].from && channels[i].to == channels[j].to;
  };
  auto send = [&](size_t i) { return number(channels[i].from, channels[i].send); };
  auto recv = [&](size_t i) { return number(channels[i].to, channels[i].recv); };
  for (size_t i = 1; i < channels.size(); ++i) {
    if (sameChannel(i - 1, i)) {
      edge(2 * send(i - 1), 2 * send(i), true);
      edge(2 * recv(i - 1) + 1, 2 * recv(i) + 1, true);
    }
    if (i >= kSlots && sameChannel(i - kSlots, i))
      edge(2 * recv(i - kSlots) + 1, 2 * send(i));
  }
}

} // namespace

Result<std::vector<uint32_t>> sendLevels(const Schedule &schedule,
                                         const std::vector<MessageEnds> &messages) {
  OpNumbers number(schedule);
  LevelGraph graph(number.size());
  std::vector<MessageEnds> channels = byChannel(messages);
  graph.build([&](auto edge) {
    addChannelEdges(channels, number, edge);
    for (uint32_t r = 0; r < schedule.numRanks(); ++r)
      for (uint32_t i = 0; i < schedule.ranks[r].size(); ++i) {
        size_t op = number(Rank{r}, OpId{i});
        edge(2 * op, 2 * op + 1);
        for (const Dep &dep : schedule.ranks[r].depsOf(schedule.ranks[r].ops[i]))
          edge(2 * number(Rank{r}, dep.op) + (dep.kind == DepKind::Requires), 2 * op);
      }
    for (const MessageEnds &m : messages) {
      size_t send = number(m.from, m.send), recv = number(m.to, m.recv);
      edge(2 * send, 2 * recv + 1);
      edge(2 * recv, 2 * send + 1);
    }
  });
  std::vector<bool> isSend(number.size());
  for (const MessageEnds &m : messages)
    isSend[number(m.from, m.send)] = true;
  auto levels = graph.levels([&](size_t event) { return event % 2 == 0 && isSend[event / 2]; });
  if (!levels)
    return Status::error("the schedule waits for itself");
  std::vector<uint32_t> ofMessages;
  ofMessages.reserve(messages.size());
  for (const MessageEnds &m : messages)
    ofMessages.push_back((*levels)[2 * number(m.from, m.send)]);
  return ofMessages;
}

} // namespace colldsl

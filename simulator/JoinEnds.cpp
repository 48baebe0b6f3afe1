// Joins the ends of messages: each send looks into the table of its receiver.
//
// The first try uses all threads, and compares the two ends of a message as it joins them. If an
// end does not fit, or ends may meet by tag, the second try goes from rank to rank, so that reports
// are the same each time.
#include "ir/Concat.h"
#include "ir/Threads.h"
#include "simulator/RankPacker.h"

#include <atomic>
#include <span>

namespace colldsl::sim {
namespace {

constexpr size_t kMaxWrongNotes = 10;

class EndJoiner {
public:
  EndJoiner(Workload &workload, PagedArray<MessageId> messages, ReceiveTables tables,
            bool isPlainGoal)
      : workload_(workload), messages_(std::move(messages)), tables_(std::move(tables)),
        isPlainGoal_(isPlainGoal) {}

  /// False if an end does not fit, or ends may meet by tag.
  bool joinAtOnce(unsigned threads);
  Status joinInOrder();

private:
  struct SendEnd {
    uint32_t rank;
    uint32_t vertex;
  };

  void insertReceives(uint32_t rank);
  void findSends(uint32_t begin, uint32_t end, std::vector<SendEnd> &sends) const;
  void fetchReceive(const SendEnd &send) const;
  bool joinFitting(const SendEnd &end);
  void joinSend(const SendEnd &end);
  void join(uint32_t send, uint32_t recv);
  void markTags();
  void checkEnd(uint32_t vertex);

  template <typename Visit> void forEachOf(uint32_t rank, Visit visit) const {
    const RankVertices &at = workload_.ranks[rank];
    for (uint32_t op = 0; op < at.count; ++op)
      visit(at.at(op));
  }
  uint64_t keyOf(uint32_t vertex) const {
    MessageId message = messages_[vertex];
    return isPlainGoal_ ? tagOf(message) : value(message);
  }
  /// The receive with this key, or kNoVertex.
  uint32_t find(uint32_t rank, uint32_t peer, uint64_t key) {
    uint32_t found = kNoVertex;
    tables_.probe(rank, peer, key, [&](uint32_t slot) {
      if (slot == 0)
        return true;
      bool isIt = workload_.vertices[slot - 1].peer == peer && keyOf(slot - 1) == key;
      if (isIt)
        found = slot - 1;
      return isIt;
    });
    return found;
  }
  template <typename... Parts> void complain(uint32_t vertex, const Parts &...why);

  Workload &workload_;
  PagedArray<MessageId> messages_;
  ReceiveTables tables_;
  bool isPlainGoal_;
  std::vector<bool> meetsAny_; ///< per rank: has wildcards among its messages
  std::vector<Diagnostic> notes_;
  uint64_t wrong_ = 0;
};

bool isRecv(const Vertex &v) { return v.kind == VertexKind::Recv; }
bool isSend(const Vertex &v) { return v.kind == VertexKind::Send; }

void EndJoiner::insertReceives(uint32_t rank) {
  forEachOf(rank, [&](uint32_t v) {
    Vertex &recv = workload_.vertices[v];
    if (!isRecv(recv) || recv.isByTag)
      return;
    tables_.probe(rank, recv.peer, keyOf(v), [&](uint32_t &slot) {
      if (slot == 0) {
        slot = v + 1;
        return true;
      }
      Vertex &other = workload_.vertices[slot - 1];
      bool isSame = other.peer == recv.peer && keyOf(slot - 1) == keyOf(v);
      if (isSame && isPlainGoal_)
        recv.isByTag = other.isByTag = 1;
      else if (isSame)
        complain(v, "has the number of another one from the same rank");
      return isSame;
    });
  });
}

void EndJoiner::join(uint32_t send, uint32_t recv) {
  workload_.vertices[send].partner = recv;
  workload_.vertices[recv].partner = send;
}

/// Collects the sends of these ranks that do not meet by tag, in the order of memory.
void EndJoiner::findSends(uint32_t begin, uint32_t end, std::vector<SendEnd> &sends) const {
  // The tables of other ranks are far apart: prefetch the entries that the next sends need.
  sends.clear();
  auto consider = [&](uint32_t rank, uint32_t v) {
    const Vertex &send = workload_.vertices[v];
    if (!isSend(send) || send.isByTag)
      return;
    sends.push_back({rank, v});
    __builtin_prefetch(tables_.first(send.peer, rank, keyOf(v)));
  };
  uint32_t longest = 0;
  for (uint32_t r = begin; r < end; ++r)
    longest = std::max(longest, workload_.ranks[r].count);
  if (workload_.ranks[begin].stride > 1)
    for (uint32_t op = 0; op < longest; ++op)
      for (uint32_t r = begin; r < end; ++r)
        if (op < workload_.ranks[r].count)
          consider(r, workload_.ranks[r].at(op));
  if (workload_.ranks[begin].stride == 1)
    for (uint32_t r = begin; r < end; ++r)
      forEachOf(r, [&](uint32_t v) { consider(r, v); });
}

/// Prefetches the vertex that is most likely the receive.
void EndJoiner::fetchReceive(const SendEnd &send) const {
  uint32_t peer = workload_.vertices[send.vertex].peer;
  const uint32_t *first = tables_.first(peer, send.rank, keyOf(send.vertex));
  if (!first || *first == 0)
    return;
  uint32_t slot = *first;
  __builtin_prefetch(&workload_.vertices[slot - 1], 1);
  __builtin_prefetch(&messages_[slot - 1]);
}

/// Joins a send to its receive; several threads may do so at once. False if it has no receive, or
/// one that does not fit or is taken.
bool EndJoiner::joinFitting(const SendEnd &end) {
  uint32_t v = end.vertex;
  Vertex &send = workload_.vertices[v];
  uint32_t recv = find(send.peer, end.rank, keyOf(v));
  if (recv == kNoVertex)
    return false;
  Vertex &other = workload_.vertices[recv];
  send.partner = recv;
  return std::atomic_ref(other.partner).exchange(v, std::memory_order_relaxed) == kNoVertex &&
         workload_.amountOf(send) == workload_.amountOf(other) && send.way == other.way;
}

void EndJoiner::joinSend(const SendEnd &end) {
  uint32_t v = end.vertex;
  Vertex &send = workload_.vertices[v];
  if (meetsAny_[send.peer]) {
    send.isByTag = 1;
    return;
  }
  uint32_t recv = find(send.peer, end.rank, keyOf(v));
  if (recv == kNoVertex)
    return complain(v, "has no matching receive");
  Vertex &other = workload_.vertices[recv];
  if (other.partner != kNoVertex && !isPlainGoal_)
    return complain(v, "has the number of another one to the same rank");
  if (other.partner == kNoVertex && !other.isByTag)
    return join(v, recv);
  send.isByTag = other.isByTag = 1; // several share a tag
  if (other.partner != kNoVertex)
    workload_.vertices[other.partner].isByTag = 1;
}

/// A wildcard may meet any message of its rank, so all receives of the rank meet by tag.
void EndJoiner::markTags() {
  for (uint32_t r = 0; r < workload_.numRanks(); ++r)
    forEachOf(r, [&](uint32_t v) {
      const Vertex &vertex = workload_.vertices[v];
      if (vertex.isByTag)
        meetsAny_[isRecv(vertex) ? r : vertex.peer] = true;
    });
  for (uint32_t r = 0; r < workload_.numRanks(); ++r)
    if (meetsAny_[r])
      forEachOf(
          r, [&](uint32_t v) { workload_.vertices[v].isByTag |= isRecv(workload_.vertices[v]); });
}

void EndJoiner::checkEnd(uint32_t v) {
  Vertex &vertex = workload_.vertices[v];
  if (vertex.kind == VertexKind::Calc)
    return;
  if (vertex.isByTag) {
    workload_.hasTags = true;
    vertex.partner = tagOf(messages_[v]);
  } else if (vertex.partner == kNoVertex && isRecv(vertex)) {
    complain(v, "has no matching send");
  } else if (vertex.partner != kNoVertex && isSend(vertex)) {
    const Vertex &recv = workload_.vertices[vertex.partner];
    uint64_t sent = workload_.amountOf(vertex), received = workload_.amountOf(recv);
    if (sent != received)
      complain(v, "has ", sent, " bytes, its receive (op ", index(workload_.opOf(vertex.partner)),
               " of rank ", vertex.peer, ") has ", received);
    else if (vertex.way != recv.way)
      complain(v, "travels in another way than its receive (op ",
               index(workload_.opOf(vertex.partner)), " of rank ", vertex.peer, ") says");
  }
}

template <typename... Parts> void EndJoiner::complain(uint32_t vertex, const Parts &...why) {
  if (++wrong_ > kMaxWrongNotes)
    return;
  const Vertex &v = workload_.vertices[vertex];
  uint32_t rank = workload_.rankOf(vertex);
  OpId op = workload_.opOf(vertex);
  Result<Op> known = workload_.describe(Rank{rank}, op);
  SourceLoc loc = known ? known->loc : SourceLoc();
  std::string_view word =
      known ? spelling(known->kind) : spelling(isSend(v) ? OpKind::Send : OpKind::Recv);
  notes_.push_back(
      Diagnostic::error(loc, concat("rank ", rank, ": op ", index(op), ", ", word,
                                    isSend(v) ? " to" : " from", " rank ", v.peer, ", ", why...)));
}

bool EndJoiner::joinAtOnce(unsigned threads) {
  std::atomic<uint32_t> next{0};
  std::atomic<bool> isFine{true};
  std::atomic<uint64_t> joined{0};
  onThreads(threads, [&] {
    std::vector<SendEnd> sends;
    uint32_t begin = 0;
    while (isFine && (begin = next.fetch_add(kStride)) < workload_.numRanks()) {
      findSends(begin, std::min(begin + kStride, workload_.numRanks()), sends);
      for (const SendEnd &send : sends)
        fetchReceive(send);
      for (const SendEnd &send : sends)
        if (!joinFitting(send))
          isFine = false;
      joined += sends.size();
    }
  });
  return isFine && joined == workload_.messages;
}

Status EndJoiner::joinInOrder() {
  uint32_t numRanks = workload_.numRanks();
  for (Vertex &v : std::span(workload_.vertices.begin(), workload_.vertices.end()))
    v.partner = kNoVertex;
  meetsAny_.assign(numRanks, false);
  if (isPlainGoal_)
    markTags();
  tables_.clear();
  for (uint32_t r = 0; r < numRanks; ++r)
    insertReceives(r);
  std::vector<SendEnd> sends;
  for (uint32_t r = 0; r < numRanks; ++r) {
    findSends(r, r + 1, sends);
    for (const SendEnd &send : sends)
      joinSend(send);
  }
  for (uint32_t r = 0; r < numRanks; ++r)
    forEachOf(r, [&](uint32_t v) { checkEnd(v); });
  if (notes_.empty())
    return {};
  Diagnostic first = notes_.front();
  first.notes.assign(notes_.begin() + 1, notes_.end());
  if (wrong_ > kMaxWrongNotes)
    first.notes.push_back(Diagnostic::note({}, concat("and ", wrong_ - kMaxWrongNotes, " more")));
  return first;
}

} // namespace

Status joinEnds(Workload &workload, PagedArray<MessageId> messages, ReceiveTables tables,
                bool isOneToOne, bool isPlainGoal, unsigned threads) {
  EndJoiner joiner(workload, std::move(messages), std::move(tables), isPlainGoal);
  bool isJoined = isOneToOne && !isPlainGoal && joiner.joinAtOnce(threads);
  return isJoined ? Status() : joiner.joinInOrder();
}

} // namespace colldsl::sim

// Joining the ends of messages: each rank's receives go into a hash table of their own, and
// each send looks into its receiver's. All tables lie in one array, so that a send touches
// one or two cache lines of it.
#include "ir/Concat.h"
#include "simulator/RankPacker.h"

#include <bit>

namespace colldsl::sim {
namespace {

constexpr size_t kMaxNotes = 10;

class EndJoiner {
public:
  EndJoiner(Workload &workload, PagedArray<MessageId> messages, bool isPlainGoal)
      : workload_(workload), messages_(std::move(messages)), isPlainGoal_(isPlainGoal) {}

  Status run();

private:
  void makeTables();
  void insertReceives(uint32_t rank);
  void joinSends(uint32_t rank);
  void joinSend(uint32_t rank, uint32_t send);
  void join(uint32_t send, uint32_t recv);
  void markTags();
  void checkEnds();
  void checkEnd(uint32_t vertex);

  template <typename Visit> void forEachOf(uint32_t rank, Visit visit) {
    const RankVertices &at = workload_.ranks[rank];
    for (uint32_t op = 0; op < at.count; ++op)
      visit(at.at(op));
  }
  uint64_t keyOf(uint32_t vertex) const {
    MessageId message = messages_[vertex];
    return isPlainGoal_ ? tagOf(message) : value(message);
  }
  uint32_t slotOf(uint32_t rank, uint32_t peer, uint64_t key) const {
    uint32_t size = tableBegin_[rank + 1] - tableBegin_[rank];
    uint64_t hash = (key ^ uint64_t{peer} * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return size == 0 ? 0 : static_cast<uint32_t>(hash >> 32) & (size - 1);
  }
  /// Where the search for a message from `peer` begins, and goes on cyclically.
  template <typename Visit> void probe(uint32_t rank, uint32_t peer, uint64_t key, Visit visit) {
    uint32_t size = tableBegin_[rank + 1] - tableBegin_[rank];
    uint32_t at = slotOf(rank, peer, key);
    for (uint32_t i = 0; i < size; ++i, at = (at + 1) & (size - 1))
      if (visit(slots_[tableBegin_[rank] + at]))
        return;
  }
  /// The receive with this key, or kNoVertex.
  uint32_t find(uint32_t rank, uint32_t peer, uint64_t key) {
    uint32_t found = kNoVertex;
    probe(rank, peer, key, [&](uint32_t slot) {
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
  bool isPlainGoal_;
  std::vector<uint32_t> tableBegin_; ///< per rank, and one more
  PagedArray<uint32_t> slots_;       ///< 0: free; else a vertex and one
  std::vector<uint32_t> sends_;      ///< of the rank at hand
  std::vector<bool> meetsAny_;       ///< per rank: has wildcards among its messages
  std::vector<Diagnostic> notes_;
  uint64_t wrong_ = 0;
};

bool isRecv(const Vertex &v) { return v.kind == VertexKind::Recv; }
bool isSend(const Vertex &v) { return v.kind == VertexKind::Send; }

void EndJoiner::makeTables() {
  tableBegin_.assign(size_t{workload_.numRanks()} + 1, 0);
  uint64_t end = 0;
  for (uint32_t r = 0; r < workload_.numRanks(); ++r) {
    uint64_t receives = 0;
    forEachOf(r, [&](uint32_t v) { receives += isRecv(workload_.vertices[v]); });
    end += receives == 0 ? 0 : std::bit_ceil(receives + receives / 2);
    tableBegin_[r + 1] = static_cast<uint32_t>(end);
  }
  slots_.grow(end);
}

void EndJoiner::insertReceives(uint32_t rank) {
  forEachOf(rank, [&](uint32_t v) {
    Vertex &recv = workload_.vertices[v];
    if (!isRecv(recv) || recv.isByTag)
      return;
    probe(rank, recv.peer, keyOf(v), [&](uint32_t &slot) {
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

void EndJoiner::joinSends(uint32_t rank) {
  // The tables of other ranks are far apart: ask for what the next sends need.
  sends_.clear();
  forEachOf(rank, [&](uint32_t v) {
    const Vertex &send = workload_.vertices[v];
    if (!isSend(send) || send.isByTag)
      return;
    sends_.push_back(v);
    __builtin_prefetch(slots_.data() + tableBegin_[send.peer] + slotOf(send.peer, rank, keyOf(v)));
  });
  for (uint32_t v : sends_)
    joinSend(rank, v);
}

void EndJoiner::joinSend(uint32_t rank, uint32_t v) {
  Vertex &send = workload_.vertices[v];
  if (meetsAny_[send.peer]) {
    send.isByTag = 1;
    return;
  }
  uint32_t recv = find(send.peer, rank, keyOf(v));
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

/// Where there is a wildcard, any message of that rank may meet it.
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

void EndJoiner::checkEnds() {
  for (uint32_t r = 0; r < workload_.numRanks(); ++r)
    forEachOf(r, [&](uint32_t v) { checkEnd(v); });
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
  if (++wrong_ > kMaxNotes)
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

Status EndJoiner::run() {
  meetsAny_.assign(workload_.numRanks(), false);
  if (isPlainGoal_)
    markTags();
  makeTables();
  for (uint32_t r = 0; r < workload_.numRanks(); ++r)
    insertReceives(r);
  for (uint32_t r = 0; r < workload_.numRanks(); ++r)
    joinSends(r);
  checkEnds();
  if (notes_.empty())
    return {};
  Diagnostic first = notes_.front();
  first.notes.assign(notes_.begin() + 1, notes_.end());
  if (wrong_ > kMaxNotes)
    first.notes.push_back(Diagnostic::note({}, concat("and ", wrong_ - kMaxNotes, " more")));
  return first;
}

} // namespace

Status joinEnds(Workload &workload, PagedArray<MessageId> messages, bool isPlainGoal) {
  return EndJoiner(workload, std::move(messages), isPlainGoal).run();
}

} // namespace colldsl::sim

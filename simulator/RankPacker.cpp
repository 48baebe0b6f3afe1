#include "simulator/RankPacker.h"

#include "ir/Concat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

namespace colldsl::sim {
namespace {

SourceLoc locOf(const ImageOp &op) {
  return {static_cast<uint32_t>(op.line), static_cast<uint16_t>(op.column),
          static_cast<uint16_t>(op.file)};
}

/// True for GOAL's tag -1.
bool isAnyTag(MessageId message) { return tagOf(message) == UINT32_MAX; }

/// The way of a transfer. If it has several attributes, the static place comes first, then the end
/// that copies.
Way wayOf(const Transfer &transfer) {
  switch (transfer.protocol) {
  case Protocol::Eager:
    return Way::Eager;
  case Protocol::Static:
    if (transfer.announced)
      return transfer.canary ? Way::CanaryAtOnce : Way::FlaggedAtOnce;
    return transfer.canary ? Way::Canary : Way::Flagged;
  case Protocol::Any:
  case Protocol::Rendezvous:
    break;
  }
  switch (transfer.mover) {
  case Mover::Reader:
    return Way::Reader;
  case Mover::Writer:
    return Way::Writer;
  case Mover::Either:
    break;
  }
  return transfer.protocol == Protocol::Rendezvous ? Way::Rendezvous : Way::Usual;
}

/// True if the successors follow each other without a gap, and are few enough for a run.
bool isRun(std::span<const uint32_t> successors) {
  for (size_t i = 1; i < successors.size(); ++i)
    if (successors[i] != successors[i - 1] + 1)
      return false;
  return successors.size() < kIsList;
}

} // namespace

void PackedRanks::clear() {
  vertices.clear();
  messages.clear();
  lists.clear();
  wide.clear();
  counts.clear();
  receives.clear();
  sends = 0;
  bytes = calcNs = 0;
  traffic.clear();
  hasWays = false;
}

void RankPacker::addSuccessors(const RankView &view, uint32_t i, Vertex &v, PackedRanks &into) {
  const ImageOp &op = view.ops[i];
  auto all = view.successors.subspan(op.successorBegin, op.requireCount + op.irequireCount);
  v.run = 0;
  v.successors = 0;
  if (all.empty())
    return;
  if (op.irequireCount == 0 && isRun(all)) {
    v.run = static_cast<uint8_t>(all.size());
    v.successors = all.front() - i;
    return;
  }
  v.run = kIsList;
  v.successors = static_cast<uint32_t>(into.lists.size());
  into.lists.push_back(op.requireCount);
  into.lists.push_back(op.irequireCount);
  for (uint32_t successor : all)
    into.lists.push_back(successor - i);
}

Status RankPacker::addMessage(const RankView &view, uint32_t i, uint64_t bytes, Vertex &v) const {
  const ImageOp &op = view.ops[i];
  bool sends = sendsMessage(op.kind);
  auto fail = [&](auto &&...why) {
    return Status::error(locOf(op), concat("rank ", index(view.rank), ", op ", i, " (",
                                           spelling(op.kind), "): ", why...));
  };
  v.kind = sends ? VertexKind::Send : VertexKind::Recv;
  v.peer = index(op.peer);
  if (op.peer == kNoRank && (sends || !options_.isPlainGoal))
    return fail("has no peer");
  if (op.peer != kNoRank && v.peer >= numRanks_)
    return fail("its peer is rank ", v.peer, ", there are ", numRanks_);
  if (options_.isPlainGoal) {
    v.isAnyTag = isAnyTag(op.message);
    v.isByTag = v.isAnyTag || op.peer == kNoRank;
  } else {
    v.way = wayOf(op.transfer());
  }
  if (options_.topology && op.peer != kNoRank)
    v.distance = options_.topology->distance(view.rank, op.peer) & 15;
  if (v.way == Way::Usual && options_.model && !options_.isPlainGoal) {
    const LogGop &costs = options_.model->costs(v.distance, bytes);
    if (costs.movedBy == MovedBy::Reader && bytes > costs.S)
      v.way = Way::Reader;
  }
  return {};
}

void RankPacker::addTraffic(Rank sender, Rank receiver, uint64_t bytes, PackedRanks &into) const {
  into.bytes += bytes;
  into.traffic.add(options_.topology ? options_.topology->levelsCrossed(sender, receiver) : 0,
                   bytes);
}

Status RankPacker::addVertex(const RankView &view, uint32_t i, const Sizes &sizes,
                             PackedRanks &into) const {
  const ImageOp &op = view.ops[i];
  Vertex v = {};
  v.partner = kNoVertex;
  v.peer = index(kNoRank);
  v.kind = VertexKind::Calc;
  v.cpu = op.cpu;
  v.nic = op.nic;
  if (op.depCount > kMaxIndegree)
    return Status::error(locOf(op), concat("rank ", index(view.rank), ", op ", i, " waits for ",
                                           op.depCount, " others, the limit is ", kMaxIndegree));
  v.open = op.depCount & kMaxIndegree;
  uint64_t amount = op.amount;
  bool isSized = op.sourceCount == 0 && op.targetCount == 0;
  switch (op.kind) {
  case OpKind::Send:
  case OpKind::Recv:
    if (!isSized)
      amount = messageBytes(op.kind == OpKind::Send ? view.sources(op) : view.targets(op),
                            view.buffers, sizes);
    if (amount == 0 && !options_.isPlainGoal)
      break; // does not travel
    if (Status s = addMessage(view, i, amount, v); !s)
      return s;
    break;
  case OpKind::Signal:
  case OpKind::Wait:
    amount = 0;
    if (Status s = addMessage(view, i, 0, v); !s)
      return s;
    break;
  case OpKind::Copy:
    if (!isSized)
      amount = messageBytes(view.targets(op), view.buffers, sizes);
    amount = options_.model ? options_.model->copy.ns(amount) : 0;
    break;
  case OpKind::Combine:
    if (!isSized)
      amount = messageBytes(view.targets(op), view.buffers, sizes);
    amount = options_.model ? options_.model->combine.ns(amount) : 0;
    v.isCombine = 1;
    break;
  case OpKind::Calc:
    break;
  }
  into.hasWays |= v.way != Way::Usual;
  into.sends += v.kind == VertexKind::Send;
  into.receives.back() += v.kind == VertexKind::Recv;
  if (v.kind == VertexKind::Calc)
    into.calcNs += amount;
  else if (v.kind == VertexKind::Send)
    addTraffic(view.rank, op.peer, amount, into);
  v.isWide = amount > UINT32_MAX;
  v.amount = static_cast<uint32_t>(v.isWide ? into.wide.size() : amount);
  if (v.isWide)
    into.wide.push_back(amount);
  addSuccessors(view, i, v, into);
  into.cpus = std::max(into.cpus, uint32_t{v.cpu} + 1);
  into.nics = std::max(into.nics, uint32_t{v.nic} + 1);
  into.vertices.push_back(v);
  into.messages.push_back(op.message);
  return {};
}

Status RankPacker::add(Rank rank, const Dag &dag, const Sizes &sizes, PackedRanks &into) {
  ops_.clear();
  size_t deps = 0;
  for (const Op &op : dag.ops) {
    ops_.push_back(imageOp(op, op.loc));
    deps += op.depCount;
  }
  successors_.resize(deps);
  links_.link(dag, ops_, successors_);
  RankView view{rank, ops_, successors_, dag.slices, dag.buffers, {}, {}};
  into.receives.push_back(0);
  for (uint32_t i = 0; i < dag.size(); ++i)
    if (Status s = addVertex(view, i, sizes, into); !s)
      return s;
  into.counts.push_back(dag.size());
  return {};
}

WorkloadBuilder::WorkloadBuilder(uint32_t numRanks, const WorkloadOptions &options)
    : options_(options), tables_(numRanks) {
  workload_.ranks.reserve(numRanks);
  workload_.traffic = Traffic(options.topology);
  workload_.isPlainGoal = options.isPlainGoal;
}

/// kStride for ranks that lie side by side; 1 if that would leave much room empty.
uint32_t WorkloadBuilder::strideFor(const PackedRanks &batch) {
  uint64_t longest = *std::max_element(batch.counts.begin(), batch.counts.end());
  return longest * kStride <= batch.vertices.size() + batch.vertices.size() / 8 ? kStride : 1;
}

Result<WorkloadBuilder::Place> WorkloadBuilder::makeRoom(const PackedRanks &batch) {
  Workload &w = workload_;
  uint64_t limit = std::min(options_.maxOps, kMaxVertices);
  Place place;
  place.stride = strideFor(batch);
  uint64_t room = batch.vertices.size();
  if (place.stride > 1)
    room = *std::max_element(batch.counts.begin(), batch.counts.end()) * uint64_t{place.stride};
  w.numOps += batch.vertices.size();
  if (w.numOps > limit || w.vertices.size() + room > kMaxVertices)
    return Status::error(concat("there are more ops than the limit of ", limit,
                                " for all ranks together (--max-total-ops)"));
  if (w.lists.size() + batch.lists.size() > UINT32_MAX)
    return Status::error("there are more dependencies than 32 bits count");
  place.vertices = static_cast<uint32_t>(w.vertices.size());
  place.lists = static_cast<uint32_t>(w.lists.size());
  place.wide = static_cast<uint32_t>(w.wide.size());
  place.firstRank = w.numRanks();
  for (uint32_t receives : batch.receives) {
    tables_.addRank(receives);
    receives_ += receives;
  }
  growBy(room, batch.lists.size());
  uint32_t begin = place.vertices;
  for (uint32_t i = 0; i < batch.counts.size(); ++i) {
    w.ranks.push_back({begin + (place.stride > 1 ? i : 0), batch.counts[i], place.stride});
    begin += place.stride > 1 ? 0 : batch.counts[i];
  }
  w.wide.insert(w.wide.end(), batch.wide.begin(), batch.wide.end());
  w.cpus = std::max(w.cpus, batch.cpus);
  w.nics = std::max(w.nics, batch.nics);
  w.messages += batch.sends;
  w.hasWays |= batch.hasWays;
  w.bytes += batch.bytes;
  w.traffic += batch.traffic;
  w.calcNs += batch.calcNs;
  return place;
}

void WorkloadBuilder::growBy(uint64_t vertices, uint64_t lists) {
  Room needed = {workload_.vertices.size() + vertices, workload_.lists.size() + lists,
                 tables_.numSlots()};
  if (needed.vertices > room_.vertices || needed.lists > room_.lists ||
      needed.slots > room_.slots) {
    std::unique_lock alone(filling_);
    room_ = {std::max(needed.vertices, 2 * room_.vertices), std::max(needed.lists, 2 * room_.lists),
             std::max(needed.slots, 2 * room_.slots)};
    workload_.vertices.reserve(room_.vertices);
    messages_.reserve(room_.vertices);
    workload_.lists.reserve(room_.lists);
    tables_.reserve(room_.slots);
  }
  workload_.vertices.grow(vertices);
  messages_.grow(vertices);
  workload_.lists.grow(lists);
  tables_.grow();
}

/// Inserts a receive into its table, while its vertex is in the cache.
void WorkloadBuilder::insertReceive(uint32_t rank, uint32_t vertex) {
  uint32_t peer = workload_.vertices[vertex].peer;
  MessageId message = messages_[vertex];
  tables_.probe(rank, peer, value(message), [&](uint32_t &slot) {
    if (slot == 0) {
      slot = vertex + 1;
      return true;
    }
    bool isSame = workload_.vertices[slot - 1].peer == peer && messages_[slot - 1] == message;
    if (isSame)
      isAmbiguous_ = true;
    return isSame;
  });
}

void WorkloadBuilder::fill(const Place &place, const PackedRanks &batch) {
  std::shared_lock notMoving(filling_);
  std::copy(batch.lists.begin(), batch.lists.end(), workload_.lists.data() + place.lists);
  auto numRanks = static_cast<uint32_t>(batch.counts.size());
  std::array<uint32_t, kStride + 1> begin = {}; // of each rank in the batch
  for (uint32_t i = 0; i < numRanks; ++i)
    begin[i + 1] = begin[i] + batch.counts[i];
  // The loops follow the order of the array that they write.
  if (place.stride == 1) {
    for (uint32_t i = 0; i < numRanks; ++i)
      for (uint32_t from = begin[i]; from < begin[i + 1]; ++from)
        fillOne(place, batch, i, from, place.vertices + from);
    return;
  }
  uint32_t longest = *std::max_element(batch.counts.begin(), batch.counts.end());
  for (uint32_t op = 0; op < longest; ++op)
    for (uint32_t i = 0; i < numRanks; ++i)
      if (op < batch.counts[i])
        fillOne(place, batch, i, begin[i] + op, place.vertices + i + op * place.stride);
}

/// `from`: in the batch, `to`: among all.
[[gnu::always_inline]] inline void WorkloadBuilder::fillOne(const Place &place,
                                                            const PackedRanks &batch, uint32_t rank,
                                                            uint32_t from, uint32_t to) {
  Vertex v = batch.vertices[from];
  v.isStrided = place.stride > 1;
  if (v.run == kIsList) {
    uint32_t *of = workload_.lists.data() + place.lists + v.successors;
    for (uint32_t k = 0; k < of[0] + of[1]; ++k)
      of[2 + k] *= place.stride;
    v.successors += place.lists;
  } else {
    v.successors *= place.stride;
  }
  if (v.isWide)
    v.amount += place.wide;
  workload_.vertices[to] = v;
  messages_[to] = batch.messages[from];
  if (v.kind == VertexKind::Recv && !options_.isPlainGoal)
    insertReceive(place.firstRank + rank, to);
}

Status WorkloadBuilder::add(const PackedRanks &batch) {
  Result<Place> place = makeRoom(batch);
  if (place)
    fill(*place, batch);
  return place.status();
}

Result<Workload> WorkloadBuilder::finish(std::function<Result<Op>(Rank, OpId)> describe,
                                         std::vector<std::string> files, unsigned threads) {
  workload_.describe = std::move(describe);
  workload_.files = std::move(files);
  bool isOneToOne = !isAmbiguous_ && receives_ == workload_.messages;
  if (Status s = joinEnds(workload_, std::move(messages_), std::move(tables_), isOneToOne,
                          options_.isPlainGoal, threads);
      !s)
    return s;
  return std::move(workload_);
}

uint32_t Workload::rankOf(uint32_t vertex) const {
  // Batches begin in ascending order. So do the ranks of a batch whose ranks lie one behind the
  // other; ranks of other batches alternate.
  auto isBehind = [](uint32_t v, const RankVertices &rank) { return v < rank.first; };
  size_t batch = 0;
  for (size_t step = std::bit_floor(ranks.size() / kStride + 1); step > 0; step /= 2)
    if ((batch + step) * kStride < ranks.size() && ranks[(batch + step) * kStride].first <= vertex)
      batch += step;
  auto first = ranks.begin() + static_cast<ptrdiff_t>(batch * kStride);
  if (first->stride > 1)
    return static_cast<uint32_t>(batch * kStride) + (vertex - first->first) % kStride;
  auto end = ranks.begin() + static_cast<ptrdiff_t>(std::min(ranks.size(), (batch + 1) * kStride));
  return static_cast<uint32_t>(std::upper_bound(first, end, vertex, isBehind) - ranks.begin()) - 1;
}

} // namespace colldsl::sim

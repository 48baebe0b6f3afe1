#include "runtime/graph/GraphExchange.h"

#include "instantiate/Instantiate.h"
#include "instantiate/graphs/coloring/PortGraph.h"
#include "ir/Concat.h"
#include "passes/CombineMessages.h"
#include "passes/EdgeColoring.h"
#include "passes/TreeRebalance.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr uint64_t kShortBytes = 512; ///< bytes of the messages that the passes see
constexpr uint64_t kMostBytes = 16 << 10;
constexpr uint64_t kMostMemory = 4 << 20; ///< for the blocks of one rank, relayed ones too
constexpr uint64_t kSearchNsPerMessage = 50'000;

std::vector<std::vector<uint32_t>> sources(const PeerLists &peers) {
  std::vector<std::vector<uint32_t>> from(peers.size());
  for (uint32_t r = 0; r < peers.size(); ++r)
    for (uint32_t peer : peers[r])
      from[peer].push_back(r);
  return from;
}

GivenGraph graphOf(const PeerLists &peers, const PeerLists &from) {
  GivenGraph graph;
  auto edges = [](const std::vector<uint32_t> &list) {
    std::vector<RankEdges::Edge> edges;
    for (uint32_t peer : list)
      edges.push_back({peer});
    return edges;
  };
  for (size_t r = 0; r < peers.size(); ++r)
    graph.ranks.push_back({edges(peers[r]), edges(from[r])});
  return graph;
}

Result<Schedule> asWritten(Library &library, const GraphExchangeRequest &request,
                           const GivenGraph &graph) {
  Result<const Program *> program = library.program();
  if (!program)
    return program.status();
  const char *name = request.sendsSame ? "neighbor_allgather" : "neighbor_alltoall";
  InstantiateRequest made;
  made.collective = (*program)->find(name, DeclKind::Collective);
  if (made.collective == kNoDecl)
    return Status::error(concat("the library has no '", name, "'"));
  made.ranks = static_cast<uint32_t>(request.peers.size());
  made.elements = kShortBytes;
  made.type = ElementType::U8;
  made.topology = &request.topology;
  made.values.assign((*program)->decl(made.collective).params.size(), {});
  made.values[0] = &graph;
  return instantiateAll(**program, made);
}

/// Runs passes, keeps the faster schedule after each, and notes the passes that changed something.
class Passes {
public:
  Passes(Schedule schedule, const DagContext &context)
      : schedule_(std::move(schedule)), context_(context) {}

  Status run() {
    if (Status s = combine(); !s)
      return s;
    Status s = apply("tree-rebalance", rebalance, TreeRebalance());
    return s ? apply("edge-coloring", colorSends, EdgeColoring()) : s;
  }

  Schedule &schedule() { return schedule_; }
  const std::string &names() const { return names_; }

private:
  /// Combines messages, with the better leaders.
  Status combine() {
    CombineMessages nodes;
    nodes.by = CombineMessages::By::Node;
    Passes other = *this;
    Status s = apply("combine-messages{by=node}", combineMessages, nodes);
    nodes.leaders = CombineMessages::Leaders::Busiest;
    if (s)
      s = other.apply("combine-messages{by=node;leaders=busiest}", combineMessages, nodes);
    if (!s)
      return s;
    Result<uint64_t> mine = timeOf(schedule_, context_), others = timeOf(other.schedule_, context_);
    if (!mine || !others)
      return mine ? others.status() : mine.status();
    if (*others < *mine) {
      schedule_ = std::move(other.schedule_);
      names_ = std::move(other.names_);
    }
    return {};
  }

  template <typename Function, typename Options>
  Status apply(const char *name, Function pass, const Options &options) {
    Result<uint64_t> before = timeOf(schedule_, context_);
    if (!before)
      return before.status();
    Result<DagOutcome> outcome = pass(schedule_, options, context_);
    if (!outcome)
      return outcome.status();
    Result<uint64_t> after = timeOf(outcome->schedule, context_);
    if (!after)
      return after.status();
    if (*after >= *before)
      return {};
    schedule_ = std::move(outcome->schedule);
    names_ += concat(names_.empty() ? "" : ", ", name);
    return {};
  }

  Schedule schedule_;
  const DagContext &context_;
  std::string names_;
};

std::vector<Sizes> sizesFor(uint32_t ranks, uint64_t bytes) {
  Sizes sizes;
  sizes.elements = bytes;
  return std::vector<Sizes>(ranks, sizes);
}

bool isBetter(uint64_t afterNs, uint64_t beforeNs) { return afterNs < beforeNs - beforeNs / 10; }

/// The most bytes per message, a power of two, for which `after` is the better schedule and no rank
/// needs too much memory. 0: none.
Result<uint64_t> mostBytes(const Schedule &before, const Schedule &after,
                           const DagContext &context) {
  uint64_t blocks = 1;
  for (const Dag &dag : after.ranks) {
    uint64_t here = 0;
    for (const Buffer &buffer : dag.buffers)
      here += static_cast<uint64_t>(buffer.endScale - buffer.originScale);
    blocks = std::max(blocks, here);
  }
  for (uint64_t bytes = kMostBytes; bytes >= 64; bytes /= 2) {
    std::vector<Sizes> sizes = sizesFor(before.numRanks(), bytes);
    if (blocks * bytes > kMostMemory)
      continue;
    Result<uint64_t> old = context.cost.makespanNs(before, sizes, context.topology);
    Result<uint64_t> now = context.cost.makespanNs(after, sizes, context.topology);
    if (!old || !now)
      return old ? now.status() : old.status();
    if (isBetter(*now, *old))
      return bytes;
  }
  return 0;
}

/// Copies the DAG, with buffers of blocks whose lengths travel along: every slice is some whole
/// blocks of n.
Dag withLengths(const Dag &dag) {
  Dag made;
  made.contract = dag.contract;
  for (Buffer buffer : dag.buffers) {
    buffer.blocks = static_cast<uint32_t>(buffer.endScale - buffer.originScale);
    buffer.endScale = buffer.blocks;
    buffer.originScale = 0;
    buffer.layout = Layout::Capacity;
    made.addBuffer(buffer);
  }
  auto blocksOf = [&](std::span<const Slice> slices) {
    std::vector<Slice> blocks;
    for (const Slice &slice : slices)
      for (int64_t at = slice.beginScale; at < slice.endScale; ++at) {
        Slice block;
        block.endScale = 1;
        block.buffer = slice.buffer;
        block.block = static_cast<uint32_t>(at - dag.bufferOf(slice).originScale);
        blocks.push_back(block);
      }
    return blocks;
  };
  for (const Op &op : dag.ops)
    made.add(op, blocksOf(dag.sources(op)), blocksOf(dag.targets(op)), dag.depsOf(op));
  return made;
}

std::vector<uint32_t> roundsOf(const PeerLists &peers, Rank rank) {
  auto ranks = static_cast<uint32_t>(peers.size());
  PortGraph graph{ranks, ranks, {}, {}};
  size_t first = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    first = r == index(rank) ? graph.numEdges() : first;
    for (uint32_t peer : peers[r])
      graph.add(r, peer);
  }
  EdgeColors all = colorOptimally(graph);
  auto at = all.color.begin() + static_cast<ptrdiff_t>(first);
  return {at, at + static_cast<ptrdiff_t>(peers[index(rank)].size())};
}

} // namespace

uint64_t searchNs(const PeerLists &peers) {
  uint64_t messages = 0;
  for (const std::vector<uint32_t> &list : peers)
    messages += list.size();
  return messages * kSearchNsPerMessage;
}

Result<GraphExchange> exchangeAlong(Library &library, const GraphExchangeRequest &request) {
  PeerLists from = sources(request.peers);
  GivenGraph graph = graphOf(request.peers, from);
  Result<Schedule> written = asWritten(library, request, graph);
  if (!written)
    return written.status();
  std::vector<Sizes> sizes = sizesFor(written->numRanks(), kShortBytes);
  CostModel cost;
  cost.machine = request.machine;
  DagContext context{request.topology, sizes, cost};
  Passes passes(*written, context);
  if (Status s = passes.run(); !s)
    return s;
  Result<uint64_t> before = timeOf(*written, context), after = timeOf(passes.schedule(), context);
  Result<uint64_t> most = mostBytes(*written, passes.schedule(), context);
  if (!before || !after)
    return before ? after.status() : before.status();
  if (!most)
    return most.status();
  GraphExchange made;
  made.beforeNs = *before;
  made.afterNs = *after;
  made.passes = passes.names();
  if (isBetter(*after, *before))
    made.capacityBytes = *most;
  uint32_t self = index(request.rank);
  made.to = request.peers[self];
  made.from = from[self];
  made.round = roundsOf(request.peers, request.rank);
  if (made.isBetter())
    made.schedule = RankSchedule(request.rank, withLengths(passes.schedule().ranks[self]),
                                 {made.capacityBytes, made.capacityBytes, made.capacityBytes});
  return made;
}

} // namespace colldsl

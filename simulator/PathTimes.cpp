#include "simulator/PathTimes.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::sim {
namespace {

using What = CostId::What;

template <typename Costs>
uint8_t sizeClass(const std::vector<FromBytes<Costs>> &longer, uint64_t bytes) {
  auto isBelow = [](uint64_t size, const FromBytes<Costs> &next) { return size < next.bytes; };
  auto found = std::upper_bound(longer.begin(), longer.end(), bytes, isBelow);
  return static_cast<uint8_t>(found - longer.begin());
}

const MemoryRate &rateOf(const MemoryCosts &costs, uint8_t size) {
  return size == 0 ? costs.shortest : costs.longer[size - 1u].costs;
}

/// The class of the sizes whose local work takes so long. Where several do, the first.
uint8_t sizeClassOfWork(const MemoryCosts &costs, uint64_t ns) {
  uint8_t size = 0;
  while (size < costs.longer.size() && ns > rateOf(costs, size).ns(costs.longer[size].bytes))
    ++size;
  return size;
}

class PathWalk {
public:
  PathWalk(const Workload &workload, const SimulateOptions &options, const Recording &recording)
      : workload_(workload), options_(options), recording_(recording) {}

  std::map<CostId, uint64_t> walk(uint32_t rank) {
    collect(rank);
    for (size_t i = 0; i < path_.size(); ++i) {
      uint64_t from = handoff(i);
      if (i == 0)
        add({}, from);
      uint64_t until = i + 1 < path_.size() ? handoff(i + 1) : of(path_[i]).end;
      left_ = until - std::min(from, until);
      spend(i);
    }
    return std::move(times_);
  }

private:
  const Activity &of(ActivityId id) const { return recording_.of(id); }
  const Vertex &vertexOf(ActivityId id) const { return workload_.vertices[id.vertex]; }

  void collect(uint32_t rank) {
    size_t limit = recording_.ops.size() + recording_.messages.size();
    for (ActivityId id = recording_.last[rank]; id.known() && path_.size() <= limit;
         id = of(id).after)
      path_.push_back(id);
    std::reverse(path_.begin(), path_.end());
  }

  /// The time at which the path goes on from the activity before to this one. A receive begins to
  /// wait before its message comes.
  uint64_t handoff(size_t i) const {
    bool isReceive = !path_[i].isMessage && vertexOf(path_[i]).kind == VertexKind::Recv;
    bool isAfterMessage = isReceive && i > 0 && path_[i - 1].isMessage;
    return isAfterMessage ? of(path_[i]).end : of(path_[i]).begin;
  }

  void add(CostId id, uint64_t ns) {
    if (ns > 0)
      times_[id] += ns;
  }
  /// Takes up to `ns` of what is left of the step.
  void take(CostId id, uint64_t ns) {
    ns = std::min(ns, left_);
    add(id, ns);
    left_ -= ns;
  }

  void spend(size_t i) {
    const Vertex &v = vertexOf(path_[i]);
    if (v.kind == VertexKind::Calc)
      spendWork(v);
    else if (v.kind == VertexKind::Recv)
      add({}, left_);
    else
      spendMessage(path_[i], i + 1 < path_.size() ? of(path_[i + 1]).cause : Cause::Start);
  }

  /// The part of a message, or of its send, until `next` lets the path go on.
  void spendMessage(ActivityId activity, Cause next) {
    const Vertex &v = vertexOf(activity);
    uint64_t bytes = workload_.amountOf(v);
    const LogGop &p = options_.model.costs(v.distance, bytes);
    uint8_t size = sizeClass(options_.model.longer[v.distance], bytes);
    auto id = [&](What what) { return CostId{what, static_cast<uint8_t>(v.distance), size}; };
    if (next == Cause::Gap) {
      take(id(What::g), p.g);
      return add(id(What::G), left_);
    }
    take(id(What::o), p.o);
    Stream stream = streamOf(v, p);
    bool isTaken = activity.isMessage && !stream.isWhole && p.G > p.O; // as its bytes arrive
    if (isTaken)
      return add(stream.linkNs > stream.rankNs ? CostId() : id(What::G), left_);
    if (activity.isMessage || next != Cause::Wire)
      return add(id(What::O), left_);
    take(id(What::L), p.L);
    if (stream.hasLinks)
      take({}, recording_.onLinks[activity.vertex]);
    if (left_ <= stream.rankNs || !(stream.hasLinks || stream.hasInterfaces))
      return add(id(What::G), left_);
    bool isAlone = !stream.isShared && (stream.isWhole || p.movedBy == MovedBy::Interfaces);
    if (isAlone || stream.linkNs > stream.nodeNs)
      spendSlowest(stream, id(What::G));
    add(stream.hasInterfaces ? CostId{What::NodeG, 0, 0} : CostId(), left_);
  }

  /// The bytes of a message behind its first one.
  struct Stream {
    bool hasInterfaces, hasLinks; ///< on its way, shared by the ranks of nodes, and between nodes
    bool isShared;                ///< it shares interfaces with others at the same time
    bool isWhole;                 ///< its receiver takes it when all of it is there
    uint64_t rankNs, nodeNs, linkNs; ///< by its own rate, the interfaces' and the links'
  };
  Stream streamOf(const Vertex &v, const LogGop &p) const {
    const NodeCosts &node = options_.model.node;
    uint64_t bytes = workload_.amountOf(v), further = LogGop::furtherBytes(bytes);
    bool isBetween = v.distance >= kOtherNode;
    Stream s{};
    s.hasInterfaces = isBetween && node.interfaces > 0;
    s.hasLinks = isBetween && options_.network.kind != NetworkOptions::Kind::None;
    s.isShared = s.hasInterfaces && node.isFair && bytes > p.S;
    s.isWhole = s.isShared || (s.hasInterfaces && node.spread == Spread::Messages);
    s.rankNs = p.G.times(further);
    s.nodeNs = s.hasInterfaces ? node.G.times(bytes) : 0;
    s.linkNs = s.hasLinks ? options_.network.G.times(further) : 0;
    return s;
  }

  /// A stream takes as long as its bytes need where they are slowest.
  void spendSlowest(const Stream &stream, CostId ofRank) {
    if (stream.rankNs >= std::max(stream.nodeNs, stream.linkNs))
      take(ofRank, stream.rankNs);
    else if (stream.nodeNs >= stream.linkNs)
      take({What::NodeG, 0, 0}, stream.nodeNs);
    else
      take({}, stream.linkNs);
  }

  void spendWork(const Vertex &v) {
    const MemoryCosts &costs = v.isCombine ? options_.model.combine : options_.model.copy;
    uint8_t size = sizeClassOfWork(costs, workload_.amountOf(v));
    take({v.isCombine ? What::CombineLatency : What::CopyLatency, 0, size},
         rateOf(costs, size).latencyNs);
    add({v.isCombine ? What::CombinePerByte : What::CopyPerByte, 0, size}, left_);
  }

  const Workload &workload_;
  const SimulateOptions &options_;
  const Recording &recording_;
  std::vector<ActivityId> path_;
  std::map<CostId, uint64_t> times_;
  uint64_t left_ = 0; ///< of the step, ns
};

} // namespace

std::string wordsOf(const CostId &id, const MachineModel &model) {
  auto from = [&](const auto &longer) {
    return id.size == 0 ? std::string() : concat(" from ", longer[id.size - 1u].bytes, " bytes on");
  };
  auto between = [&](const char *name) {
    return concat(name, " of distance ", unsigned{id.distance}, from(model.longer[id.distance]));
  };
  switch (id.what) {
  case What::L:
    return between("L");
  case What::o:
    return between("o");
  case What::g:
    return between("g");
  case What::G:
    return between("G");
  case What::O:
    return between("O");
  case What::CopyLatency:
    return "latency of copies" + from(model.copy.longer);
  case What::CopyPerByte:
    return "perByte of copies" + from(model.copy.longer);
  case What::CombineLatency:
    return "latency of reductions" + from(model.combine.longer);
  case What::CombinePerByte:
    return "perByte of reductions" + from(model.combine.longer);
  case What::NodeG:
    return "G of nodes";
  case What::Other:
    return "other";
  }
  return "";
}

std::map<CostId, uint64_t> pathTimes(const Workload &workload, const SimulateOptions &options,
                                     const Outcome &outcome) {
  auto slowest = std::max_element(outcome.finish.begin(), outcome.finish.end());
  auto rank = static_cast<uint32_t>(slowest - outcome.finish.begin());
  return PathWalk(workload, options, *outcome.recording).walk(rank);
}

} // namespace colldsl::sim

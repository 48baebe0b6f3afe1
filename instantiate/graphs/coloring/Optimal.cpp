#include "instantiate/graphs/coloring/PortGraph.h"

#include <algorithm>
#include <bit>

namespace colldsl {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

/// splitmix64: good enough to walk at random, and the same everywhere.
class Random {
public:
  uint32_t below(uint32_t bound) {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(((z ^ z >> 31) >> 32) * bound >> 32);
  }

private:
  uint64_t state_ = 1;
};

/// Each port has `degree` edges: those of send port u are [u * degree, (u + 1) * degree).
struct RegularGraph {
  uint32_t degree = 0;
  std::vector<uint32_t> to;   ///< receive port
  std::vector<uint32_t> edge; ///< of the graph to be colored, or kNobody

  void reserve(size_t edges) {
    to.reserve(edges);
    edge.reserve(edges);
  }
  void add(uint32_t port, uint32_t id) {
    to.push_back(port);
    edge.push_back(id);
  }
  /// `count` edges of a port of another graph, from the first-th on.
  void addEdges(const RegularGraph &other, uint32_t port, uint32_t first, uint32_t count) {
    auto begin = static_cast<ptrdiff_t>(size_t{port} * other.degree + first);
    to.insert(to.end(), other.to.begin() + begin, other.to.begin() + begin + count);
    edge.insert(edge.end(), other.edge.begin() + begin, other.edge.begin() + begin + count);
  }
  uint32_t toOf(uint32_t port, uint32_t i) const { return to[size_t{port} * degree + i]; }
};

/// Merges ports while they have at most `degree` edges together. Two neighboring merged ports have
/// more, so at least half of all edges are real ones.
uint32_t mergePorts(const std::vector<uint32_t> &ports, uint32_t numPorts, uint32_t degree,
                    std::vector<uint32_t> &merged) {
  std::vector<uint32_t> degrees(numPorts, 0);
  for (uint32_t port : ports)
    ++degrees[port];
  merged.resize(numPorts);
  uint32_t last = 0, used = 0;
  for (uint32_t port = 0; port < numPorts; ++port) {
    if (used + degrees[port] > degree) {
      ++last;
      used = 0;
    }
    used += degrees[port];
    merged[port] = last;
  }
  return last + 1;
}

/// Sorts the edges by merged send port, and fills up with edges that belong to no message.
RegularGraph makeRegular(const PortGraph &graph, uint32_t degree) {
  std::vector<uint32_t> sendOf, recvOf;
  uint32_t ports = std::max(mergePorts(graph.from, graph.sendPorts, degree, sendOf),
                            mergePorts(graph.to, graph.recvPorts, degree, recvOf));
  RegularGraph regular;
  regular.degree = degree;
  regular.to.assign(size_t{ports} * degree, kNobody);
  regular.edge.assign(size_t{ports} * degree, kNobody);
  std::vector<uint32_t> sends(ports, 0), recvs(ports, 0);
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    uint32_t send = sendOf[graph.from[e]], recv = recvOf[graph.to[e]];
    size_t place = size_t{send} * degree + sends[send]++;
    regular.to[place] = recv;
    regular.edge[place] = static_cast<uint32_t>(e);
    ++recvs[recv];
  }
  uint32_t recv = 0;
  for (uint32_t send = 0; send < ports; ++send)
    for (; sends[send] < degree; ++sends[send], ++recvs[recv]) {
      while (recvs[recv] == degree)
        ++recv;
      regular.to[size_t{send} * degree + sends[send]] = recv;
    }
  return regular;
}

/// Sorts the edges of each port such that the i-th edges of all ports have round i.
class RoundSorter {
public:
  explicit RoundSorter(uint32_t ports) : ports_(ports), sends_(ports), ownerAt_(ports) {}

  // If the degree of a half is slightly less than a power of two, the second half takes over rounds
  // of the first one, so that it splits down to the last edge without matchings.
  void sort(RegularGraph &graph) {
    if (std::has_single_bit(graph.degree))
      return sortPowerOfTwo(graph);
    if (graph.degree % 2 == 1) {
      RegularGraph matching = takeMatching(graph);
      sort(graph);
      return append(graph, matching);
    }
    RegularGraph other = split(graph);
    sort(graph);
    uint32_t lent = std::bit_ceil(other.degree) - other.degree;
    if (lent > other.degree / 4) {
      sort(other);
    } else {
      append(other, takeRounds(graph, lent));
      sortPowerOfTwo(other);
    }
    append(graph, other);
  }

private:
  struct SendPort {
    uint32_t matched; ///< the number of its matched edge, or kNobody
    uint32_t seenAt;  ///< its position on the way, or kNobody
  };

  void sortPowerOfTwo(RegularGraph &graph) {
    if (graph.degree == 1)
      return;
    RegularGraph other = split(graph);
    sortPowerOfTwo(graph);
    sortPowerOfTwo(other);
    append(graph, other);
  }

  /// Appends to the edges of each port those of the same port of another graph.
  void append(RegularGraph &graph, const RegularGraph &more) const {
    if (more.degree == 0)
      return;
    RegularGraph both;
    both.degree = graph.degree + more.degree;
    both.reserve(graph.to.size() + more.to.size());
    for (uint32_t port = 0; port < ports_; ++port) {
      both.addEdges(graph, port, 0, graph.degree);
      both.addEdges(more, port, 0, more.degree);
    }
    graph = std::move(both);
  }

  /// Removes the last `count` edges of each port.
  RegularGraph takeRounds(RegularGraph &graph, uint32_t count) const {
    RegularGraph kept, taken;
    kept.degree = graph.degree - count;
    taken.degree = count;
    if (count == 0)
      return taken;
    kept.reserve(size_t{kept.degree} * ports_);
    taken.reserve(size_t{count} * ports_);
    for (uint32_t port = 0; port < ports_; ++port) {
      kept.addEdges(graph, port, 0, kept.degree);
      taken.addEdges(graph, port, kept.degree, count);
    }
    graph = std::move(kept);
    return taken;
  }

  /// Leaves one half in `graph` and returns the other. Edges 2 i and 2 i + 1 have a send
  /// port in common and go to different halves; so do the two of a pair at a receive port.
  RegularGraph split(RegularGraph &graph) {
    const auto edges = static_cast<uint32_t>(graph.to.size());
    partner_.resize(edges); // of an edge, at its receive port
    std::fill(ownerAt_.begin(), ownerAt_.end(), kNobody);
    for (uint32_t e = 0; e < edges; ++e) {
      uint32_t &open = ownerAt_[graph.to[e]];
      if (open == kNobody) {
        open = e;
      } else {
        partner_[e] = open;
        partner_[open] = e;
        open = kNobody;
      }
    }
    stays_.assign(edges / 2, kNobody); // of pair i the edge that stays
    // In both directions at once, so that two places of memory are fetched at a time.
    for (uint32_t begin = 0; begin < edges; begin += 2)
      for (uint32_t ahead = begin, back = partner_[begin] ^ 1; stays_[ahead / 2] == kNobody;) {
        stays_[ahead / 2] = ahead;
        ahead = partner_[ahead ^ 1];
        if (stays_[back / 2] != kNobody)
          break;
        stays_[back / 2] = back;
        back = partner_[back] ^ 1;
      }
    RegularGraph other;
    graph.degree = other.degree = graph.degree / 2;
    other.reserve(edges / 2);
    for (uint32_t i = 0; i < edges / 2; ++i) {
      uint32_t stays = stays_[i], goes = stays ^ 1;
      other.add(graph.to[goes], graph.edge[goes]);
      graph.to[i] = graph.to[stays];
      graph.edge[i] = graph.edge[stays];
    }
    graph.to.resize(edges / 2);
    graph.edge.resize(edges / 2);
    return other;
  }

  /// Takes out a perfect matching: one edge of each port. First each send port takes a free receive
  /// port. From each send port that found none a walk leads along any edge and, if that receive
  /// port is taken, on from its owner, until it comes to a free receive port. Then all send ports
  /// on the way change partners.
  RegularGraph takeMatching(RegularGraph &graph) {
    std::fill(sends_.begin(), sends_.end(), SendPort{kNobody, kNobody});
    std::fill(ownerAt_.begin(), ownerAt_.end(), kNobody);
    for (uint32_t port = 0; port < ports_; ++port)
      for (uint32_t i = 0; i < graph.degree && sends_[port].matched == kNobody; ++i)
        if (uint32_t &owner = ownerAt_[graph.toOf(port, i)]; owner == kNobody) {
          owner = port;
          sends_[port].matched = i;
        }
    for (uint32_t port = 0; port < ports_; ++port)
      if (sends_[port].matched == kNobody)
        walk(graph, port);
    return removeMatched(graph);
  }

  void walk(const RegularGraph &graph, uint32_t start) {
    way_.clear();
    for (uint32_t port = start;;) {
      SendPort &send = sends_[port];
      if (send.seenAt != kNobody) // a loop: forget it
        while (way_.size() > send.seenAt) {
          sends_[way_.back().first].seenAt = kNobody;
          way_.pop_back();
        }
      send.seenAt = static_cast<uint32_t>(way_.size());
      uint32_t i = nextEdge(graph, port);
      way_.emplace_back(port, i);
      uint32_t owner = ownerAt_[graph.toOf(port, i)];
      if (owner == kNobody)
        break;
      port = owner;
    }
    for (auto [port, i] : way_) {
      sends_[port] = {i, kNobody};
      ownerAt_[graph.toOf(port, i)] = port;
    }
  }

  /// An edge that leads to a free receive port, if it is among the first ones; else any except the
  /// matched one.
  uint32_t nextEdge(const RegularGraph &graph, uint32_t port) {
    constexpr uint32_t kLookedAt = 16;
    for (uint32_t i = 0; i < std::min(graph.degree, kLookedAt); ++i)
      if (ownerAt_[graph.toOf(port, i)] == kNobody)
        return i;
    uint32_t matched = sends_[port].matched;
    if (matched == kNobody)
      return random_.below(graph.degree);
    uint32_t i = random_.below(graph.degree - 1);
    return i + (i >= matched);
  }

  RegularGraph removeMatched(RegularGraph &graph) {
    RegularGraph matching;
    matching.degree = 1;
    matching.reserve(ports_);
    size_t kept = 0;
    for (uint32_t port = 0; port < ports_; ++port) {
      matching.addEdges(graph, port, sends_[port].matched, 1);
      for (uint32_t i = 0; i < graph.degree; ++i)
        if (i != sends_[port].matched) {
          graph.to[kept] = graph.toOf(port, i);
          graph.edge[kept++] = graph.edge[size_t{port} * graph.degree + i];
        }
    }
    graph.to.resize(kept);
    graph.edge.resize(kept);
    --graph.degree;
    return matching;
  }

  uint32_t ports_;
  Random random_;
  std::vector<SendPort> sends_;
  std::vector<uint32_t> ownerAt_; ///< of receive ports: their send port, or an edge
  std::vector<uint32_t> partner_, stays_;
  std::vector<std::pair<uint32_t, uint32_t>> way_; ///< send ports, and which of their edges
};

} // namespace

EdgeColors colorOptimally(const PortGraph &graph) {
  EdgeColors result{std::vector<uint32_t>(graph.numEdges()), highestDegree(graph)};
  if (result.rounds == 0)
    return result;
  RegularGraph regular = makeRegular(graph, result.rounds);
  auto ports = static_cast<uint32_t>(regular.to.size() / result.rounds);
  RoundSorter(ports).sort(regular);
  for (size_t i = 0; i < regular.edge.size(); ++i)
    if (regular.edge[i] != kNobody)
      result.color[regular.edge[i]] = static_cast<uint32_t>(i % result.rounds);
  return result;
}

} // namespace colldsl

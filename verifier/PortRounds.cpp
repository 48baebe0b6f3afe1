#include "verifier/PortRounds.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

namespace colldsl::proof {
namespace {

class OnePort {
public:
  explicit OnePort(const EventGraph &graph)
      : graph_(graph), waits_(graph.numEvents()), round_(graph.model().numVertices()),
        ready_(graph.model().numRanks()), hasOffer_(graph.model().numRanks()),
        offers_(graph.model().numRanks()) {}

  std::vector<uint32_t> run() {
    for (uint32_t e = 0; e < graph_.numEvents(); ++e)
      waits_[e] = graph_.numPredecessors(Event{e}, Rules::SynchronousSends);
    for (uint32_t e = 0; e < graph_.numEvents(); ++e)
      if (waits_[e] == 0)
        happened_.push_back(Event{e});
    settle();
    while (!receivers_.empty())
      playRound();
    return std::move(round_);
  }

private:
  /// Runs all events that need no further message. The finish of an end that is ready waits for its
  /// round.
  void settle() {
    while (!happened_.empty()) {
      Event e = happened_.back();
      happened_.pop_back();
      graph_.forEachSuccessor(e, Rules::SynchronousSends, [&](Event next) {
        if (--waits_[index(next)] > 0)
          return;
        Vertex v = vertexOf(next);
        bool isInMessage = !isStart(next) && exists(graph_.partnerOf(v));
        if (!isInMessage)
          happened_.push_back(next);
        else if (graph_.sends(v)) // both ends have started
          ready(v);
      });
    }
    std::sort(senders_.begin(), senders_.end());
    for (uint32_t rank : senders_)
      offer(rank);
    senders_.clear();
  }

  void ready(Vertex send) {
    uint32_t rank = index(graph_.model().rankOf(send));
    ready_[rank].push({numRounds_, send});
    senders_.push_back(rank);
  }

  /// Offers the message of a rank that has been ready for longest, unless an earlier offer is still
  /// open.
  void offer(uint32_t rank) {
    if (hasOffer_[rank] || ready_[rank].empty())
      return;
    hasOffer_[rank] = true;
    Vertex send = ready_[rank].top().send;
    ready_[rank].pop();
    uint32_t to = index(graph_.model().op(send).peer);
    if (offers_[to].empty())
      receivers_.push_back(to);
    offers_[to].push_back(send);
  }

  void playRound() {
    ++numRounds_;
    std::vector<uint32_t> receivers = std::move(receivers_);
    receivers_.clear();
    std::vector<Vertex> taken;
    for (uint32_t to : receivers) {
      taken.push_back(offers_[to].front());
      offers_[to].pop_front();
      if (!offers_[to].empty())
        receivers_.push_back(to);
    }
    for (Vertex send : taken) {
      uint32_t from = index(graph_.model().rankOf(send));
      hasOffer_[from] = false;
      senders_.push_back(from);
      for (Vertex end : {send, graph_.partnerOf(send)}) {
        round_[index(end)] = numRounds_;
        happened_.push_back(finishOf(end));
      }
    }
    settle();
  }

  struct Ready {
    uint32_t since; ///< rounds that were over then
    Vertex send;
    bool operator>(const Ready &other) const {
      return std::pair(since, send) > std::pair(other.since, other.send);
    }
  };

  const EventGraph &graph_;
  std::vector<uint32_t> waits_; // per event: predecessors that have not happened yet
  std::vector<uint32_t> round_;
  uint32_t numRounds_ = 0;
  std::vector<Event> happened_; // events whose successors do not know yet
  std::vector<std::priority_queue<Ready, std::vector<Ready>, std::greater<>>> ready_; // per sender
  std::vector<bool> hasOffer_;                                                        // per sender
  std::vector<uint32_t> senders_;          // ranks that may have something new to offer
  std::vector<std::deque<Vertex>> offers_; // per receiver, the oldest first
  std::vector<uint32_t> receivers_;        // with offers
};

} // namespace

std::vector<uint32_t> portRounds(const EventGraph &graph) { return OnePort(graph).run(); }

} // namespace colldsl::proof

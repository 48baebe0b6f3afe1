/// The order of events: each op has a start and a finish, and edges say which event comes before
/// which. The edges are not stored: they follow from the deps, the partners of messages, and the
/// order within channels.
///
/// Under all rules:
///   start(op)      -> finish(op)
///   finish(a)      -> start(b)        b requires a
///   start(a)       -> start(b)        b irequires a
///   start(send)    -> finish(recv)    of one message
/// These are happens-before. In addition:
///   SynchronousSends   start(recv) -> finish(send)
///   FiniteChannels     for the k-th message of each (from, to), in the sender's program order,
///                      and a channel of `slots` slots:
///                      start(send k)  -> start(send k+1)      the channel is filled in order
///                      finish(recv k) -> finish(recv k+1)     and emptied in order
///                      finish(recv k) -> start(send k+slots)  a slot is used again once empty
#pragma once

#include "ir/PagedArray.h"
#include "verifier/Matching.h"

namespace colldsl::proof {

enum class Event : uint32_t {};
constexpr uint32_t index(Event e) { return static_cast<uint32_t>(e); }
constexpr Event startOf(Vertex v) { return Event{2 * index(v)}; }
constexpr Event finishOf(Vertex v) { return Event{2 * index(v) + 1}; }
constexpr Vertex vertexOf(Event e) { return Vertex{index(e) / 2}; }
constexpr bool isStart(Event e) { return index(e) % 2 == 0; }

enum class Rules : uint8_t {
  HappensBefore,
  SynchronousSends,
  FiniteChannels,
  Both, ///< the union of the last two: without a cycle here there is none in either
};
constexpr bool areSynchronous(Rules rules) {
  return rules == Rules::SynchronousSends || rules == Rules::Both;
}
constexpr bool areFinite(Rules rules) {
  return rules == Rules::FiniteChannels || rules == Rules::Both;
}

/// Borrows the model.
class EventGraph {
public:
  /// channelSlots 0: channels without limit.
  EventGraph(const Model &model, const Messages &messages, uint32_t channelSlots);

  const Model &model() const { return model_; }
  uint32_t numEvents() const { return 2 * model_.numVertices(); }
  bool sends(Vertex v) const { return traits_[index(v)] & kSends; }
  Vertex partnerOf(Vertex v) const { return links_[index(v)].partner; }
  /// True if the receive writes its first byte only after its send has started: it has a send and
  /// no canary. A canary is written when the receive is posted.
  bool writesWhatCame(Vertex recv) const {
    return !sends(recv) && exists(partnerOf(recv)) && !model_.op(recv).transfer.canary;
  }
  /// The next send (receive) after a send (receive) in its channel, or kNoVertex.
  Vertex nextInChannel(Vertex v) const { return links_[index(v)].next; }
  /// The send that uses the slot of this receive's message again, or kNoVertex.
  Vertex slotUser(Vertex recv) const { return links_[index(recv)].slotUser; }

  /// Calls visit(Event) for each event that waits for `e`.
  template <typename Visit> void forEachSuccessor(Event e, Rules rules, Visit visit) const {
    Vertex v = vertexOf(e);
    DepKind kind = isStart(e) ? DepKind::IRequires : DepKind::Requires;
    uint32_t end = links_[index(v) + 1].dependentsBegin;
    for (uint32_t i = links_[index(v)].dependentsBegin; i < end; ++i)
      if (dependents_[i].kind == kind)
        visit(startOf(dependents_[i].vertex));
    if (isStart(e))
      visit(finishOf(v));
    if (exists(partnerOf(v)))
      forEachInMessage(e, rules, visit);
  }

  /// The number of times that forEachSuccessor() visits `e`.
  uint32_t numPredecessors(Event e, Rules rules) const {
    Vertex v = vertexOf(e);
    uint8_t traits = traits_[index(v)];
    bool isInMessage = exists(partnerOf(v)), isLimited = areFinite(rules);
    if (isStart(e)) {
      uint32_t deps = model_.op(v).depCount;
      return isLimited ? deps + (sends(v) && traits & kHasPrevious) + !!(traits & kNeedsSlot)
                       : deps;
    }
    bool waitsForStart = isInMessage && (!sends(v) || areSynchronous(rules));
    return 1 + waitsForStart + (isLimited && !sends(v) && traits & kHasPrevious);
  }

  /// Calls visit(Event) for each event that `e` waits for under HappensBefore.
  template <typename Visit> void forEachPredecessor(Event e, Visit visit) const {
    Vertex v = vertexOf(e);
    if (isStart(e))
      return forEachDep(v, visit);
    visit(startOf(v));
    if (exists(partnerOf(v)) && !sends(v))
      visit(startOf(partnerOf(v)));
  }

  /// The part of forEachPredecessor that stays on the rank.
  template <typename Visit> void forEachLocalPredecessor(Event e, Visit visit) const {
    if (isStart(e))
      forEachDep(vertexOf(e), visit);
    else
      visit(startOf(vertexOf(e)));
  }

private:
  enum Trait : uint8_t {
    kSends = 1,
    kHasPrevious = 2, ///< in its channel
    kNeedsSlot = 4,   ///< is the slotUser() of a receive
  };

  struct Dependent {
    Vertex vertex;
    DepKind kind;
  };
  struct Links {
    uint32_t dependentsBegin; ///< into dependents_
    Vertex partner;
    Vertex next;     ///< see nextInChannel()
    Vertex slotUser; ///< see slotUser()
  };

  template <typename Visit> void forEachDep(Vertex v, Visit visit) const {
    Rank rank = model_.rankOf(v);
    for (const Dep &dep : model_.dag(rank).depsOf(model_.op(v))) {
      Vertex older = model_.vertex(rank, dep.op);
      visit(dep.kind == DepKind::Requires ? finishOf(older) : startOf(older));
    }
  }

  template <typename Visit> void forEachInMessage(Event e, Rules rules, Visit visit) const {
    Vertex v = vertexOf(e);
    if (isStart(e) && (sends(v) || areSynchronous(rules)))
      visit(finishOf(partnerOf(v)));
    if (!areFinite(rules) || isStart(e) != sends(v))
      return;
    if (Vertex next = nextInChannel(v); exists(next))
      visit(sends(v) ? startOf(next) : finishOf(next));
    if (Vertex user = slotUser(v); exists(user))
      visit(startOf(user));
  }

  void collectDependents();
  void collectChannels(uint32_t slots);
  void linkChannel(std::span<const Vertex> channel, uint32_t slots);

  const Model &model_;
  PagedArray<uint8_t> traits_; // per vertex
  PagedArray<Links> links_;    // per vertex, and one more
  PagedArray<Dependent> dependents_;
};

/// The events, each after all that it waits for. Events of cycles, and events that wait for them,
/// are missing.
PagedArray<Event> topologicalOrder(const EventGraph &graph, Rules rules);

} // namespace colldsl::proof
